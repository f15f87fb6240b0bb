import type { Disk, DiskFile } from '../../libs/dlx-broker/src/store/log/options.js';

/** The calls of a disk. */
export type Call =
  | 'list'
  | 'open'
  | 'unlink'
  | 'rename'
  | 'syncDir'
  | 'free'
  | 'size'
  | 'write'
  | 'sync'
  | 'truncate'
  | 'read'
  | 'readSync'
  | 'sizeSync'
  | 'close';

/** Passes calls to another disk. Any call can fail. */
export class FaultyDisk implements Disk {
  /** The calls so far. */
  readonly calls: Call[] = [];
  /** The number of open files. */
  opened = 0;
  /** Returns the error of a call; undefined if the call succeeds. */
  fault: (call: Call, count: number) => Error | undefined = () => undefined;

  constructor(readonly disk: Disk) {}

  async list(): Promise<readonly string[]> {
    this.called('list');
    return this.disk.list();
  }

  async open(name: string, how: 'create' | 'write' | 'read'): Promise<DiskFile> {
    this.called('open');
    const file = await this.disk.open(name, how);
    this.opened++;
    return new FaultyFile(this, file);
  }

  async unlink(name: string): Promise<void> {
    this.called('unlink');
    return this.disk.unlink(name);
  }

  async rename(from: string, to: string): Promise<void> {
    this.called('rename');
    return this.disk.rename(from, to);
  }

  async syncDir(): Promise<void> {
    this.called('syncDir');
    return this.disk.syncDir();
  }

  async free(): Promise<number | undefined> {
    this.called('free');
    return this.disk.free();
  }

  /** @throws the error of this call, if it has one */
  called(call: Call): void {
    this.calls.push(call);
    const error = this.fault(call, this.calls.length);
    if (error !== undefined) throw error;
  }
}

class FaultyFile implements DiskFile {
  #isOpen = true;

  constructor(
    readonly disk: FaultyDisk,
    readonly file: DiskFile,
  ) {}

  async size(): Promise<number> {
    this.disk.called('size');
    return this.file.size();
  }

  async write(chunks: readonly Uint8Array[], position: number): Promise<number> {
    this.disk.called('write');
    return this.file.write(chunks, position);
  }

  async sync(): Promise<void> {
    this.disk.called('sync');
    return this.file.sync();
  }

  async truncate(size: number): Promise<void> {
    this.disk.called('truncate');
    return this.file.truncate(size);
  }

  async read(into: Uint8Array, position: number): Promise<number> {
    this.disk.called('read');
    return this.file.read(into, position);
  }

  readSync(into: Uint8Array, position: number): number {
    this.disk.called('readSync');
    return this.file.readSync(into, position);
  }

  sizeSync(): number {
    this.disk.called('sizeSync');
    return this.file.sizeSync();
  }

  async close(): Promise<void> {
    if (this.#isOpen) this.disk.opened--;
    this.#isOpen = false;
    this.disk.called('close');
    return this.file.close();
  }
}
