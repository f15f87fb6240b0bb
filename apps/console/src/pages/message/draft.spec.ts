import { describe, expect, it } from 'vitest';
import type { Letter } from '../../api/types';
import { draftOf, editOf, headerChanges, isJsonBody, problemsOf } from './draft';

const letter = {
  payload: '{"id":90071992547409931234}',
  payload_encoding: 'string',
  payload_truncated: false,
  properties: {},
  headers: {
    tenant: { type: 'signedint', value: 7 },
    big: { type: 'long', value: '9223372036854775807' },
    'x-death': { type: 'array', value: [] },
    'dlx-error-class': { type: 'longstr', value: 'E' },
  },
} as unknown as Letter;

describe('properties of a draft', () => {
  const typed = { ...letter, properties: { content_type: 'text/plain', priority: 3, message_id: '' } } as Letter;
  const changed = (properties: Record<string, string>) => {
    const draft = draftOf(typed);
    return { ...draft, properties: { ...draft.properties, ...properties } };
  };

  it('that change are sent, those that are emptied are removed, and all others stay', () => {
    expect(editOf(changed({}), typed)).toEqual({});
    expect(editOf(changed({ content_type: '', priority: '9', timestamp: '18446744073709551615' }), typed)).toEqual({
      properties: { content_type: null, priority: 9, timestamp: '18446744073709551615' },
    });
    expect(editOf(changed({ expiration: '60000' }), typed)).toEqual({ properties: { expiration: '60000' } });
  });

  it.each([
    ['priority', '256', 'a whole number from 0 to 255'],
    ['delivery_mode', 'x', 'a whole number from 1 to 2'],
    ['app_id', 'ä'.repeat(128), 'longer than 255 bytes'],
  ])('are checked: %s', (name, text, problem) => {
    const draft = changed({ [name]: text });
    expect([...problemsOf(draft, typed).properties]).toEqual([[name, problem]]);
  });
});

describe('a draft', () => {
  it('changes nothing before it is changed', () => {
    const draft = draftOf(letter);
    expect(draft.headers.map(({ name, type, text }) => [name, type, text])).toEqual([
      ['tenant', 'signedint', '7'],
      ['big', 'long', '9223372036854775807'],
    ]);
    expect(editOf(draft, letter)).toEqual({});
    expect(problemsOf(draft, letter)).toEqual({ headers: new Map(), properties: new Map() });
  });

  it('sends a changed body as it was typed, with all digits', () => {
    const body = '{"id":90071992547409931235}';
    expect(editOf({ ...draftOf(letter), body }, letter)).toEqual({ payload: body });
  });

  it('gives JSON on one line line breaks for the editor only', () => {
    const draft = draftOf(letter);
    expect(draft.body).toBe('{\n  "id": 90071992547409931234\n}');
    const body = draft.body!.replace('34\n', '35,\n  "a": [1, 2]\n');
    expect(editOf({ ...draft, body }, letter)).toEqual({ payload: '{"id":90071992547409931235,"a":[1,2]}' });
    const spaced = { ...letter, payload: '{ "a": 1 }' };
    expect(editOf(draftOf(spaced), spaced)).toEqual({});
    const lines = { ...letter, payload: '{\n"a": 1\n}' };
    expect(draftOf(lines).body).toBe(lines.payload);
  });

  it('sends all headers when one differs', () => {
    const draft = draftOf(letter);
    const [tenant, ...rest] = draft.headers;
    const added = { key: 9, name: '__proto__', type: 'longstr', text: 'x' };
    const edit = editOf({ ...draft, headers: [{ ...tenant!, text: '8' }, ...rest, added] }, letter);
    expect(JSON.stringify(edit.headers)).toBe(
      '{"tenant":{"type":"signedint","value":8},"big":{"type":"long","value":"9223372036854775807"},"__proto__":{"type":"longstr","value":"x"}}',
    );
    expect(headerChanges(edit, letter).map(({ name }) => name)).toEqual(['tenant', '__proto__']);
    const removed = editOf({ ...draft, headers: rest }, letter);
    expect(headerChanges(removed, letter)).toEqual([
      { name: 'tenant', before: { type: 'signedint', value: 7 }, after: undefined },
    ]);
  });

  it('has to stay JSON, unless the user allows otherwise', () => {
    const draft = { ...draftOf(letter), body: '{"id":}' };
    expect(problemsOf(draft, letter).body).toBeTruthy();
    expect(problemsOf({ ...draft, allowsInvalid: true }, letter).body).toBeUndefined();
    expect(editOf({ ...draft, allowsInvalid: true }, letter)).toEqual({ payload: '{"id":}', allow_invalid: true });
    const text = { ...letter, payload: 'hello' };
    expect([isJsonBody(letter), isJsonBody(text)]).toEqual([true, false]);
    expect(problemsOf({ ...draftOf(text), body: '{' }, text).body).toBeUndefined();
  });

  it('names what is wrong with a header', () => {
    const header = (key: number, name: string, type: string, text: string) => ({ key, name, type, text });
    const draft = {
      ...draftOf(letter),
      headers: [
        header(1, 'a', 'bool', 'yes'),
        header(2, 'a', 'longstr', ''),
        header(3, 'x-death', 'longstr', ''),
        header(4, 'é'.repeat(128), 'longstr', ''),
      ],
    };
    expect([...problemsOf(draft, letter).headers]).toEqual([
      [1, 'bool is true or false'],
      [2, 'there is another header of this name'],
      [3, 'the broker writes headers of this name'],
      [4, 'the name is longer than 255 bytes'],
    ]);
  });

  it('leaves a body alone that is not text', () => {
    const binary = { ...letter, payload: 'AAEC', payload_encoding: 'base64' } as Letter;
    expect(draftOf(binary).body).toBeUndefined();
    expect(editOf(draftOf(binary), binary)).toEqual({});
  });
});
