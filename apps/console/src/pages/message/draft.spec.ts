import { describe, expect, it } from 'vitest';
import type { Letter } from '../../api/types';
import { draftOf, editOf, isJsonBody, isOfBroker, kindOf, problemsOf } from './draft';

const letter = (parts: Partial<Letter> = {}): Letter =>
  ({
    payload: '{"order":1}',
    payload_encoding: 'string',
    payload_truncated: false,
    headers: {
      tenant: { type: 'longstr', value: 'acme' },
      tries: { type: 'short', value: 3 },
      express: { type: 'bool', value: false },
      parts: { type: 'table', value: { a: { type: 'void', value: null } } },
      'x-death': { type: 'array', value: [] },
      'dlx-attempt': { type: 'signedint', value: 2 },
    },
    properties: {},
    ...parts,
  }) as Letter;

/** A draft whose headers have other texts. */
function changed(texts: Readonly<Record<string, string>>, of = letter()) {
  const draft = draftOf(of);
  return { ...draft, headers: draft.headers.map((row) => ({ ...row, text: texts[row.name] ?? row.text })) };
}

describe('a draft', () => {
  it('has the headers of the publisher, and changes nothing by itself', () => {
    const draft = draftOf(letter());
    expect(draft.headers.map((row) => [row.name, kindOf(row), row.text])).toEqual([
      ['tenant', 'text', 'acme'],
      ['tries', 'number', '3'],
      ['express', 'boolean', 'false'],
      ['parts', undefined, '{"a":{"type":"void","value":null}}'],
    ]);
    expect(problemsOf(draft, letter())).toEqual({ body: undefined, headers: new Map() });
    expect(editOf(draft, letter())).toEqual({});
  });

  it('sends what was changed, added and removed only', () => {
    const draft = changed({ tries: '4', express: 'true' });
    const added = { key: 9, name: 'mended', text: '1', before: undefined };
    const headers = [...draft.headers.filter(({ name }) => name !== 'parts'), added];
    expect(editOf({ body: '{}', headers }, letter())).toEqual({
      payload: '{}',
      headers: { parts: null, tries: 4, express: true, mended: '1' },
    });
  });

  it.each<[string, Readonly<Record<string, string>>, string]>([
    ['a number', { tries: 'x' }, 'a number, up to 2^53'],
    ['no number', { tries: ' ' }, 'a number, up to 2^53'],
    ['a number that a browser would round', { tries: '9007199254740993' }, 'a number, up to 2^53'],
    ['a boolean', { express: 'yes' }, 'true or false'],
  ])('says what a header should be: %s', (_, texts, problem) => {
    expect([...problemsOf(changed(texts), letter()).headers.values()]).toEqual([problem]);
  });

  it.each([
    ['tenant', 'there is another header of this name'],
    ['x-death', 'the broker writes headers of this name'],
    ['é'.repeat(128), 'the name is longer than 255 bytes'],
  ])('refuses a new header %s', (name, problem) => {
    const draft = draftOf(letter());
    const headers = [...draft.headers, { key: 9, name, text: '', before: undefined }];
    expect([...problemsOf({ ...draft, headers }, letter()).headers]).toEqual([[9, problem]]);
  });

  it.each<[string, Partial<Letter>, boolean]>([
    ['an object', {}, true],
    ['a list', { payload: ' [1]' }, true],
    [
      'text that its content type calls JSON',
      { payload: '"a"', properties: { content_type: 'application/json' } },
      true,
    ],
    ['a lone number', { payload: '42' }, false],
    ['a broken object', { payload: '{a}', properties: { content_type: 'application/json' } }, false],
    ['bytes', { payload_encoding: 'base64', payload: 'e30=' }, false],
    ['a body that cannot be read', { payload: null }, false],
  ])('keeps JSON as JSON: %s', (_, parts, isJson) => {
    const of = letter(parts);
    expect(isJsonBody(of)).toBe(isJson);
    expect(problemsOf({ body: '{"a":1,}', headers: [] }, of).body === undefined).toBe(!isJson);
  });

  it('leaves a body that is no text, or is not here whole', () => {
    const bodies = [{ payload_encoding: 'base64' }, { payload_truncated: true }, { payload: null }] as const;
    for (const parts of bodies) expect(draftOf(letter(parts)).body).toBeUndefined();
  });
});

it('knows headers of the broker by their names', () => {
  expect(['x-death', 'x-first-death-queue', 'dlx-error-class', 'CC'].every(isOfBroker)).toBe(true);
  expect(['x-trace', 'tenant', 'X-DEATH', 'x-death-2'].some(isOfBroker)).toBe(false);
});
