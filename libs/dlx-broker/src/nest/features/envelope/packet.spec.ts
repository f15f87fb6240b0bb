import 'reflect-metadata';
import { describe, expect, it } from 'vitest';
import { encodePacket, looksLikePacket, packetOf, replyOf } from './packet.js';

const written = (...packet: Parameters<typeof encodePacket>): string =>
  Buffer.from(encodePacket(...packet).body).toString();

describe('a packet', () => {
  it.each([
    [
      { pattern: 'a', data: 1 },
      { pattern: 'a', data: 1 },
    ],
    [
      { pattern: 'a', data: null, id: 'x' },
      { pattern: 'a', data: null, id: 'x' },
    ],
    [{ pattern: 7 }, { pattern: '7', data: undefined }],
    [{ pattern: { cmd: 'x', at: { b: 1, a: 2 } }, data: 1 }, { pattern: '{"at":{"a":2,"b":1},"cmd":"x"}' }],
    [{ pattern: '{"cmd":"x","at":1}', data: 1 }, { pattern: '{"at":1,"cmd":"x"}' }],
    [{ pattern: '{oops', data: 1 }, { pattern: '{oops' }],
    [
      { pattern: 'a', data: 1, more: 2 },
      { pattern: 'a', data: 1 },
    ],
  ])('is %j', (payload, packet) => expect(packetOf(payload)).toMatchObject(packet));

  it.each([[{ data: 1 }], [{ pattern: null, data: 1 }], [{ pattern: true }], [['pattern']], ['pattern'], [null], [7]])(
    'is not %j',
    (payload) => expect(packetOf(payload)).toBeUndefined(),
  );

  it('whose pattern is nested deeply has one that no handler has', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`) as object;
    expect(packetOf({ pattern: deep, data: 1 })?.pattern).toContain('[MAX_DEPTH_REACHED]');
  });

  it('is not forged by a prototype', () => {
    expect(packetOf(JSON.parse('{"__proto__":{"pattern":"a","data":1}}'))).toBeUndefined();
  });

  it('is written as Nest writes it: without what is undefined', () => {
    expect(written('a', [1], undefined, 'id')).toBe('{"pattern":"a","data":[1],"id":"id"}');
    expect(written({ cmd: 'a' }, 1, { trace: 't' }, undefined)).toBe(
      '{"pattern":{"cmd":"a"},"data":1,"metadata":{"trace":"t"}}',
    );
  });
});

it.each([
  [{ pattern: 'a', data: 1 }, true],
  [{ pattern: { cmd: 'a' }, data: null, id: 'x' }, true],
  [{ pattern: 'a' }, false],
  [{ pattern: 'a', data: 1, size: 3 }, false],
  [{ pattern: 'a', data: 1, id: 3 }, false],
  [[], false],
  [null, false],
])('%j looks like a packet: %s', (payload, looks) => expect(looksLikePacket(payload)).toBe(looks));

it.each([
  [{ response: 1 }, { response: 1, isDisposed: false }],
  [
    { response: 1, isDisposed: true },
    { response: 1, isDisposed: true },
  ],
  [{ isDisposed: true }, { isDisposed: true }],
  [
    { id: 'x', err: 'none', status: 'error' },
    { err: 'none', isDisposed: true },
  ],
  [
    { response: 1, more: 2 },
    { response: { response: 1, more: 2 }, isDisposed: true },
  ],
  [{}, { response: {}, isDisposed: true }],
  [[1], { response: [1], isDisposed: true }],
  [undefined, { isDisposed: true }],
])('a reply %j is read as Nest reads it', (payload, reply) => expect(replyOf(payload)).toMatchObject(reply));

it('shares no page with all small buffers of Node, which a kept body would keep', () => {
  expect(encodePacket('order.created', { id: 1 }, undefined, undefined).body.buffer.byteLength).toBeLessThan(4_096);
});
