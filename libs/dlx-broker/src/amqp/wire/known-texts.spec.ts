import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ByteReader, encodeText, Malformed } from '../../engine/message/index.js';
import { KnownTexts } from './method-reader.js';

const reader = (bytes: Uint8Array): ByteReader => new ByteReader(Buffer.concat([Buffer.of(bytes.length), bytes]));

it('reads short strings as a reader does, in any order and of any bytes', () => {
  const bytes = fc.oneof(
    fc.constantFrom('', 'c1', 'c2', 'dlx.events', 'dlx.eventt', 'é', 'x'.repeat(65)).map(encodeText),
    fc.uint8Array({ maxLength: 3 }),
    fc.uint8Array({ maxLength: 255 }),
  );
  fc.assert(
    fc.property(fc.array(bytes, { maxLength: 60 }), (all) => {
      const known = new KnownTexts();
      for (const each of all) {
        const from = reader(each);
        expect(known.read(from)).toBe(reader(each).shortstr());
        from.finish();
      }
    }),
    { numRuns: 2_000 },
  );
});

it('gives a text that it knows without making another one', () => {
  const known = new KnownTexts();
  known.read(reader(Buffer.from('orders')));
  const from = reader(Buffer.from('orders'));
  from.bytes.toString = () => 'made again';
  expect(known.read(from)).toBe('orders');
});

it('refuses a text that is cut off', () => {
  expect(() => new KnownTexts().read(new ByteReader(Buffer.of(3, 65, 66)))).toThrow(Malformed);
});
