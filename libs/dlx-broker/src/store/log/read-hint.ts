import type { Disk, DiskFile } from './disk.js';
import { digestIn, hintName, lastRecord, type Sealed, sealIn } from './hint-file.js';
import { readWhole } from './read-whole.js';
import { readHeader, segmentHead, segmentName } from './segment-header.js';

/** A hint, as it was found. */
export interface FoundHint {
  readonly name: string;
  readonly length: number;
  /** Undefined when its bytes are not what was written. */
  readonly content: (Sealed & { readonly digest: Buffer }) | undefined;
}

/** @returns undefined when there is no hint of this segment, or none that can be read */
export async function readHint(disk: Disk, number: number): Promise<FoundHint | undefined> {
  const name = hintName(number);
  try {
    const file = await disk.open(name, 'read');
    try {
      const bytes = await readWhole(file, Buffer.allocUnsafeSlow(await file.size()));
      return { name, length: bytes.length, content: digestIn(bytes) };
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  }
}

/**
 * Whether a hint is that of this segment, as the segment is now.
 * @returns the first bytes of the segment, with its header; undefined when the hint is of other content, or when the segment
 *   cannot be read
 */
export async function headOf(
  file: DiskFile,
  size: number,
  { salt, number, end, seal }: Sealed,
): Promise<Buffer | undefined> {
  if (size !== end || end < segmentHead + lastRecord) return undefined;
  try {
    const head = await readWhole(file, Buffer.allocUnsafe(segmentHead));
    const header = readHeader(head, segmentName(number));
    if (header?.salt !== salt || header.number !== number) return undefined;
    return sealIn(await readWhole(file, Buffer.allocUnsafe(lastRecord), end - lastRecord), header) === seal
      ? head
      : undefined;
  } catch {
    return undefined;
  }
}
