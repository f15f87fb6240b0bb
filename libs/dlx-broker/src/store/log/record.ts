import { crc32 } from './crc32.js';

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
