import { endOfRecord, recordHead, recordTypes, typeAt } from './record.js';
import { segmentHead } from './segment-header.js';

/** A stretch of bytes that are not what was written. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** The records of a segment, by where they begin; and what between them is none. */
export interface Scanned {
  readonly records: Uint32Array;
  readonly gaps: readonly Gap[];
  /** Where the last record ends. */
  readonly end: number;
}

/** Finds all records of a segment, also those behind damaged ones. @param file all of it */
export function scan(file: Buffer, salt: number): Scanned {
  // What was made in advance is not looked through: damage in front of it would make that long.
  const bytes = file.subarray(0, endOfWritten(file));
  let records = new Uint32Array(1024);
  let count = 0;
  const gaps: Gap[] = [];
  let at = segmentHead;
  let end = segmentHead;
  while (at < bytes.length) {
    const next = endOfRecord(bytes, at, salt, bytes.length);
    if (next !== 0) {
      if (count === records.length) records = grown(records);
      records[count++] = at;
      at = next;
      end = next;
      continue;
    }
    const resumed = nextRecord(bytes, at, salt);
    if (resumed === 0) break;
    gaps.push({ from: at, to: resumed });
    at = resumed;
  }
  return { records: records.subarray(0, count), gaps, end };
}

/** Where the batch begins that a commit closes. @param at of the commit */
export const startOfBatch = (bytes: Buffer, at: number): number =>
  at + recordHead + 16 - bytes.readDoubleBE(at + recordHead);

/** The last commit, by its index; -1 for none. */
export function lastCommit(bytes: Buffer, { records }: Scanned): number {
  let index = records.length - 1;
  while (index >= 0 && bytes[(records[index] as number) + typeAt] !== recordTypes.commit) index--;
  return index;
}

const blank = Buffer.alloc(4_096);

/** Whether there is nothing but zeros. */
export function isBlank(bytes: Buffer, from: number): boolean {
  for (let at = from; at < bytes.length; at += blank.length) {
    const end = Math.min(bytes.length, at + blank.length);
    if (bytes.compare(blank, 0, end - at, at, end) !== 0) return false;
  }
  return true;
}

/** Behind it there are only zeros that belong to no record: a commit may end with a few. */
function endOfWritten(bytes: Buffer): number {
  let end = bytes.length;
  while (end >= blank.length && isBlank(bytes.subarray(0, end), end - blank.length)) end -= blank.length;
  return Math.min(bytes.length, end + recordHead + 16);
}

/** Where the next record begins behind one that is damaged; 0 for nowhere. */
function nextRecord(bytes: Buffer, damaged: number, salt: number): number {
  // Mostly its length is as it was.
  if (damaged + recordHead < bytes.length) {
    const likely = damaged + typeAt + bytes.readUInt32BE(damaged);
    if (likely < bytes.length && endOfRecord(bytes, likely, salt, bytes.length) !== 0) return likely;
  }
  for (let at = damaged + 1; at + recordHead < bytes.length; at++) {
    if (endOfRecord(bytes, at, salt, bytes.length) !== 0) return at;
  }
  return 0;
}

function grown(records: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const longer = new Uint32Array(records.length * 2);
  longer.set(records);
  return longer;
}
