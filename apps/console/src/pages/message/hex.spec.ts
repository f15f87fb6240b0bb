import { expect, it } from 'vitest';
import { bytesOfBase64, hexRows } from './hex';

it('shows 16 bytes a line with their offset and characters', () => {
  const bytes = Uint8Array.from([...new TextEncoder().encode('{"a":1}\n'), 0, 255, 127, 128, 65, 66, 67, 68, 69]);
  expect(hexRows(bytes, 10)).toEqual([
    { offset: '000000', hex: '7b 22 61 22 3a 31 7d 0a  00 ff 7f 80 41 42 43 44', text: '{"a":1}·····ABCD' },
    { offset: '000010', hex: '45', text: 'E' },
  ]);
  expect(hexRows(new Uint8Array(1_000), 3)).toHaveLength(3);
  expect(hexRows(new Uint8Array(0), 3)).toEqual([]);
});

it('reads base64', () => {
  expect([...bytesOfBase64('AAEC/w==')]).toEqual([0, 1, 2, 255]);
});
