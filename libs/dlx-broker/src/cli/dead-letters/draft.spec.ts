import { describe, expect, it } from 'vitest';
import { changesOf, draftOf, draftText, readDraft, type TypedHeader, withHeaders } from './draft.js';

const longstr = (value: string) => ({ type: 'longstr', value });
const message = {
  headers: JSON.parse(
    '{"tenant":{"type":"longstr","value":"acme"},"n":{"type":"long","value":"9007199254740993"},"__proto__":{"type":"bool","value":true},"x-death":{"type":"array","value":[]},"dlx-error-class":{"type":"longstr","value":"E"}}',
  ) as Record<string, { type: string; value: unknown }>,
  payload: '{"id":12345678901234567890,"items":[1]}',
  payload_encoding: 'string',
};

describe('a draft', () => {
  it('comes back from the editor as it was, and is then no change', () => {
    const draft = readDraft(`# a comment\n# another\n\n${draftText(draftOf(message))}`);
    expect(draft).toEqual(draftOf(message));
    expect([...draft.headers.keys()]).toEqual(['tenant', 'n', '__proto__']);
    expect(changesOf(message, draft)).toBeUndefined();
  });

  it.each(['', 'text', 'ends with a line\n', '\n\n', '--- body ---\n# no comment'])('keeps the body %j', (payload) => {
    const other = { ...message, payload };
    expect(changesOf(other, readDraft(draftText(draftOf(other))))).toBeUndefined();
  });

  it('sends a changed body without the white space of the editor, with all its digits', () => {
    const draft = { ...draftOf(message), body: '{\n  "id": 12345678901234567891,\n  "items": []\n}' };
    expect(changesOf(message, draft)).toEqual({
      payload: '{"id":12345678901234567891,"items":[]}',
      payload_encoding: 'string',
    });
  });

  it('sends what is no JSON any more as it is, for the server to refuse', () => {
    expect(changesOf(message, { ...draftOf(message), body: '{"id": }' })).toMatchObject({ payload: '{"id": }' });
  });

  it('sends bytes as base64', () => {
    const bytes = { ...message, payload: '/wA=', payload_encoding: 'base64' };
    expect(draftOf(bytes).body).toBe('/wA=');
    expect(changesOf(bytes, { ...draftOf(bytes), body: '/w\nE=' })).toEqual({
      payload: '/wE=',
      payload_encoding: 'base64',
    });
  });

  it('sends all headers when one changes, also those that it does not show', () => {
    const draft = draftOf(message);
    const changes = changesOf(message, { ...draft, headers: new Map(draft.headers).set('tenant', longstr('globex')) });
    expect(Object.entries(changes?.['headers'] as object)).toEqual([
      ['x-death', { type: 'array', value: [] }],
      ['dlx-error-class', longstr('E')],
      ['tenant', longstr('globex')],
      ['n', { type: 'long', value: '9007199254740993' }],
      ['__proto__', { type: 'bool', value: true }],
    ]);
  });

  it.each([
    ['{}\n', "the line '--- body ---' is missing"],
    ['{"a": }\n--- body ---\n', 'the headers are no JSON'],
    ['[]\n--- body ---\n', 'the headers are no object'],
  ])('refuses %j', (text, why) => {
    expect(() => readDraft(text)).toThrow(why);
  });
});

describe('headers by options', () => {
  const headers = new Map<string, TypedHeader>([
    ['n', { type: 'signedint', value: 1 }],
    ['on', { type: 'bool', value: false }],
    ['old', longstr('x')],
  ]);

  it('keep their types; new ones are strings', () => {
    expect(Object.fromEntries(withHeaders(headers, ['n=2', 'on=true', 'new=a=b'], ['old']))).toEqual({
      n: { type: 'signedint', value: 2 },
      on: { type: 'bool', value: true },
      new: longstr('a=b'),
    });
  });

  it.each([
    [['none'], [], '--header must be NAME=VALUE'],
    [['=x'], [], '--header must be NAME=VALUE'],
    [['n=two'], [], "header 'n' is of type signedint, and 'two' is no value of it"],
    [[], ['gone'], "there is no header 'gone' to remove"],
  ])('refuse %j and %j', (set, removed, why) => {
    expect(() => withHeaders(headers, set, removed)).toThrow(why);
  });
});
