import { crc32 } from './crc32.js';

/**
 * What stands in a segment after its header: records, one after the other, closed in batches by a commit. They speak of
 * messages, entries and queues by number; numbers of messages and entries are used again when they are free.
 */
export const recordTypes = {
  /** A message: number, serial, envelope, body. */
  message: 1,
  /** A message that shares the body of another, as a dead letter does: number, serial, those of the other, envelope. */
  copy: 2,
  /** A place in a queue, new or changed: all of it. */
  entry: 3,
  /** Numbers of entries that are unacknowledged. */
  delivered: 4,
  /** Numbers of entries that are gone. */
  settled: 5,
  /** Something declared, changed or removed. */
  topology: 6,
  /** What was declared begins anew: the rest of the batch tells all of it. */
  checkpoint: 7,
  /** All of this batch is true now: how many bytes it has with this record, and when it was written. */
  commit: 8,
} as const;

const lastType = recordTypes.commit;

/** Before the content: length of type and content (u32), CRC-32 of both (u32), type (u8). All big-endian. */
export const recordHead = 9;

/** No record is longer: RabbitMQ's largest message and its properties. */
export const longestRecord = 0x2100_0000;

/** Where the type stands in a record. */
export const typeAt = 8;

/**
 * Where the record ends that begins at a position; 0 when its bytes are not what was written.
 * @param salt of the segment, the seed of each CRC: a copy of a record elsewhere, be it in a body, is none
 * @param limit where the bytes end
 */
export function endOfRecord(bytes: Buffer, at: number, salt: number, limit: number): number {
  if (at + recordHead > limit) return 0;
  const length = bytes.readUInt32BE(at);
  const type = bytes[at + typeAt] as number;
  if (length === 0 || length > longestRecord || type === 0 || type > lastType) return 0;
  const end = at + typeAt + length;
  if (end > limit || crc32(bytes, at + typeAt, end, salt) !== bytes.readUInt32BE(at + 4)) return 0;
  return end;
}
