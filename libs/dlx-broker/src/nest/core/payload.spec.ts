import { describe, expect, it } from 'vitest';
import { UndecodablePayloadError } from '../../platform/history/index.js';
import { Message, type Properties } from '../../engine/message/index.js';
import { decodePayload, encodePayload } from './payload.js';

const message = (body: string | Uint8Array, properties: Properties = {}): Message =>
  new Message('', 'key', properties, typeof body === 'string' ? Buffer.from(body) : body);

describe('a payload', () => {
  it.each([[{ id: 1 }], ['text'], [0], [false], [null], [[1, 'two']]])('%j comes back as it was', (data) => {
    const { contentType, body } = encodePayload(data);
    expect(contentType).toBe('application/json');
    expect(decodePayload(message(body, { contentType }))).toEqual(data);
  });

  it('of bytes travels as it is', () => {
    const { contentType, body } = encodePayload(new Uint8Array([0, 255, 7]));
    expect(contentType).toBe('application/octet-stream');
    expect(decodePayload(message(body, { contentType }))).toEqual(Buffer.from([0, 255, 7]));
  });

  it('of nothing is an empty body', () => {
    expect(encodePayload(undefined).body).toHaveLength(0);
    expect(decodePayload(message(''))).toBeUndefined();
  });

  it('is the data alone, without an envelope', () => {
    expect(Buffer.from(encodePayload({ id: 1 }).body).toString()).toBe('{"id":1}');
  });
});

describe('a body of another client', () => {
  it('without a content type is JSON', () => expect(decodePayload(message('{"a":1}'))).toEqual({ a: 1 }));

  it.each(['application/json; charset=utf-8', 'application/vnd.api+json', 'APPLICATION/JSON'])(
    'of type %s is JSON',
    (contentType) => expect(decodePayload(message('[1]', { contentType }))).toEqual([1]),
  );

  it('of text is a text', () => expect(decodePayload(message('hi', { contentType: 'text/plain' }))).toBe('hi'));

  it('of an unknown type, or compressed, is bytes', () => {
    expect(decodePayload(message('x', { contentType: 'image/png' }))).toEqual(Buffer.from('x'));
    const packed = { contentType: 'application/json', contentEncoding: 'gzip' };
    expect(decodePayload(message('x', packed))).toEqual(Buffer.from('x'));
  });

  it.each([{ contentType: 'application/json' }, {}])('that is no JSON is refused with the reason: %j', (properties) => {
    expect(() => decodePayload(message('{oops', properties))).toThrow(UndecodablePayloadError);
    expect(() => decodePayload(message('{oops', properties))).toThrow(/is no JSON/);
  });
});

it('shares no page with all small buffers of Node, which a kept body would keep', () => {
  expect(encodePayload({ id: 1 }).body.buffer.byteLength).toBe(1_024);
});
