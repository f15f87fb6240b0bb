import { expect, it } from 'vitest';
import { Digest } from './digest.js';
import { recordHead, typeAt } from './segment-header.js';

/** A record of a type that a digest takes as it is. */
function record(length: number): Buffer {
  const bytes = Buffer.alloc(recordHead + length);
  bytes[typeAt] = 0x0f;
  return bytes;
}

it('a digest that grows beyond its limit is given up, and keeps no buffer', () => {
  const digest = new Digest(10_000);
  const one = record(1_000);
  let at = 0;
  for (; digest.isWhole && digest.bytes.length < 9_000; at += one.length) digest.add(one, 0, at, one.length);
  expect([digest.isWhole, digest.bytes.buffer.byteLength >= 9_000]).toEqual([true, true]);
  for (let more = 0; more < 3; more++, at += one.length) digest.add(one, 0, at, one.length);
  expect([digest.isWhole, digest.bytes.length]).toEqual([false, 0]);
  expect(digest.bytes.buffer.byteLength).toBeLessThanOrEqual(8_192);
});
