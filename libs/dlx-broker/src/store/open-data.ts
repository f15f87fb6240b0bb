import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Broker, exchangeOfDelayed, type Settled } from '../engine/broker/index.js';
import { DiskJournal } from './log/disk-journal.js';
import { cannotOpen, notEdited, StoreError } from './log/faults.js';
import { hintNumber } from './log/hints.js';
import { type DirectoryLock, isLock, lockDirectory, refuseHeld } from './log/lock-file.js';
import { NodeDisk } from './log/node-disk.js';
import { type Damage, defaultDiskFree, type DiskJournalOptions } from './log/options.js';
import { OverlayDisk } from './log/overlay-disk.js';
import { draft, segmentNumber } from './log/segment-header.js';

/** The damage of a directory, as lines of text. */
export function damageLines({ places, queues, misplaced }: Damage): string[] {
  const lines = places.map(({ file, from, to, copy, isMissing, isEmpty }) => {
    if (isMissing === true)
      return `${file} is missing, and with it messages that are not counted below; restore the directory from a backup of a stopped broker or from a snapshot`;
    if (isEmpty === true)
      return `${file} has the name of a segment and is empty: it lost its content, or it is no file of the log; it is not used, and serve removes it`;
    if (hintNumber(file) !== undefined)
      return `${file} is not what was written; its segment was read instead, and nothing is lost by that`;
    const kept = copy === undefined ? '' : `; a copy is kept as ${copy}`;
    return `${file}: bytes ${from} to ${to} are not what was written${kept}`;
  });
  for (const { vhost, queue, lost } of queues) {
    const where = queue === undefined ? 'queues that are not known any more' : `${nameOf(queue)} in vhost '${vhost}'`;
    lines.push(`${where}: ${lost} messages are lost`);
  }
  if (misplaced > 0) lines.push(`${misplaced} messages are whole, but the queues they were in are not known any more`);
  return lines;
}

function nameOf(queue: string): string {
  const exchange = exchangeOfDelayed(queue);
  return exchange === undefined ? `queue '${queue}'` : `what exchange '${exchange}' delays`;
}

/** The options of a data directory. */
export type DataOptions = Pick<DiskJournalOptions, 'durability' | 'memory' | 'diskFree'>;

/** A data directory that is open. */
export interface Data {
  readonly journal: DiskJournal;
  /** Its absolute path. */
  readonly directory: string;
  /** It had no log before. */
  readonly isNew: boolean;
  /** Publishes are refused while fewer bytes of its disk are free. */
  readonly diskFreeLimit: number;
  /**
   * Restores the content of the log in a new broker, in turns of the event loop. From its end on a process that ends without
   * {@link close} has crashed: a client may have got messages.
   */
  restore(broker: Broker): Promise<void>;
  /** Flushes, and releases the lock. */
  close(): Promise<void>;
}

/**
 * Opens a data directory and locks it for this process. A missing directory is created, but not its parents, so that a disk
 * that is not mounted is noticed.
 * @throws StoreError when the directory cannot be used, or the reason of the signal in the options; then nothing in it has changed
 */
export async function openData(path: string, options: DiskJournalOptions = {}): Promise<Data> {
  const directory = resolve(path);
  const names = namesIn(directory, true);
  refuseForeign(directory, names);
  const disk = new NodeDisk(directory, { writesThrough: (options.durability ?? 'fsync') === 'fsync' });
  const isNew = !names.some(isSegment);
  let opened: DiskJournal | undefined;
  const lost = ({ cause }: StoreError): void => {
    disk.fail(cause);
    opened?.fail(cause);
  };
  const lock = await lockDirectory(directory, { lost, signal: options.signal });
  try {
    const journal = await DiskJournal.open(disk, { ...options, afterCrash: !isNew && names.includes(inUse) });
    opened = journal;
    let isNoted = false;
    const note = async (): Promise<void> => {
      await noteUse(disk, names);
      isNoted = true;
    };
    // Without a restore, the crash of an earlier process stays recorded.
    const closed = (): void => {
      if (isNoted) rmSync(join(directory, inUse), { force: true });
    };
    return {
      journal,
      directory,
      isNew,
      diskFreeLimit: options.diskFree ?? defaultDiskFree,
      restore: (broker) => journal.restoreInTurns(broker, note),
      close: closing(journal, lock, closed),
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * Opens a data directory for reading. Nothing in it is changed, damage is not repaired.
 * @throws StoreError also when the directory has no log
 */
export async function inspectData(path: string, options: DiskJournalOptions = {}): Promise<Data> {
  const directory = resolve(path);
  const names = namesIn(directory, false);
  refuseForeign(directory, names);
  if (!names.some(isSegment)) {
    throw new StoreError('foreign-file', `${directory} is empty: no dlx-broker has kept anything there`);
  }
  const lock = await lockToRead(directory);
  try {
    const afterCrash = names.includes(inUse);
    const disk = new OverlayDisk(new NodeDisk(directory));
    const journal = await DiskJournal.open(disk, { memory: 0, durability: 'none', ...options, afterCrash });
    const diskFreeLimit = options.diskFree ?? defaultDiskFree;
    const restore = (broker: Broker): Promise<void> => journal.restoreInTurns(broker);
    return { journal, directory, isNew: false, diskFreeLimit, restore, close: closing(journal, lock) };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

/** Changes a journal. @param onDurable called when the change is durable, or with an error */
type Edit = (journal: DiskJournal, onDurable: Settled) => boolean;

/**
 * Changes declarations in a data directory that no process has open, see {@link DiskJournal.edit}. Resolves when the change
 * is durable. A crash of the last process stays recorded. Does not wait while the disk is full.
 * @throws StoreError `disk-full` when the disk is full: then nothing has changed
 */
export async function editData(path: string, edit: Edit): Promise<boolean> {
  const directory = resolve(path);
  refuseForeign(directory, namesIn(directory, false));
  const lock = await lockDirectory(directory, { lost: () => undefined });
  try {
    const disk = new NodeDisk(directory, { writesThrough: true });
    const journal = await DiskJournal.open(disk, { memory: 0, diskFree: 0, slack: Infinity });
    let failure: Error | undefined;
    let isDone = false;
    try {
      isDone = edit(journal, (reason) => (failure = reason));
    } finally {
      // Writes the change first, unless the disk is full.
      await journal.close().catch((error: Error) => (failure ??= error));
    }
    if (failure !== undefined) throw notEdited(directory, failure);
    return isDone;
  } finally {
    lock.release();
  }
}

/** A file that exists from the end of a restore until the close, and after a crash. */
const inUse = 'in-use';

const isSegment = (name: string): boolean => segmentNumber(name) !== undefined;
const isHint = (name: string): boolean => hintNumber(name) !== undefined;
const withoutDraft = (name: string): string => (name.endsWith(draft) ? name.slice(0, -draft.length) : name);

function namesIn(directory: string, makesIt: boolean): readonly string[] {
  try {
    if (makesIt) mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw cannotOpen(error);
  }
  try {
    return readdirSync(directory);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const isFileItself = code === 'ENOTDIR' && isFile(directory);
    if (!makesIt && !isFileItself && ['ENOENT', 'ENOTDIR'].includes(code)) {
      throw new StoreError('vanished', `${directory} is not there. Nothing was read or written; check the path`, {
        cause: error,
      });
    }
    if (isFileItself) {
      const text = `${directory} is a file. Nothing was changed; name a directory, which is made if it is not there`;
      throw new StoreError('foreign-file', text, { cause: error });
    }
    throw cannotOpen(error);
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Whether a file is the broker's own. Such a file may be left from a process that ended during its start. */
const isOurs = (name: string): boolean =>
  name === inUse ||
  isLock(name) ||
  isHint(withoutDraft(name)) ||
  (name.endsWith(draft) && isSegment(withoutDraft(name)));

/** Refuses a directory that has other files and no log: the path is probably wrong. */
function refuseForeign(directory: string, names: readonly string[]): void {
  if (names.some(isSegment)) return;
  const foreign = names.filter((name) => !isOurs(name) && !name.startsWith('.') && name !== 'lost+found');
  if (foreign.length === 0) return;
  const some = foreign.slice(0, 3).join(', ');
  const text = `${directory} is no data directory: there is no log in it, but ${some}. Nothing was changed; name an empty directory, or restore the log from a backup`;
  throw new StoreError('foreign-file', text);
}

/** Locks a directory. Without the right to write there, only checks the locks of other processes. */
async function lockToRead(directory: string): Promise<DirectoryLock | undefined> {
  try {
    return await lockDirectory(directory, { lost: () => undefined });
  } catch (error) {
    if (!(error instanceof StoreError) || !['not-allowed', 'disk-full'].includes(error.code)) throw error;
    await refuseHeld(directory);
    return undefined;
  }
}

/** Records durably that the directory is in use. */
async function noteUse(disk: NodeDisk, names: readonly string[]): Promise<void> {
  try {
    if (!names.includes(inUse)) await (await disk.open(inUse, 'create')).close();
    await disk.syncDir();
  } catch (error) {
    throw cannotOpen(error);
  }
}

/** Releases the lock even when the disk has failed. @param closed called when everything is in the log */
const closing =
  (journal: DiskJournal, lock: DirectoryLock | undefined, closed = () => {}) =>
  async (): Promise<void> => {
    try {
      await journal.close();
      if (!journal.hasFailed && journal.isWritten) closed();
    } finally {
      lock?.release();
    }
  };
