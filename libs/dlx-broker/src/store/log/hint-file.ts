import { crc32 } from './crc32.js';
import { recordHead, recordTypes, typeAt } from './record.js';
import { segmentName, segmentNumber } from './segment-header.js';
import type { Segment } from './segment.js';

/*
 * The hint of a segment: a file beside it with its records, but without the bodies of messages. From hints the store is
 * opened without reading all segments. Without its hint, a segment is read itself.
 */

/** First bytes of every hint. */
const magic = Buffer.from('DLXHINT\n', 'latin1');

/** The version of the format of hints. A hint of another version is not used. */
const hintVersion = 1;

/**
 * Bytes: magic (8), version (u16), 0 (u16), salt of the segment (u32), its number (u64), its length (u64), CRC of its last
 * record (u32), length of the digest (u32), CRC-32 of the digest (u32), CRC-32 of all before it (u32). All big-endian.
 */
const headerLength = 48;

/** The last record of a segment that is full is a commit. */
export const lastRecord = recordHead + 16;

const ending = '.hint';
const logEnding = '.log';

export const hintName = (number: number): string => segmentName(number).slice(0, -logEnding.length) + ending;

/** The number of the segment in the name of its hint, undefined for other files. */
export const hintNumber = (name: string): number | undefined =>
  name.endsWith(ending) ? segmentNumber(name.slice(0, -ending.length) + logEnding) : undefined;

/** What ties a hint to the content of its segment. */
export interface Sealed {
  readonly salt: number;
  readonly number: number;
  /** Bytes of the segment. */
  readonly end: number;
  /** The CRC of its last record: other bytes of the same length have another one. */
  readonly seal: number;
}

export function writeHintHeader({ salt, number, end, seal }: Sealed, digest: Buffer): Buffer {
  const header = Buffer.alloc(headerLength);
  magic.copy(header);
  header.writeUInt16BE(hintVersion, 8);
  header.writeUInt32BE(salt, 12);
  header.writeBigUInt64BE(BigInt(number), 16);
  header.writeBigUInt64BE(BigInt(end), 24);
  header.writeUInt32BE(seal, 32);
  header.writeUInt32BE(digest.length, 36);
  header.writeUInt32BE(crc32(digest, 0, digest.length, salt), 40);
  header.writeUInt32BE(crc32(header, 0, 44, 0), 44);
  return header;
}

/** @returns the digest in a hint; undefined when its bytes are not what was written, or when it is of another version */
export function digestIn(hint: Buffer): (Sealed & { readonly digest: Buffer }) | undefined {
  if (hint.length < headerLength || !hint.subarray(0, magic.length).equals(magic)) return undefined;
  if (crc32(hint, 0, 44, 0) !== hint.readUInt32BE(44) || hint.readUInt16BE(8) !== hintVersion) return undefined;
  const salt = hint.readUInt32BE(12);
  const digest = hint.subarray(headerLength);
  if (digest.length !== hint.readUInt32BE(36)) return undefined;
  if (crc32(digest, 0, digest.length, salt) !== hint.readUInt32BE(40)) return undefined;
  const [number, end] = [Number(hint.readBigUInt64BE(16)), Number(hint.readBigUInt64BE(24))];
  return { salt, number, end, seal: hint.readUInt32BE(32), digest };
}

/**
 * The seal of a segment.
 * @param last its last bytes, as many as {@link lastRecord} has
 * @returns undefined when they are no commit
 */
export function sealIn(last: Buffer, { salt }: Pick<Segment, 'salt'>): number | undefined {
  if (last.length !== lastRecord || last[typeAt] !== recordTypes.commit) return undefined;
  const crc = last.readUInt32BE(4);
  return last.readUInt32BE(0) === lastRecord - typeAt && crc32(last, typeAt, lastRecord, salt) === crc
    ? crc
    : undefined;
}
