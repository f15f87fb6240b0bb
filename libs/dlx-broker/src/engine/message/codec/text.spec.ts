import { describe, expect, it } from 'vitest';
import { decodeText, encodeText, isUtf8 } from './text.js';

const roundTrip = (bytes: Buffer): Buffer => encodeText(decodeText(bytes, 0, bytes.length));

describe('a text from the wire', () => {
  it.each(['', 'plain', 'é', '🐇 and more', 'really \ufffd'])('is what it says: %j', (text) => {
    const bytes = Buffer.from(text);
    expect(decodeText(bytes, 0, bytes.length)).toBe(text);
    expect(roundTrip(bytes)).toEqual(bytes);
    expect(isUtf8(decodeText(bytes, 0, bytes.length))).toBe(true);
  });

  it('comes back byte for byte when it is no text at all', () => {
    const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    expect(roundTrip(all)).toEqual(all);
    expect(isUtf8(decodeText(all, 0, all.length))).toBe(false);
    for (const bytes of [[0xc3], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x90], [0x61, 0xff, 0xc3, 0xa9]]) {
      expect(roundTrip(Buffer.from(bytes))).toEqual(Buffer.from(bytes));
    }
  });
});
