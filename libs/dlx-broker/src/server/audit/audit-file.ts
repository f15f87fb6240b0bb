import { type FileHandle, open, rename, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { AuditEntry, AuditSink } from './audit-log.js';

/** The bytes at the end of the file that are read at the start. */
const readBack = 1_048_576;

/** The largest size of the file, in bytes. Then it is renamed to `audit.ndjson.1`, and replaces the file of that name. */
const defaultSize = 104_857_600;

/** The most characters that wait for the disk. */
const mostPending = 8_388_608;

/** The audit log cannot be written to its file. */
class AuditFileError extends Error {
  override readonly name = 'AuditFileError';

  constructor(path: string, cause: NodeJS.ErrnoException) {
    const why = cause.code === 'ENOENT' ? `the directory ${dirname(resolve(path))} is not there` : cause.message;
    super(`the audit log cannot be kept in ${path}: ${why}`, { cause });
  }
}

/** The audit log on disk: one line of JSON for each entry, append-only. */
export class AuditFile implements AuditSink {
  readonly earlier: readonly AuditEntry[];
  #file: FileHandle;
  #size: number;
  readonly #path: string;
  readonly #longest: number;
  readonly #failed: (error: unknown) => void;
  #pending = '';
  #writing: Promise<void> | undefined;

  private constructor(at: Opened, earlier: readonly AuditEntry[], failed: (error: unknown) => void) {
    this.#file = at.file;
    this.#size = at.size;
    this.#path = at.path;
    this.#longest = at.longest;
    this.earlier = earlier;
    this.#failed = failed;
  }

  /**
   * @param path a file, or a directory for `audit.ndjson`; only the owner can read a new file
   * @param longest the largest size in bytes; then the file becomes `audit.ndjson.1`, and a new one begins
   * @param failed called when entries could not be written; they are tried again with the next entry
   * @throws AuditFileError
   */
  static async open(
    path: string,
    failed: (error: unknown) => void = () => {},
    longest = defaultSize,
  ): Promise<AuditFile> {
    try {
      return await AuditFile.#open(path, failed, longest);
    } catch (error) {
      throw new AuditFileError(path, error as NodeJS.ErrnoException);
    }
  }

  static async #open(path: string, failed: (error: unknown) => void, longest: number): Promise<AuditFile> {
    const isDirectory = await stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    );
    const whole = isDirectory ? join(path, 'audit.ndjson') : path;
    const file = await open(whole, 'a+', 0o600);
    const { size } = await file.stat();
    const older = size < readBack ? await entriesBefore(whole) : [];
    const earlier = await entriesAtEnd(file);
    const opened = new AuditFile({ file, size, path: whole, longest }, [...older, ...earlier.entries], failed);
    if (earlier.endsInLine) opened.#pending = '\n'; // a power cut left half a line: the next entry begins on a new line
    return opened;
  }

  append(entry: AuditEntry): void {
    // A full disk must not fill the memory.
    if (this.#pending.length < mostPending) this.#pending += `${JSON.stringify(entry)}\n`;
    this.#writing ??= this.#write();
  }

  /** Resolves when all entries so far are written, or could not be. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  async close(): Promise<void> {
    await this.flush();
    await this.#write(); // entries that could not be written before are tried once more
    await this.#file.close();
  }

  /** Begins a new file when this one is long enough. One earlier file is kept. */
  async #turnOver(): Promise<void> {
    if (this.#size < this.#longest) return;
    // The file may be missing: a tool for log rotation moved it, or an earlier rename whose `open` failed.
    await rename(this.#path, `${this.#path}.1`).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    const old = this.#file;
    this.#file = await open(this.#path, 'a+', 0o600);
    this.#size = 0;
    await old.close();
  }

  /** Writes the pending entries. Entries that arrive meanwhile are written next. */
  async #write(): Promise<void> {
    while (this.#pending.length > 0) {
      const lines = this.#pending;
      this.#pending = '';
      try {
        await this.#turnOver();
        await this.#file.appendFile(lines);
        await this.#file.datasync();
        this.#size += Buffer.byteLength(lines);
      } catch (error) {
        this.#pending = `\n${lines}${this.#pending}`; // perhaps half a line was written
        this.#failed(error);
        break;
      }
    }
    this.#writing = undefined;
  }
}

/** The last entries of the earlier file; none if there is no such file. */
async function entriesBefore(path: string): Promise<readonly AuditEntry[]> {
  const file = await open(`${path}.1`, 'r').catch(() => undefined);
  if (file === undefined) return [];
  try {
    return (await entriesAtEnd(file)).entries;
  } finally {
    await file.close();
  }
}

interface Opened {
  readonly file: FileHandle;
  readonly size: number;
  readonly path: string;
  readonly longest: number;
}

async function entriesAtEnd(file: FileHandle): Promise<{ entries: readonly AuditEntry[]; endsInLine: boolean }> {
  const { size } = await file.stat();
  const length = Math.min(size, readBack);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
  const lines = buffer.toString('utf8', 0, bytesRead).split('\n');
  const rest = lines.pop();
  if (size > length) lines.shift(); // the read may have begun within a line
  const entries = lines.map(entryIn).filter((entry) => entry !== undefined);
  return { entries, endsInLine: rest !== undefined && rest !== '' };
}

/** Undefined for a foreign or incomplete line. */
function entryIn(line: string): AuditEntry | undefined {
  try {
    const entry = JSON.parse(line) as Partial<AuditEntry> | null;
    return typeof entry?.number === 'number' && typeof entry.time === 'number' ? (entry as AuditEntry) : undefined;
  } catch {
    return undefined;
  }
}
