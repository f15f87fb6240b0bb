import { describe, expect, it } from 'vitest';
import { decodePayload as decodeForHandler } from '../../nest/core/payload.js';
import { Letter } from '../../nest/streams/index.js';
import { Message, type Properties } from '../../engine/message/index.js';

const bytes = (text: string) => Buffer.from(text);
const message = (properties: Properties, body: Uint8Array): Message => new Message('', 'key', properties, body);

/** What a handler or a client gets, and what the payload of a letter in a stream is. Errors stand for themselves. */
const roads = {
  handler(message: Message): unknown {
    try {
      return decodeForHandler(message);
    } catch (error) {
      return error;
    }
  },
  stream: (message: Message): unknown => new Letter(message, 'q').payload,
};

const json = 'application/json';
const failed = (text: string) =>
  expect.objectContaining({
    name: 'UndecodablePayloadError',
    message: expect.stringContaining(text) as string,
  }) as unknown;

const table: readonly (readonly [string, Properties, Uint8Array, unknown])[] = [
  ['JSON', { contentType: json }, bytes('{"a":[1]}'), { a: [1] }],
  ['JSON without a content type', {}, bytes('{}'), {}],
  ['JSON with an empty content type', { contentType: '' }, bytes('1'), 1],
  ['JSON with a character set', { contentType: 'application/json; charset=utf-8' }, bytes('"é"'), 'é'],
  [
    'JSON in another character set',
    { contentType: 'application/json; charset="utf-16le"' },
    Buffer.from('"é"', 'utf16le'),
    'é',
  ],
  ['JSON of a vendor', { contentType: 'Application/Vnd.API+JSON' }, bytes('[1]'), [1]],
  ['JSON after a byte order mark', { contentType: json }, bytes('\ufeff{}'), {}],
  ['JSON with U+FFFD in it', { contentType: json }, bytes('"\ufffd"'), '\ufffd'],
  ['JSON with the encoding UTF-8', { contentType: json, contentEncoding: 'UTF8' }, bytes('{}'), {}],
  ['no JSON', { contentType: json }, bytes('{oops'), failed('is no JSON')],
  ['no JSON without a content type', {}, bytes('x'), failed('is no JSON')],
  ['JSON that is no UTF-8', { contentType: json }, Buffer.of(0x22, 0xff, 0x22), failed('is not encoded in utf-8')],
  ['an empty body', {}, bytes(''), undefined],
  ['empty JSON', { contentType: json }, bytes(''), undefined],
  ['text', { contentType: 'text/plain' }, bytes('hi'), 'hi'],
  ['text in Latin 1', { contentType: 'text/plain; charset=iso-8859-1' }, Buffer.of(0xe9), 'é'],
  ['text that is no UTF-8', { contentType: 'text/plain' }, Buffer.of(0xff), failed('is not encoded in utf-8')],
  ['text in no known character set', { contentType: 'text/plain; charset=klingon' }, bytes('x'), failed('klingon')],
  ['empty text', { contentType: 'text/plain' }, bytes(''), ''],
  ['bytes', { contentType: 'application/octet-stream' }, bytes('x'), bytes('x')],
  ['an image', { contentType: 'image/png' }, bytes('x'), bytes('x')],
  ['no bytes', { contentType: 'application/octet-stream' }, bytes(''), bytes('')],
  ['an empty image', { contentType: 'image/png' }, bytes(''), bytes('')],
  ['a compressed image', { contentType: 'image/png', contentEncoding: 'gzip' }, bytes('x'), bytes('x')],
];

describe.each(Object.entries(roads))('a %s', (_, payloadOf) => {
  it.each(table)('reads %s', (_, properties, body, payload) => {
    expect(payloadOf(message(properties, body))).toEqual(payload);
  });
});

describe('compressed JSON', () => {
  const packed = message({ contentType: json, contentEncoding: 'gzip' }, bytes('xyz'));

  it('is bytes for a handler, which may uncompress it', () => {
    expect(roads.handler(packed)).toEqual(bytes('xyz'));
  });

  it('is not decoded in a stream', () => {
    expect(roads.stream(packed)).toEqual(failed("content encoding is 'gzip'"));
    expect(roads.stream(packed)).toMatchObject({ body: bytes('xyz') });
  });
});

describe('the error of a payload that is no JSON', () => {
  it.each(['4111-card', '{"card":4111', '["4111"', '{4111}', '4111 1', '"4111', '{"a":"4111\n"}', '`4111`', "'4111'"])(
    'shows nothing of it: %s',
    (text) => {
      const error = roads.stream(message({}, bytes(text)));
      expect(error).toMatchObject({ name: 'UndecodablePayloadError' });
      expect((error as Error).message).toContain('it is no JSON');
      expect((error as Error).message).not.toContain('4111');
    },
  );
});
