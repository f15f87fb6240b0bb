import { crc32 } from './bytes.js';
import type { Disk, DiskFile } from './options.js';
import {
  draft,
  readHeader,
  recordHead,
  recordTypes,
  segmentHead,
  segmentName,
  segmentNumber,
  typeAt,
} from './segment-header.js';
import type { Segment } from './segment.js';
import type { Space } from './space.js';
import { createAnew, readWhole } from './write-all.js';

/*
 * The hint of a segment: a file beside it with its records, but without the bodies of messages. From hints the store is
 * opened without reading all segments. Without its hint, a segment is read itself.
 */

/** First bytes of every hint. */
const magic = Buffer.from('DLXHINT\n', 'latin1');

/** The version of the format of hints. A hint of another version is not used. */
const hintVersion = 1;

/**
 * Bytes: magic (8), version (u16), 0 (u16), salt of the segment (u32), its number (u64), its length (u64), CRC of its last
 * record (u32), length of the digest (u32), CRC-32 of the digest (u32), CRC-32 of all before it (u32). All big-endian.
 */
const headerLength = 48;

/** The last record of a segment that is full is a commit. */
export const lastRecord = recordHead + 16;

const ending = '.hint';
const logEnding = '.log';

export const hintName = (number: number): string => segmentName(number).slice(0, -logEnding.length) + ending;

/** The number of the segment in the name of its hint, undefined for other files. */
export const hintNumber = (name: string): number | undefined =>
  name.endsWith(ending) ? segmentNumber(name.slice(0, -ending.length) + logEnding) : undefined;

/** What ties a hint to the content of its segment. */
interface Sealed {
  readonly salt: number;
  readonly number: number;
  /** Bytes of the segment. */
  readonly end: number;
  /** The CRC of its last record: other bytes of the same length have another one. */
  readonly seal: number;
}

export function writeHintHeader({ salt, number, end, seal }: Sealed, digest: Buffer): Buffer {
  const header = Buffer.alloc(headerLength);
  magic.copy(header);
  header.writeUInt16BE(hintVersion, 8);
  header.writeUInt32BE(salt, 12);
  header.writeBigUInt64BE(BigInt(number), 16);
  header.writeBigUInt64BE(BigInt(end), 24);
  header.writeUInt32BE(seal, 32);
  header.writeUInt32BE(digest.length, 36);
  header.writeUInt32BE(crc32(digest, 0, digest.length, salt), 40);
  header.writeUInt32BE(crc32(header, 0, 44, 0), 44);
  return header;
}

/** @returns the digest in a hint; undefined when its bytes are not what was written, or when it is of another version */
export function digestIn(hint: Buffer): (Sealed & { readonly digest: Buffer }) | undefined {
  if (hint.length < headerLength || !hint.subarray(0, magic.length).equals(magic)) return undefined;
  if (crc32(hint, 0, 44, 0) !== hint.readUInt32BE(44) || hint.readUInt16BE(8) !== hintVersion) return undefined;
  const salt = hint.readUInt32BE(12);
  const digest = hint.subarray(headerLength);
  if (digest.length !== hint.readUInt32BE(36)) return undefined;
  if (crc32(digest, 0, digest.length, salt) !== hint.readUInt32BE(40)) return undefined;
  const [number, end] = [Number(hint.readBigUInt64BE(16)), Number(hint.readBigUInt64BE(24))];
  return { salt, number, end, seal: hint.readUInt32BE(32), digest };
}

/**
 * The seal of a segment.
 * @param last its last bytes, as many as {@link lastRecord} has
 * @returns undefined when they are no commit
 */
function sealIn(last: Buffer, { salt }: Pick<Segment, 'salt'>): number | undefined {
  if (last.length !== lastRecord || last[typeAt] !== recordTypes.commit) return undefined;
  const crc = last.readUInt32BE(4);
  return last.readUInt32BE(0) === lastRecord - typeAt && crc32(last, typeAt, lastRecord, salt) === crc
    ? crc
    : undefined;
}

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

/** The most hints that wait to be written. A segment that becomes full while this many wait gets no hint. */
const maxWaiting = 8;

/**
 * Writes the hints of full segments, one after the other, beside the batches. A hint is only an aid: when it cannot be written, the
 * segment is read itself at the next start.
 */
export class Hints {
  #waiting = 0;
  /** The last operation. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    readonly disk: Disk,
    readonly space: Pick<Space, 'isLow'>,
    /** True once the log has failed. */
    readonly isOver: () => boolean,
    /** Called when a segment cannot be synced, which is final. */
    readonly failed: (error: unknown) => void,
  ) {}

  /** The segment is full: it gets no more records. */
  sealed(segment: Segment): void {
    const { digest } = segment;
    segment.digest = undefined;
    if (digest === undefined || !digest.isWhole || this.#waiting >= maxWaiting) return;
    segment.hasHint = true;
    this.#waiting++;
    void this.#queued(async () => {
      this.#waiting--;
      if (segment.hasHint) segment.hasHint = await this.#write(segment, digest.bytes).catch(() => false);
    });
  }

  /** The segment is about to be deleted, or is damaged: then the next start has to read the segment itself. */
  remove(segment: Segment): Promise<void> {
    if (!segment.hasHint) return Promise.resolve();
    segment.hasHint = false;
    return this.#queued(() => this.disk.unlink(hintName(segment.number)).catch(() => undefined));
  }

  /** Resolves when no operation waits. */
  async close(): Promise<void> {
    await this.#last;
  }

  #queued(act: () => Promise<void>): Promise<void> {
    const done = this.#last.then(act);
    this.#last = done.catch(() => undefined);
    return done;
  }

  /** @returns whether there is a hint now */
  async #write(segment: Segment, digest: Buffer): Promise<boolean> {
    if (this.isOver() || this.space.isLow) return false;
    const { number, salt, end, file } = segment;
    try {
      // Without its segment a hint would promise messages that a power cut has taken.
      await file.sync();
    } catch (error) {
      this.failed(error);
      return false;
    }
    const seal = sealIn(await readWhole(file, Buffer.allocUnsafe(lastRecord), end - lastRecord), segment);
    if (seal === undefined) return false;
    const name = hintName(number);
    const isWritten = await this.#writeDraft(name + draft, [
      writeHintHeader({ salt, number, end, seal }, digest),
      digest,
    ]);
    // A file with the name of a hint is complete. Whether it has that name after a power cut does not matter.
    if (isWritten) await this.disk.rename(name + draft, name);
    return isWritten;
  }

  /** @returns false when the disk has no room */
  async #writeDraft(name: string, chunks: readonly [Buffer, Buffer]): Promise<boolean> {
    const file = await createAnew(this.disk, name);
    let isWhole = false;
    try {
      isWhole = (await file.write(chunks, 0)) === chunks[0].length + chunks[1].length;
      if (isWhole) await file.sync();
    } catch {
      isWhole = false;
    } finally {
      await file.close().catch(() => undefined);
    }
    if (!isWhole) await this.disk.unlink(name);
    return isWhole;
  }
}
