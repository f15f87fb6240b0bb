import { type FileHandle, open, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { AuditEntry, AuditSink } from './audit-log.js';

/** Bytes at the end of the file that are read at the start. */
const readBack = 1_048_576;

/** Characters that wait for the disk. */
const mostPending = 8_388_608;

/** The audit log cannot be kept where it should be. */
export class AuditFileError extends Error {
  override readonly name = 'AuditFileError';

  constructor(path: string, cause: NodeJS.ErrnoException) {
    const why = cause.code === 'ENOENT' ? `the directory ${dirname(resolve(path))} is not there` : cause.message;
    super(`the audit log cannot be kept in ${path}: ${why}`, { cause });
  }
}

/** The audit log on disk: a line of JSON for each entry, only ever appended to. */
export class AuditFile implements AuditSink {
  readonly earlier: readonly AuditEntry[];
  readonly #file: FileHandle;
  readonly #failed: (error: unknown) => void;
  #pending = '';
  #writing: Promise<void> | undefined;

  private constructor(file: FileHandle, earlier: readonly AuditEntry[], failed: (error: unknown) => void) {
    this.#file = file;
    this.earlier = earlier;
    this.#failed = failed;
  }

  /**
   * @param path a file, or a directory in which it is `audit.ndjson`; a new one is its owner's alone to read
   * @param failed hears that entries could not be written; they are tried again with the next
   * @throws AuditFileError
   */
  static async open(path: string, failed: (error: unknown) => void = () => {}): Promise<AuditFile> {
    try {
      return await AuditFile.#open(path, failed);
    } catch (error) {
      throw new AuditFileError(path, error as NodeJS.ErrnoException);
    }
  }

  static async #open(path: string, failed: (error: unknown) => void): Promise<AuditFile> {
    const isDirectory = await stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    );
    const file = await open(isDirectory ? join(path, 'audit.ndjson') : path, 'a+', 0o600);
    const earlier = await entriesAtEnd(file);
    const opened = new AuditFile(file, earlier.entries, failed);
    if (earlier.endsInLine) opened.#pending = '\n'; // a power cut left half a line: what follows begins on one of its own
    return opened;
  }

  append(entry: AuditEntry): void {
    // Of a disk that is full for long the memory must not get full, too.
    if (this.#pending.length < mostPending) this.#pending += `${JSON.stringify(entry)}\n`;
    this.#writing ??= this.#write();
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#write(); // what could not be written before gets one more try
    await this.#file.close();
  }

  /** What gathers during one write goes with the next. */
  async #write(): Promise<void> {
    while (this.#pending.length > 0) {
      const lines = this.#pending;
      this.#pending = '';
      try {
        await this.#file.appendFile(lines);
        await this.#file.datasync();
      } catch (error) {
        this.#pending = `\n${lines}${this.#pending}`; // perhaps half a line was written
        this.#failed(error);
        break;
      }
    }
    this.#writing = undefined;
  }
}

async function entriesAtEnd(file: FileHandle): Promise<{ entries: readonly AuditEntry[]; endsInLine: boolean }> {
  const { size } = await file.stat();
  const length = Math.min(size, readBack);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
  const lines = buffer.toString('utf8', 0, bytesRead).split('\n');
  const rest = lines.pop();
  if (size > length) lines.shift(); // it begins somewhere in a line
  const entries = lines.map(entryIn).filter((entry) => entry !== undefined);
  return { entries, endsInLine: rest !== undefined && rest !== '' };
}

/** Undefined for a line that somebody else wrote, or half of one. */
function entryIn(line: string): AuditEntry | undefined {
  try {
    const entry = JSON.parse(line) as Partial<AuditEntry> | null;
    return typeof entry?.number === 'number' && typeof entry.time === 'number' ? (entry as AuditEntry) : undefined;
  } catch {
    return undefined;
  }
}
