import * as fs from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Disk, DiskFile } from './options.js';

const { O_CREAT, O_DSYNC, O_EXCL, O_RDONLY, O_RDWR } = fs.constants;
const flags = { create: O_RDWR | O_CREAT | O_EXCL, write: O_RDWR, read: O_RDONLY } as const;
/** On other systems O_DSYNC is unknown, or does not write to the disk itself. */
const mayWriteThrough = process.platform === 'linux';

// Calls on file descriptors: they run in the thread pool, and a body is read synchronously with the same descriptor.
const open = promisify(fs.open);
const close = promisify(fs.close);
const fstat = promisify(fs.fstat);
const ftruncate = promisify(fs.ftruncate);
const fdatasync = promisify(fs.fdatasync);
const fsync = promisify(fs.fsync);
const read = promisify(fs.read);
const writev = promisify(fs.writev);

/** A directory of this machine's file system. */
export class NodeDisk implements Disk {
  #failure: unknown;
  readonly #writesThrough: boolean;

  /** @param writesThrough each write is durable when it ends: one call instead of a write and a sync */
  constructor(
    readonly directory: string,
    { writesThrough = false } = {},
  ) {
    this.#writesThrough = writesThrough && mayWriteThrough;
  }

  /** The directory is lost: from now on every write fails with this reason. */
  fail(reason: unknown): void {
    this.#failure ??= reason;
  }

  async list(): Promise<readonly string[]> {
    return fs.promises.readdir(this.directory);
  }

  async open(name: string, how: keyof typeof flags): Promise<DiskFile> {
    this.check();
    const writesThrough = this.#writesThrough && how !== 'read';
    const fd = await open(this.#path(name), writesThrough ? flags[how] | O_DSYNC : flags[how], 0o600);
    return new NodeFile(this, fd, writesThrough, how === 'create');
  }

  async unlink(name: string): Promise<void> {
    this.check();
    return fs.promises.unlink(this.#path(name));
  }

  async rename(from: string, to: string): Promise<void> {
    this.check();
    return fs.promises.rename(this.#path(from), this.#path(to));
  }

  async syncDir(): Promise<void> {
    // Windows cannot open directories, and makes their entries durable itself.
    if (process.platform === 'win32') return;
    const directory = await open(this.directory, O_RDONLY);
    try {
      await fsync(directory);
    } finally {
      await close(directory);
    }
  }

  async free(): Promise<number | undefined> {
    try {
      const { bavail, bsize } = await fs.promises.statfs(this.directory);
      return bavail * bsize;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOSYS') return undefined;
      throw error;
    }
  }

  /** @throws the error given to {@link fail} */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  #path(name: string): string {
    return join(this.directory, name);
  }
}

class NodeFile implements DiskFile {
  #isOpen = true;
  readonly #fd: number;
  /** Everything in the file is durable. */
  #isDurable: boolean;

  constructor(
    readonly disk: NodeDisk,
    fd: number,
    readonly writesThrough: boolean,
    isNew: boolean,
  ) {
    this.#fd = fd;
    this.#isDurable = isNew;
  }

  /** The file descriptor. @throws EBADF once it is closed: the system may have given the descriptor to another file */
  get fd(): number {
    if (this.#isOpen) return this.#fd;
    throw Object.assign(new Error('EBADF: the file is closed'), { code: 'EBADF' });
  }

  async size(): Promise<number> {
    return (await fstat(this.fd)).size;
  }

  sizeSync(): number {
    return fs.fstatSync(this.fd).size;
  }

  async write(chunks: readonly Uint8Array[], position: number): Promise<number> {
    this.disk.check();
    return (await writev(this.fd, chunks, position)).bytesWritten;
  }

  async sync(): Promise<void> {
    this.disk.check();
    if (this.writesThrough && this.#isDurable) return;
    await fdatasync(this.fd);
    this.#isDurable = true;
  }

  async truncate(size: number): Promise<void> {
    this.disk.check();
    this.#isDurable = false;
    return ftruncate(this.fd, size);
  }

  async read(into: Uint8Array, position: number): Promise<number> {
    let done = 0;
    while (done < into.length) {
      const { bytesRead } = await read(this.fd, into, done, into.length - done, position + done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return done;
  }

  readSync(into: Uint8Array, position: number): number {
    let done = 0;
    while (done < into.length) {
      const bytesRead = fs.readSync(this.fd, into, done, into.length - done, position + done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return done;
  }

  /** Closes the file. Idempotent. */
  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await close(this.#fd);
  }
}
