import { expect, it } from 'vitest';
import { BytePages } from './kept-bytes.js';

it('small bodies share a page with others of their size, whatever comes between them', () => {
  const pages = new BytePages();
  const bodies: Buffer[] = [];
  for (let count = 0; count < 64; count++) {
    bodies.push(pages.take(16).fill(count));
    for (const size of [100, 900, 4_000]) pages.take(size).fill(255);
  }
  expect(new Set(bodies.map(({ buffer }) => buffer)).size).toBe(1);
  expect(bodies[0]?.buffer.byteLength).toBe(1_024);
  expect(bodies.every((body, count) => body.equals(Buffer.alloc(16, count)))).toBe(true);
});

it.each([1, 64, 65, 256, 257, 660, 661, 1_024, 1_025, 4_095, 4_096, 4_097, 100_000])(
  'a body of %i bytes keeps at most ten times what counts',
  (size) => {
    const pages = new BytePages();
    for (let count = 0; count < 100; count++) {
      const body = pages.take(size);
      expect(body).toHaveLength(size);
      // The store counts 160 bytes for a message besides its body.
      expect(body.buffer.byteLength).toBeLessThanOrEqual(10 * (size + 160));
      expect(pages.text('x'.repeat(size)).buffer.byteLength).toBeLessThanOrEqual(10 * (size + 160));
    }
  },
);

it('texts are whole and do not overlap, also where a page ends', () => {
  const pages = new BytePages();
  const texts = Array.from({ length: 2_000 }, (_, count) => 'aß€😀\ud800'.repeat(count % 90).slice(count % 7));
  const bodies = texts.map((text) => pages.text(text));
  expect(bodies.map(String)).toEqual(texts.map((text) => Buffer.from(text).toString()));
});
