import { crc32 } from './crc32.js';
import { foreignFile, newerFormat } from './faults.js';

/** First bytes of every segment. */
const magic = Buffer.from('DLXLOG\r\n', 'latin1');

/** Of what stands in it; it changes when an older program would read it wrongly. */
export const formatVersion = 1;

/** Bytes: magic (8), version (u16), 0 (u16), salt (u32), number (u64), CRC-32 of all before it (u32). All big-endian. */
export const headerLength = 28;

export interface SegmentHeader {
  /** Segments are numbered from 1, in the order in which they were written. */
  readonly number: number;
  /** The seed of each CRC in it. */
  readonly salt: number;
}

export const segmentName = (number: number): string => `${String(number).padStart(10, '0')}.log`;

/** The number in a segment's name, undefined for other files. */
export function segmentNumber(name: string): number | undefined {
  const digits = /^(\d{10,15})\.log$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

export function writeHeader({ number, salt }: SegmentHeader): Buffer {
  const bytes = Buffer.alloc(headerLength);
  magic.copy(bytes);
  bytes.writeUInt16BE(formatVersion, 8);
  bytes.writeUInt32BE(salt, 12);
  bytes.writeBigUInt64BE(BigInt(number), 16);
  bytes.writeUInt32BE(crc32(bytes, 0, 24, 0), 24);
  return bytes;
}

/**
 * @returns undefined when it is damaged, or was not written to its end
 * @throws StoreError when it is no segment, or one of a newer program
 */
export function readHeader(bytes: Buffer, name: string): SegmentHeader | undefined {
  if (bytes.length < headerLength) return undefined;
  const isIntact = crc32(bytes, 0, 24, 0) === bytes.readUInt32BE(24);
  if (!isIntact) {
    if (bytes.subarray(0, 8).equals(magic) || looksUnwritten(bytes)) return undefined;
    throw foreignFile(name);
  }
  const version = bytes.readUInt16BE(8);
  if (version > formatVersion) throw newerFormat(name, version);
  return { number: Number(bytes.readBigUInt64BE(16)), salt: bytes.readUInt32BE(12) };
}

const looksUnwritten = (bytes: Buffer): boolean => bytes.subarray(0, headerLength).every((byte) => byte === 0);
