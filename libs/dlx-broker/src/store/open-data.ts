import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Settled } from '../broker/index.js';
import { DiskJournal } from './log/disk-journal.js';
import { cannotOpen, notEdited } from './log/faults.js';
import { type DirectoryLock, isLock, lockDirectory, refuseHeld } from './log/lock-file.js';
import { NodeDisk } from './log/node-disk.js';
import { defaultDiskFree, type DiskJournalOptions } from './log/options.js';
import { OverlayDisk } from './log/overlay-disk.js';
import { draft, segmentNumber } from './log/segment-header.js';
import { StoreError } from './store-error.js';

/** What may be chosen about a data directory. */
export type DataOptions = Pick<DiskJournalOptions, 'durability' | 'memory' | 'diskFree'>;

/** A data directory that is open. */
export interface Data {
  readonly journal: DiskJournal;
  /** Its path, whole. */
  readonly directory: string;
  /** There was nothing in it. */
  readonly isNew: boolean;
  /** Bytes of its disk that have to stay free for publishers to go on. */
  readonly diskFreeLimit: number;
  /** Flushes, and lets others have it. */
  close(): Promise<void>;
}

/**
 * Opens a data directory for this process alone. It is made if it is not there, but nothing above it: a disk that is not
 * mounted is better noticed.
 * @throws StoreError when it cannot be had; nothing in it has changed then
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
  const lock = await lockDirectory(directory, { lost });
  try {
    const journal = await DiskJournal.open(disk, { ...options, afterCrash: !isNew && names.includes(inUse) });
    opened = journal;
    await note(disk, names);
    const close = closing(journal, lock, () => rmSync(join(directory, inUse), { force: true }));
    return { journal, directory, isNew, diskFreeLimit: options.diskFree ?? defaultDiskFree, close };
  } catch (error) {
    await opened?.close().catch(() => undefined); // why it cannot be had counts
    lock.release();
    throw error;
  }
}

/**
 * Opens a data directory to look at, and changes nothing in it, not even what is damaged.
 * @throws StoreError also when there is nothing to look at
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
    return { journal, directory, isNew: false, diskFreeLimit, close: closing(journal, lock) };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

/** Changes a journal. @param settled to be called when that is safe, or with the reason why it is not done */
export type Edit = (journal: DiskJournal, settled: Settled) => boolean;

/**
 * Changes what is declared in a data directory that no process has, see {@link DiskJournal.edit}; safe when it resolves.
 * Whether its last process died in it is remembered. A full disk is not waited for.
 * @throws StoreError `disk-full` when there was no room: nothing has changed then
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
      // What is committed is written first, unless the disk is full.
      await journal.close().catch((error: Error) => (failure ??= error));
    }
    if (failure !== undefined) throw notEdited(directory, failure);
    return isDone;
  } finally {
    lock.release();
  }
}

/** There while a process has the directory, and after one that died. */
const inUse = 'in-use';

const isSegment = (name: string): boolean => segmentNumber(name) !== undefined;

function namesIn(directory: string, makesIt: boolean): readonly string[] {
  try {
    if (makesIt) mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw cannotOpen(error);
  }
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR' && isFile(directory)) {
      const text = `${directory} is a file. Nothing was changed; name a directory, which is made if it is not there`;
      throw new StoreError('foreign-file', text, { cause: error });
    }
    throw cannotOpen(error);
  }
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/** Also what a process left that ended while it began. */
const isOurs = (name: string): boolean =>
  name === inUse || isLock(name) || (name.endsWith(draft) && isSegment(name.slice(0, -draft.length)));

/** Without a log, and full of other things: it was certainly not meant. */
function refuseForeign(directory: string, names: readonly string[]): void {
  if (names.some(isSegment)) return;
  const foreign = names.filter((name) => !isOurs(name) && !name.startsWith('.') && name !== 'lost+found');
  if (foreign.length === 0) return;
  const some = foreign.slice(0, 3).join(', ');
  const text = `${directory} is no data directory: there is no log in it, but ${some}. Nothing was changed; name an empty directory, or restore the log from a backup`;
  throw new StoreError('foreign-file', text);
}

/** Where this process can write nothing it has no lock, and looks only for those of others. */
async function lockToRead(directory: string): Promise<DirectoryLock | undefined> {
  try {
    return await lockDirectory(directory, { lost: () => undefined });
  } catch (error) {
    if (!(error instanceof StoreError) || !['not-allowed', 'disk-full'].includes(error.code)) throw error;
    await refuseHeld(directory);
    return undefined;
  }
}

/** Before the first message is handed out it is safe that it may have been. */
async function note(disk: NodeDisk, names: readonly string[]): Promise<void> {
  try {
    if (!names.includes(inUse)) await (await disk.open(inUse, 'create')).close();
    await disk.syncDir();
  } catch (error) {
    throw cannotOpen(error);
  }
}

/** The lock is let go also when the disk has failed. @param closed everything is on the disk */
const closing =
  (journal: DiskJournal, lock: DirectoryLock | undefined, closed = () => {}) =>
  async (): Promise<void> => {
    try {
      await journal.close();
      if (!journal.hasFailed) closed();
    } finally {
      lock?.release();
    }
  };
