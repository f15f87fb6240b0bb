import { crc32 } from './crc32.js';

/**
 * What stands in a segment after its header: records, one after the other, closed in batches by a commit. Whatever it
 * says of messages and entries it says by their numbers, which are used again when they are free.
 */
export const recordTypes = {
  /** A message: number, serial, envelope, body. */
  message: 1,
  /** A message that shares the body of another: a dead letter. Number, serial, number and serial of the other, envelope. */
  copy: 2,
  /** A place in a queue, new or changed: all of it. */
  entry: 3,
  /** Numbers of entries that are in somebody's hands. */
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

export type RecordType = (typeof recordTypes)[keyof typeof recordTypes];

const lastType = recordTypes.commit;

/** Before the content: its length with the type (u32), the CRC-32 over type and content (u32), the type (u8). All big-endian. */
export const recordHead = 9;

/** No record is longer: RabbitMQ's largest message, and its properties. */
export const longestRecord = 0x2100_0000;

/** What is found at a position of a segment. */
export interface FoundRecord {
  readonly type: RecordType;
  /** Where its content is. */
  readonly start: number;
  readonly end: number;
}

/**
 * The record that begins at a position, undefined when none does: its bytes are not what was written.
 * @param salt of the segment, the seed of each CRC: a copy of a record elsewhere, be it in a body, is none
 */
export function recordAt(bytes: Buffer, at: number, salt: number): FoundRecord | undefined {
  if (at + recordHead > bytes.length) return undefined;
  const length = bytes.readUInt32BE(at);
  const type = bytes[at + 8] as number;
  if (length === 0 || length > longestRecord || type === 0 || type > lastType) return undefined;
  const end = at + 8 + length;
  if (end > bytes.length || crc32(bytes, at + 8, end, salt) !== bytes.readUInt32BE(at + 4)) return undefined;
  return { type: type as RecordType, start: at + recordHead, end };
}
