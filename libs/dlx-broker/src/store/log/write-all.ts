import { isFull, shortRead, writeFailed } from './faults.js';
import type { Disk, DiskFile } from './options.js';
import type { Space } from './space.js';

/** Creates a draft. A file of this name was left from a failed unlink, and is deleted. */
export async function createAnew(disk: Disk, name: string): Promise<DiskFile> {
  try {
    return await disk.open(name, 'create');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    await disk.unlink(name);
    return disk.open(name, 'create');
  }
}

/**
 * Fills a buffer from a file.
 * @throws when fewer bytes come than the file has: an unread part must not be taken for a missing one
 */
export async function readWhole<Bytes extends Buffer>(file: DiskFile, into: Bytes, from = 0): Promise<Bytes> {
  let at = 0;
  while (at < into.length) {
    const read = await file.read(into.subarray(at), from + at);
    if (read === 0) throw shortRead(into.length, at, await file.size());
    at += read;
  }
  return into;
}

/**
 * Writes all chunks, in several writes if the disk takes only a part. Waits while the disk is full.
 * @param isOver returns true when the write is no longer needed
 * @param spare bytes at the end that need not be written
 * @returns bytes written: fewer than all only when `isOver`, or without spare bytes
 * @throws StoreError
 */
export async function writeAll(
  file: DiskFile,
  chunks: readonly Uint8Array[],
  position: number,
  space: Space,
  isOver: () => boolean,
  spare = 0,
): Promise<number> {
  let rest = chunks;
  let left = lengthOf(chunks);
  let at = position;
  while (left > 0) {
    const written = await someOf(file, rest, at);
    left -= written;
    at += written;
    if (left <= spare) break;
    rest = without(rest, written);
    if (written > 0) continue;
    await space.waitForRoom(left);
    if (isOver()) return at - position;
  }
  space.succeeded();
  return at - position;
}

async function someOf(file: DiskFile, chunks: readonly Uint8Array[], position: number): Promise<number> {
  try {
    return await file.write(chunks, position);
  } catch (error) {
    if (isFull(error)) return 0;
    throw writeFailed(error);
  }
}

function lengthOf(chunks: readonly Uint8Array[]): number {
  let length = 0;
  for (const chunk of chunks) length += chunk.length;
  return length;
}

function without(chunks: readonly Uint8Array[], length: number): readonly Uint8Array[] {
  let skipped = length;
  const rest: Uint8Array[] = [];
  for (const chunk of chunks) {
    if (skipped >= chunk.length) skipped -= chunk.length;
    else {
      rest.push(chunk.subarray(skipped));
      skipped = 0;
    }
  }
  return rest;
}
