import { endOfRecord, recordHead, recordTypes, segmentHead, typeAt } from './segment-header.js';

/** A range of bytes that are not what was written. */
export interface Gap {
  readonly from: number;
  readonly to: number;
}

/** The positions of the records of a segment, and the gaps between them. */
export interface Scanned {
  readonly records: Uint32Array;
  readonly gaps: readonly Gap[];
  /** Where the last record ends. */
  readonly end: number;
}

/** Finds the records of a segment one by one, also those behind damaged ones. */
export class RecordReader {
  readonly #bytes: Buffer;
  /** Where the last record ends. */
  end = segmentHead;

  /** @param file all of it */
  constructor(
    file: Buffer,
    readonly salt: number,
  ) {
    // The zeros that were allocated in advance are skipped: a search through them behind a damaged record would be long.
    this.#bytes = file.subarray(0, endOfWritten(file));
  }

  /** @returns where the next record begins, 0 when there is none */
  next(): number {
    const bytes = this.#bytes;
    if (this.end >= bytes.length) return 0;
    let at = this.end;
    let end = endOfRecord(bytes, at, this.salt, bytes.length);
    if (end === 0) {
      at = nextRecord(bytes, at, this.salt);
      if (at === 0) return 0;
      end = endOfRecord(bytes, at, this.salt, bytes.length);
    }
    this.end = end;
    return at;
  }
}

/** Finds all records of a segment. @param file all of it */
export function scan(file: Buffer, salt: number): Scanned {
  const reader = new RecordReader(file, salt);
  let records = new Uint32Array(1024);
  let count = 0;
  const gaps: Gap[] = [];
  let { end } = reader;
  for (let at = reader.next(); at !== 0; at = reader.next()) {
    if (at > end) gaps.push({ from: end, to: at });
    if (count === records.length) records = grown(records);
    records[count++] = at;
    end = reader.end;
  }
  return { records: records.subarray(0, count), gaps, end };
}

/** Where the batch of a commit begins. @param at where the commit begins */
export const startOfBatch = (bytes: Buffer, at: number): number =>
  at + recordHead + 16 - bytes.readDoubleBE(at + recordHead);

/** The index of the last commit; -1 for none. */
export function lastCommit(bytes: Buffer, { records }: Scanned): number {
  let index = records.length - 1;
  while (index >= 0 && bytes[(records[index] as number) + typeAt] !== recordTypes.commit) index--;
  return index;
}

const blank = Buffer.alloc(4_096);

/** Whether all bytes from there on are zeros. */
export function isBlank(bytes: Buffer, from: number): boolean {
  for (let at = from; at < bytes.length; at += blank.length) {
    const end = Math.min(bytes.length, at + blank.length);
    if (bytes.compare(blank, 0, end - at, at, end) !== 0) return false;
  }
  return true;
}

/** From there on there are only zeros outside of records. The last record may itself end with zeros. */
export function endOfWritten(bytes: Buffer): number {
  let end = bytes.length;
  while (end >= blank.length && isBlank(bytes.subarray(0, end), end - blank.length)) end -= blank.length;
  return Math.min(bytes.length, end + recordHead + 16);
}

/** Where the next record begins behind a damaged one; 0 for none. */
function nextRecord(bytes: Buffer, damaged: number, salt: number): number {
  // The length of the damaged record is mostly intact.
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
