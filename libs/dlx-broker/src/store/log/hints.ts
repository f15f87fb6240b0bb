import { createAnew } from './create-anew.js';
import type { Disk } from './disk.js';
import { hintName, lastRecord, sealIn, writeHintHeader } from './hint-file.js';
import { readWhole } from './read-whole.js';
import { draft } from './segment-header.js';
import type { Segment } from './segment.js';
import type { Space } from './space.js';

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
