import * as zlib from 'node:zlib';

/** From this many bytes on, a call of the library is faster than the loop. */
const minForLibrary = 48;

const table = new Uint32Array(256).map((_, index) => {
  let crc = index;
  for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 0 ? crc >>> 1 : (crc >>> 1) ^ 0xedb88320;
  return crc >>> 0;
});

/** Undefined before Node 20.15. */
const native: ((bytes: Uint8Array, seed: number) => number) | undefined = zlib.crc32;

/** The CRC-32 of a part of the bytes, as zlib computes it. @param seed the CRC of the bytes before, or a salt */
export function crc32(bytes: Uint8Array, start: number, end: number, seed: number): number {
  if (end - start >= minForLibrary && native !== undefined) {
    return native(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end), seed);
  }
  let crc = ~seed;
  for (let at = start; at < end; at++) crc = (crc >>> 8) ^ (table[(crc ^ (bytes[at] as number)) & 0xff] as number);
  return ~crc >>> 0;
}
