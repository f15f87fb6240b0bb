import type { DiskFile } from './disk.js';
import { shortRead } from './faults.js';

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
