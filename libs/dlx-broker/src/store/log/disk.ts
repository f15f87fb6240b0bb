/**
 * What the log asks of a directory: files that grow, and a sync that reports when a write is durable. Errors of the
 * system come as Node reports them, with a `code`.
 */
export interface Disk {
  /** Names of the files in it. */
  list(): Promise<readonly string[]>;
  /** `create` fails if there is one of that name; neither of the others makes one. */
  open(name: string, how: 'create' | 'write' | 'read'): Promise<DiskFile>;
  unlink(name: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** Until then a power cut may forget that files were created, renamed or unlinked. */
  syncDir(): Promise<void>;
  /** Bytes that may still be written; undefined when it is unknown. Fails when the directory is gone. */
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
  /** Until then a power cut may take away or garble what was written. What it says of an error is final: never try again. */
  sync(): Promise<void>;
  /** Shortens it. */
  truncate(size: number): Promise<void>;
  /** @returns bytes read: fewer than `into` takes only at the end of the file */
  read(into: Uint8Array, position: number): Promise<number>;
  /** The same, at once: for a body that is about to be delivered. */
  readSync(into: Uint8Array, position: number): number;
  /** Bytes, at once: to tell a file that was cut from a read that came short. */
  sizeSync(): number;
  close(): Promise<void>;
}
