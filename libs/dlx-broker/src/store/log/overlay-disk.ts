import type { Disk, DiskFile } from './disk.js';

/** Another disk as it is, and on top of it, in memory alone, whatever is changed: for those who only want to look. */
export class OverlayDisk implements Disk {
  /** By name; undefined when it was unlinked. */
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
  /** The whole content, once it was changed. */
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
    // Others may have it open, too; it goes with the process that looked.
  }

  async #resized(size: number): Promise<Buffer> {
    const bytes = Buffer.alloc(size);
    if (this.#bytes !== undefined) this.#bytes.copy(bytes);
    else await this.base?.read(bytes, 0);
    return (this.#bytes = bytes);
  }
}
