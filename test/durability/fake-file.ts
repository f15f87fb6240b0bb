import type { DiskFile } from '../../libs/dlx-broker/src/store/log/options.js';
import type { Random } from '../fuzz/random.js';

/** The bytes of a sector. A power cut may leave a sector that is being written with any content. */
const sector = 512;

interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** The disk of a file. */
export interface FileHome {
  readonly capacity: number;
  readonly used: number;
  readonly longestWrite: number;
  readonly syncError: Error | undefined;
  readonly writeError: Error | undefined;
  readonly readError: Error | undefined;
  readonly longestRead: number;
  readonly readsOnce: boolean;
  readonly counts: { read: number; write: number; sync: number; truncate: number };
  begin(): Promise<void>;
  onStep(): void;
}

/** The content of garbled sectors. */
const noise = Buffer.alloc(65_536);
for (let at = 0, state = 1; at < noise.length; at++) {
  state = Math.imul(state, 1_103_515_245) + 12_345;
  noise[at] = state >>> 16;
}

/** A file that records which of its bytes are durable. */
export class FakeFile {
  readonly #disk: FileHome;
  /** The content for programs. It is copied before a change, because the durable content may be the same buffer. */
  #bytes: Buffer;
  #isShared = true;
  #length: number;
  /** The content after the last sync. */
  #safe: Buffer;
  /** The ranges written since the last sync. */
  #dirty: Stretch[] = [];
  /** The bytes before the writes that have not ended: reads return them. */
  readonly #underWay = new Set<{ readonly at: number; readonly before: Buffer }>();

  constructor(disk: FileHome, bytes: Buffer) {
    this.#disk = disk;
    this.#bytes = bytes;
    this.#length = bytes.length;
    this.#safe = bytes;
  }

  get length(): number {
    return this.#length;
  }

  bytes(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#length));
  }

  /**
   * The content that a power cut may leave. Each sector that is not durable has its new bytes, zeros, random bytes, or its old
   * bytes. Durable bytes never change, not even in a sector with others.
   */
  afterPowerCut(random: Random): Buffer {
    const safe = this.#safe;
    if (this.#dirty.length === 0 && safe.length === this.#length) return safe;
    const length = random.pick([safe.length, this.#length, between(safe.length, this.#length, random)]);
    const found = Buffer.alloc(length);
    safe.copy(found);
    for (const { from, to } of this.#dirty) {
      for (let at = from; at < Math.min(to, length); at = (Math.floor(at / sector) + 1) * sector) {
        const end = Math.min(to, length, (Math.floor(at / sector) + 1) * sector);
        const fate = random.next();
        if (fate < 0.6) this.#bytes.copy(found, at, at, end);
        else if (fate < 0.7) found.fill(0, at, end);
        else if (fate < 0.8) noise.copy(found, at, ...piece(random, end - at));
      }
    }
    return found;
  }

  /** Damages bytes. */
  overwrite(at: number, bytes: Buffer): void {
    this.#own(this.#length);
    bytes.copy(this.#bytes, at);
    this.#safe = Buffer.from(this.#safe);
    bytes.copy(this.#safe, at);
  }

  async size(): Promise<number> {
    return this.#length;
  }

  async write(chunks: readonly Uint8Array[], position: number): Promise<number> {
    const disk = this.#disk;
    disk.counts.write++;
    if (disk.writeError !== undefined) throw disk.writeError;
    const all = Buffer.concat(chunks);
    const room = Math.max(0, disk.capacity - disk.used + Math.max(0, this.#length - position));
    if (room === 0 && all.length > 0) throw systemError('ENOSPC', 'no space left on device, write');
    const written = all.subarray(0, Math.min(room, disk.longestWrite, all.length));
    this.#own(position + written.length);
    const at = Math.min(position, this.#length);
    const underWay = { at, before: Buffer.alloc(position + written.length - at) };
    this.#bytes.copy(underWay.before, 0, at, this.#length);
    this.#underWay.add(underWay);
    written.copy(this.#bytes, position);
    this.#dirty.push({ from: at, to: position + written.length });
    this.#length = Math.max(this.#length, position + written.length);
    await disk.begin();
    this.#underWay.delete(underWay);
    return written.length;
  }

  async sync(): Promise<void> {
    const disk = this.#disk;
    disk.counts.sync++;
    const bytes = this.bytes();
    const dirty = this.#dirty.length;
    await disk.begin();
    if (disk.syncError !== undefined) throw disk.syncError;
    this.#safe = bytes;
    this.#dirty = this.#dirty.slice(dirty);
    disk.onStep();
  }

  async truncate(size: number): Promise<void> {
    this.#disk.counts.truncate++;
    this.#own(size);
    if (size < this.#length) this.#bytes.fill(0, size, this.#length);
    this.#length = size;
    await this.#disk.begin();
  }

  async read(into: Uint8Array, position: number): Promise<number> {
    return this.readSync(into, position);
  }

  sizeSync(): number {
    return this.#length;
  }

  readSync(into: Uint8Array, position: number): number {
    const { readError, readsOnce, longestRead, counts } = this.#disk;
    counts.read++;
    if (readError !== undefined) throw readError;
    if ((readsOnce && position > 0) || position >= this.#length) return 0;
    const wanted = Math.min(into.length, longestRead);
    const read = this.#bytes.copy(into, 0, position, Math.min(this.#length, position + wanted));
    for (const { at, before } of this.#underWay) {
      const from = Math.max(at, position);
      const to = Math.min(at + before.length, position + read);
      if (from < to) before.copy(into, from - position, from - at, to - at);
    }
    return read;
  }

  /** Makes the bytes writable: copies them if they are shared or have no room for this length. */
  #own(length: number): void {
    if (!this.#isShared && length <= this.#bytes.length) return;
    const bytes = Buffer.alloc(Math.max(length, this.#bytes.length + (length > this.#bytes.length ? length : 0)));
    this.#bytes.copy(bytes, 0, 0, this.#length);
    this.#bytes = bytes;
    this.#isShared = false;
  }
}

/** An open file of a program. */
export class OpenFile implements DiskFile {
  #isOpen = true;

  constructor(readonly file: FakeFile) {}

  async size(): Promise<number> {
    return this.#opened.size();
  }

  async write(chunks: readonly Uint8Array[], position: number): Promise<number> {
    return this.#opened.write(chunks, position);
  }

  async sync(): Promise<void> {
    return this.#opened.sync();
  }

  async truncate(size: number): Promise<void> {
    return this.#opened.truncate(size);
  }

  async read(into: Uint8Array, position: number): Promise<number> {
    return this.#opened.read(into, position);
  }

  readSync(into: Uint8Array, position: number): number {
    return this.#opened.readSync(into, position);
  }

  sizeSync(): number {
    return this.#opened.sizeSync();
  }

  async close(): Promise<void> {
    this.#isOpen = false;
  }

  get #opened(): FakeFile {
    if (!this.#isOpen) throw systemError('EBADF', 'bad file descriptor');
    return this.file;
  }
}

const piece = (random: Random, length: number): [number, number] => {
  const from = random.integer(0, noise.length - length);
  return [from, from + length];
};

const between = (one: number, other: number, random: Random): number =>
  random.integer(Math.min(one, other), Math.max(one, other));

export function systemError(code: string, text: string): Error {
  return Object.assign(new Error(`${code}: ${text}`), { code });
}
