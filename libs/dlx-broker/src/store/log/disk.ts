/**
 * The directory of a log: files that grow, and a sync that reports when a write is durable. Errors of the system have a
 * `code`, as in Node.
 */
export interface Disk {
  /** Names of the files in it. */
  list(): Promise<readonly string[]>;
  /** `create` fails if the file exists; `write` and `read` fail if it does not. */
  open(name: string, how: 'create' | 'write' | 'read'): Promise<DiskFile>;
  unlink(name: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Makes created, renamed and unlinked files durable. */
  syncDir(): Promise<void>;
  /** Bytes that may still be written; undefined when the system does not say. Fails when the directory is gone. */
  free(): Promise<number | undefined>;
}

export interface DiskFile {
  /** Bytes, when asked. */
  size(): Promise<number>;
  /**
   * Writes the chunks one after the other.
   * @returns bytes written: fewer than asked for when the disk is full
   */
  write(chunks: readonly Uint8Array[], position: number): Promise<number>;
  /** Makes the writes durable. After an error it must not be tried again: the system may have dropped the writes. */
  sync(): Promise<void>;
  /** Shortens it. */
  truncate(size: number): Promise<void>;
  /** @returns bytes read: fewer than `into` takes only at the end of the file */
  read(into: Uint8Array, position: number): Promise<number>;
  /** The same, synchronously: for a body that is about to be delivered. */
  readSync(into: Uint8Array, position: number): number;
  /** The bytes of the file, synchronously: tells a truncated file from a short read. */
  sizeSync(): number;
  close(): Promise<void>;
}
