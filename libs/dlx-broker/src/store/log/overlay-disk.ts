import type { Disk, DiskFile } from './options.js';

/** A disk for readers: the changes stay in memory, and the disk below is not changed. */
export class OverlayDisk implements Disk {
  /** Changed files by name; undefined for an unlinked one. */
  readonly #changed = new Map<string, DiskFile | undefined>();

  constructor(readonly base: Disk) {}

  async list(): Promise<readonly string[]> {
    const names = new Set(await this.base.list());
    for (const [name, file] of this.#changed) {
      if (file === undefined) names.delete(name);
      else names.add(name);
    }
    return [...names];
  }

  async open(name: string, how: 'create' | 'write' | 'read'): Promise<DiskFile> {
    const changed = this.#changed.get(name);
    if (changed !== undefined) return changed;
    if (how !== 'create' && this.#changed.has(name)) throw new TypeError(`${name} was unlinked`);
    const file = new OverlayFile(how === 'create' ? undefined : await this.base.open(name, 'read'));
    if (how !== 'read') this.#changed.set(name, file);
    return file;
  }

  async unlink(name: string): Promise<void> {
    this.#changed.set(name, undefined);
  }

  async rename(from: string, to: string): Promise<void> {
    this.#changed.set(to, await this.open(from, 'write'));
    this.#changed.set(from, undefined);
  }

  async syncDir(): Promise<void> {}

  async free(): Promise<number | undefined> {
    return undefined;
  }
}

class OverlayFile implements DiskFile {
  /** The whole content of a changed file. */
  #bytes: Buffer | undefined;

  constructor(readonly base: DiskFile | undefined) {}

  async size(): Promise<number> {
    return this.#bytes?.length ?? (await this.base?.size()) ?? 0;
  }

  sizeSync(): number {
    return this.#bytes?.length ?? this.base?.sizeSync() ?? 0;
  }

  async write(chunks: readonly Uint8Array[], position: number): Promise<number> {
    const written = Buffer.concat(chunks);
    const bytes = await this.#resized(Math.max(await this.size(), position + written.length));
    written.copy(bytes, position);
    return written.length;
  }

  async sync(): Promise<void> {}

  async truncate(size: number): Promise<void> {
    await this.#resized(size);
  }

  async read(into: Uint8Array, position: number): Promise<number> {
    if (this.#bytes === undefined) return (await this.base?.read(into, position)) ?? 0;
    return this.readSync(into, position);
  }

  readSync(into: Uint8Array, position: number): number {
    if (this.#bytes === undefined) return this.base?.readSync(into, position) ?? 0;
    return position < this.#bytes.length ? this.#bytes.copy(into, 0, position) : 0;
  }

  async close(): Promise<void> {
    // Another user of this disk may have the file open. The memory is freed with the disk.
  }

  async #resized(size: number): Promise<Buffer> {
    const bytes = Buffer.alloc(size);
    if (this.#bytes !== undefined) this.#bytes.copy(bytes);
    else await this.base?.read(bytes, 0);
    return (this.#bytes = bytes);
  }
}
