import { crc32 } from './bytes.js';
import { foreignFile, newerFormat } from './faults.js';

/**
 * A segment has records after its header. A commit record closes each batch. Records refer to messages, entries and queues
 * by number; free numbers of messages and entries are used again.
 */
export const recordTypes = {
  /** A message: number, serial, envelope, body. */
  message: 1,
  /** A message that shares the body of another, as a dead letter does: number, serial, both of the other, envelope. */
  copy: 2,
  /** The whole state of a new or changed entry. */
  entry: 3,
  /** Numbers of entries that are unacknowledged. */
  delivered: 4,
  /** Numbers of entries that were settled or dropped. */
  settled: 5,
  /** An object declared, changed or deleted. */
  topology: 6,
  /** A checkpoint: the rest of the batch has all declarations. */
  checkpoint: 7,
  /** The end of a batch: its bytes with this record, and the time of writing. */
  commit: 8,
} as const;

const lastType = recordTypes.commit;

/** Before the content: length of type and content (u32), CRC-32 of both (u32), type (u8). All big-endian. */
export const recordHead = 9;

/** The largest record, in bytes: RabbitMQ's largest message and its properties. */
export const maxRecord = 0x2100_0000;

/** The position of the type in a record. */
export const typeAt = 8;

/**
 * Where the record at a position ends; 0 when its bytes are not what was written.
 * @param salt of the segment, the seed of each CRC: the copy of a record in a body is no record
 * @param limit where the bytes end
 */
export function endOfRecord(bytes: Buffer, at: number, salt: number, limit: number): number {
  if (at + recordHead > limit) return 0;
  const length = bytes.readUInt32BE(at);
  const type = bytes[at + typeAt] as number;
  if (length === 0 || length > maxRecord || type === 0 || type > lastType) return 0;
  const end = at + typeAt + length;
  if (end > limit || crc32(bytes, at + typeAt, end, salt) !== bytes.readUInt32BE(at + 4)) return 0;
  return end;
}

/** First bytes of every segment. */
const magic = Buffer.from('DLXLOG\r\n', 'latin1');

/** The version of the format. A new version means that older programs cannot read the segment. */
export const formatVersion = 4;

/** Bytes: magic (8), version (u16), 0 (u16), salt (u32), number (u64), CRC-32 of all before it (u32). All big-endian. */
const headerLength = 28;
/** The header is there twice, far enough apart that small damage leaves one: without its salt a segment cannot be read. */
const secondHeader = 256;
/** Behind the header: bytes of the file when it got its name (u64), and the CRC-32 of the header and of this (u32). Earlier programs pass over both. */
const preparedAt = headerLength;
const preparedEnd = preparedAt + 12;

/** Where the records of a segment begin. */
export const segmentHead = 512;

export interface SegmentHeader {
  /** Segments are numbered from 1, in the order in which they were written. */
  readonly number: number;
  /** The seed of each CRC in the segment: random for each segment. */
  readonly salt: number;
  /** The version of the format. */
  readonly version: number;
}

/** Follows the name of a segment whose header is not durable yet. */
export const draft = '.new';

export const segmentName = (number: number): string => `${String(number).padStart(10, '0')}.log`;

/** The number in a segment's name, undefined for other files. */
export function segmentNumber(name: string): number | undefined {
  const digits = /^(\d{10,15})\.log$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** @param prepared the least bytes of the file from the moment on in which it gets its name; 0 for one that grows with its batches */
export function writeHeader({ number, salt, version }: SegmentHeader, prepared = 0): Buffer {
  const bytes = Buffer.alloc(segmentHead);
  magic.copy(bytes);
  bytes.writeUInt16BE(version, 8);
  bytes.writeUInt32BE(salt, 12);
  bytes.writeBigUInt64BE(BigInt(number), 16);
  bytes.writeUInt32BE(crc32(bytes, 0, 24, 0), 24);
  if (prepared > 0) {
    bytes.writeBigUInt64BE(BigInt(prepared), preparedAt);
    bytes.writeUInt32BE(crc32(bytes, 0, preparedAt + 8, 0), preparedAt + 8);
  }
  bytes.copy(bytes, secondHeader, 0, preparedEnd);
  return bytes;
}

/** @returns the bytes that the file of a segment had when it got its name; 0 when that is unknown */
export function preparedBytes(bytes: Buffer): number {
  for (const at of [0, secondHeader]) {
    if (bytes.length < at + preparedEnd || !hasMagic(bytes, at)) continue;
    const crc = bytes.readUInt32BE(at + preparedAt + 8);
    if (crc === crc32(bytes, at, at + preparedAt + 8, 0)) return Number(bytes.readBigUInt64BE(at + preparedAt));
  }
  return 0;
}

/**
 * @param bytes the beginning of the file
 * @returns undefined when the header is damaged or incomplete
 * @throws StoreError when the file is no segment, or has a newer format
 */
export function readHeader(bytes: Buffer, name: string): SegmentHeader | undefined {
  const found = headerAt(bytes, 0, name) ?? headerAt(bytes, secondHeader, name);
  if (found === undefined && isForeign(bytes)) throw foreignFile(name);
  return found;
}

function headerAt(bytes: Buffer, at: number, name: string): SegmentHeader | undefined {
  if (bytes.length < at + headerLength || !hasMagic(bytes, at)) return undefined;
  if (crc32(bytes, at, at + 24, 0) !== bytes.readUInt32BE(at + 24)) return undefined;
  const version = bytes.readUInt16BE(at + 8);
  if (version > formatVersion) throw newerFormat(name, version);
  return { number: Number(bytes.readBigUInt64BE(at + 16)), salt: bytes.readUInt32BE(at + 12), version };
}

const hasMagic = (bytes: Buffer, at: number): boolean => bytes.subarray(at, at + magic.length).equals(magic);

/** Neither header has the magic bytes, and the bytes are not all zeros, as those of an unwritten block are. */
function isForeign(bytes: Buffer): boolean {
  if (hasMagic(bytes, 0) || hasMagic(bytes, secondHeader)) return false;
  return bytes.subarray(0, segmentHead).some((byte) => byte !== 0);
}
