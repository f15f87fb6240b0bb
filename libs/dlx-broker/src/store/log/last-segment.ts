import { headOf, hintNumber, readHint } from './hints.js';
import { zeros } from './next-segment.js';
import type { Disk, DiskFile } from './options.js';
import { endOfWritten, isBlank, type Scanned } from './scan.js';
import {
  draft,
  preparedBytes,
  readHeader,
  recordTypes,
  segmentHead,
  segmentName,
  segmentNumber,
  typeAt,
} from './segment-header.js';
import { readWhole } from './write-all.js';

/*
 * What recovery knows about the end of the log, where a batch may be missing in part after a crash.
 */

/**
 * Takes empty files off the end of a list of segments whose numbers do not follow: a segment has a header before it has its name, and the
 * segments in between would be missing.
 * @param numbers in ascending order
 * @returns the numbers that were taken
 */
export async function takeStrayFiles(disk: Disk, numbers: number[]): Promise<readonly number[]> {
  const taken: number[] = [];
  while (numbers.length > 1) {
    const [before, last] = numbers.slice(-2) as [number, number];
    if (last === before + 1) break;
    const file = await disk.open(segmentName(last), 'read');
    const size = await file.size().finally(() => file.close());
    if (size > 0) break;
    taken.push(last);
    numbers.pop();
  }
  return taken;
}

/**
 * The number of the last segment that the log had. After a power cut, too, these are there only together with the segment behind or before them:
 * - a hint, which is written when the next segment has its name and the directory is synced;
 * - a draft, which is made when the segment before it has its name and the directory is synced.
 * @param last the number of the last segment that is there; 0 for none
 */
export async function lastNumberOf(disk: Disk, names: readonly string[], last: number): Promise<number> {
  let found = last;
  for (const name of names) {
    const hinted = hintNumber(name) ?? 0;
    if (hinted >= Math.max(found, 1) && (await isHintOf(disk, hinted, last))) found = hinted + 1;
    const drafted = name.endsWith(draft) ? (segmentNumber(name.slice(0, -draft.length)) ?? 0) : 0;
    if (drafted - 1 > found && (await hasHeaderOf(disk, name, drafted))) found = drafted - 1;
  }
  return found;
}

/** Whether a hint is whole. That of the last segment has to fit its content: a segment that grows again may have an old one. */
async function isHintOf(disk: Disk, number: number, last: number): Promise<boolean> {
  const content = (await readHint(disk, number))?.content;
  if (content?.number !== number || number !== last) return content?.number === number;
  const file = await disk.open(segmentName(number), 'read');
  try {
    return (await headOf(file, await file.size(), content)) !== undefined;
  } finally {
    await file.close();
  }
}

async function hasHeaderOf(disk: Disk, name: string, number: number): Promise<boolean> {
  const file = await disk.open(name, 'read');
  try {
    const size = Math.min(segmentHead, await file.size());
    return readHeader(await readWhole(file, Buffer.alloc(size)), name)?.number === number;
  } catch {
    return false; // no draft of this log, or one that cannot be read
  } finally {
    await file.close();
  }
}

/**
 * Whether the file of the last segment certainly lost its end. A batch was being written, and the file is shorter than it was when it got its
 * name: no crash leaves that, because batches are written inside the file, and a start keeps its length (see {@link clearEnd}). Without the
 * rest of a batch nothing can be said: the segment may have been full, and a full segment is cut to the end of its last batch.
 *
 * An earlier version cuts the file at its start. So nothing is said when another process than the one that made the segment may have written
 * to it: the first batch of each process begins with a checkpoint.
 * @param end where the batches end that are used
 */
export function isCutShort(bytes: Buffer, { records }: Scanned, end: number): boolean {
  if (bytes.length >= preparedBytes(bytes) || bytes.length <= end + typeAt || isBlank(bytes, end)) return false;
  const type = bytes[end + typeAt] as number;
  if (type === 0 || type === recordTypes.checkpoint || type > recordTypes.commit) return false;
  let batches = 0;
  for (const at of records) {
    if (at >= end) break;
    if (bytes[at + typeAt] === recordTypes.commit) batches++;
    else if (bytes[at + typeAt] === recordTypes.checkpoint && batches > 0) return false;
  }
  return batches > 0;
}

/** What is behind the last batch that is used. */
export interface Rest {
  /** Where that batch ends. */
  readonly end: number;
  /** Behind it there are only zeros. */
  readonly written: number;
  /** Bytes of the file. */
  readonly size: number;
  /** The least bytes of the file. */
  readonly prepared: number;
}

export const restOf = (bytes: Buffer, end: number): Rest => ({
  end,
  written: endOfWritten(bytes),
  size: bytes.length,
  prepared: preparedBytes(bytes),
});

/**
 * Removes the rest of a batch from the last segment. The file is not made shorter than it was when it got its name, and becomes as long
 * again if it is: otherwise the next crash would leave what looks like a file that lost its end.
 * @returns the bytes of the file
 */
export async function clearEnd(file: DiskFile, { end, written, size, prepared }: Rest): Promise<number> {
  const length = Math.max(end, prepared);
  const last = Math.min(length, written);
  for (let at = end; at < last;) {
    const count = await file.write([zeros.subarray(0, Math.min(zeros.length, last - at))], at);
    if (count === 0) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    at += count;
  }
  // Durable before the length changes: a power cut may leave any length in between.
  if (last > end) await file.sync();
  if (length !== size) {
    await file.truncate(length);
    await file.sync();
  }
  return length;
}
