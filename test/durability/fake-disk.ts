import type { Disk, DiskFile } from '../../libs/dlx-broker/src/store/log/options.js';
import type { Random } from '../fuzz/random.js';
import { FakeFile, type FileHome, OpenFile, systemError } from './fake-file.js';

/** What a power cut may forget: one change of the directory. */
interface Change {
  readonly file: FakeFile;
  readonly from?: string;
  readonly to?: string;
}

export interface FakeDiskOptions {
  /** The size of the disk in bytes. */
  readonly capacity?: number;
}

/**
 * A disk in memory that simulates power cuts. Changes are made one by one: a call waits until {@link advance} is called, and
 * {@link onStep} may look at the disk before and after the change.
 */
export class FakeDisk implements Disk, FileHome {
  readonly #entries = new Map<string, FakeFile>();
  #durable = new Map<string, FakeFile>();
  #changes: Change[] = [];
  readonly #waiting: (() => void)[] = [];
  capacity: number;
  /** False: each call ends at once. */
  isManual = true;
  /** Called when a change begins, and when it ends: the power may be cut then. */
  onStep: () => void = () => undefined;
  /** The error of the next syncs. */
  syncError: Error | undefined;
  /** The error of the next writes. */
  writeError: Error | undefined;
  /** The error of the next reads. */
  readError: Error | undefined;
  /** The most bytes that one read returns. */
  longestRead = Infinity;
  /** True: the first read of a file returns bytes, and further reads return none. */
  readsOnce = false;
  /** The most bytes that one call writes. */
  longestWrite = Infinity;
  /** The number of calls of each kind. */
  readonly counts = { read: 0, write: 0, sync: 0, syncDir: 0, create: 0, unlink: 0, rename: 0, truncate: 0 };

  constructor({ capacity = Infinity }: FakeDiskOptions = {}) {
    this.capacity = capacity;
  }

  /** The number of calls that wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  get used(): number {
    let used = 0;
    for (const file of this.#entries.values()) used += file.length;
    return used;
  }

  /** Ends the oldest waiting call. */
  advance(): void {
    this.#waiting.shift()?.();
  }

  /** A copy of the disk as a power cut at this moment may leave it. */
  afterPowerCut(random: Random): FakeDisk {
    const entries = new Map(this.#durable);
    for (const { file, from, to } of this.#changes) {
      if (random.chance(0.5)) continue;
      if (from !== undefined && entries.get(from) === file) entries.delete(from);
      if (to !== undefined) entries.set(to, file);
    }
    const found = new FakeDisk({ capacity: this.capacity });
    for (const [name, file] of entries) found.put(name, file.afterPowerCut(random));
    return found;
  }

  /** A copy on which everything is durable. */
  copy(): FakeDisk {
    const copy = new FakeDisk({ capacity: this.capacity });
    for (const [name, file] of this.#entries) copy.put(name, file.bytes());
    return copy;
  }

  /** Adds a durable file. */
  put(name: string, bytes: Buffer): void {
    const file = new FakeFile(this, bytes);
    this.#entries.set(name, file);
    this.#durable.set(name, file);
  }

  /** Overwrites bytes of a file, durably. */
  overwrite(name: string, at: number, bytes: Buffer): void {
    const file = this.#entries.get(name);
    if (file === undefined) throw systemError('ENOENT', `no such file or directory, open '${name}'`);
    file.overwrite(at, bytes);
  }

  /** The present content of a file. */
  files(): ReadonlyMap<string, Buffer> {
    return new Map([...this.#entries].map(([name, file]) => [name, file.bytes()]));
  }

  async list(): Promise<readonly string[]> {
    return [...this.#entries.keys()];
  }

  async open(name: string, how: 'create' | 'write' | 'read'): Promise<DiskFile> {
    const existing = this.#entries.get(name);
    if (how === 'create') {
      if (existing !== undefined) throw systemError('EEXIST', `file exists, open '${name}'`);
      const file = new FakeFile(this, Buffer.alloc(0));
      this.counts.create++;
      this.#change({ file, to: name });
      await this.begin();
      return new OpenFile(file);
    }
    if (existing === undefined) throw systemError('ENOENT', `no such file or directory, open '${name}'`);
    return new OpenFile(existing);
  }

  async unlink(name: string): Promise<void> {
    const file = this.#entries.get(name);
    if (file === undefined) throw systemError('ENOENT', `no such file or directory, unlink '${name}'`);
    this.counts.unlink++;
    this.#change({ file, from: name });
    await this.begin();
  }

  async rename(from: string, to: string): Promise<void> {
    const file = this.#entries.get(from);
    if (file === undefined) throw systemError('ENOENT', `no such file or directory, rename '${from}'`);
    this.counts.rename++;
    this.#change({ file, from, to });
    await this.begin();
  }

  async syncDir(): Promise<void> {
    this.counts.syncDir++;
    const entries = new Map(this.#entries);
    const changes = this.#changes.length;
    await this.begin();
    this.#durable = entries;
    this.#changes = this.#changes.slice(changes);
    this.onStep();
  }

  async free(): Promise<number | undefined> {
    return this.capacity === Infinity ? undefined : Math.max(0, this.capacity - this.used);
  }

  /** Resolves when {@link advance} reaches this call. */
  begin(): Promise<void> {
    this.onStep();
    if (!this.isManual) return Promise.resolve();
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }

  #change(change: Change): void {
    this.#changes.push(change);
    if (change.from !== undefined) this.#entries.delete(change.from);
    if (change.to !== undefined) this.#entries.set(change.to, change.file);
  }
}
