import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../store-error.js';
import { cannotOpen, isFull } from './faults.js';
import { ownMark, type ProcessMark, signOf } from './process-mark.js';

/** A directory that is ours until we let go. */
export interface DirectoryLock {
  release(): void;
}

export interface LockOptions {
  /** The lock is gone, and the directory perhaps with it: from now on another process may write there. */
  readonly lost: (error: StoreError) => void;
  /** Milliseconds between two signs of life. */
  readonly beat?: number;
  /** How long, in milliseconds, a holder that cannot be seen is watched for a sign of life. */
  readonly watch?: number;
}

const suffix = '.lock';
/** A lock that is being written. */
const draft = '.lock.new';

/** Whether a file of that name is a lock, or was to become one. */
export const isLock = (name: string): boolean => name.endsWith(suffix) || name.endsWith(draft);

/**
 * Takes a directory for this process alone. Everybody first puts down a lock of their own and then looks at all others,
 * so of two that come together at least one sees the other; locks of dead processes are taken away. A holder that cannot be
 * seen, in another container or on another machine, is dead when its lock has not been touched for a while.
 * @throws StoreError `locked` when another process has it, `not-allowed` when nothing can be written there
 */
export async function lockDirectory(directory: string, options: LockOptions): Promise<DirectoryLock> {
  const { beat = 1_000, watch = 10_000 } = options;
  const mark = ownMark();
  // Two holders in one process have the same mark, and two containers may have the same process number.
  const name = `process-${mark.pid}-${randomBytes(4).toString('hex')}${suffix}`;
  const path = join(directory, name);
  putDown(path, mark);
  const heart = setInterval(() => touch(path, heart, options.lost), beat).unref();
  const release = (): void => {
    clearInterval(heart);
    rmSync(path, { force: true });
  };
  try {
    for (const other of readdirSync(directory)) {
      const holder = join(directory, other);
      if (other.endsWith(draft) && isOld(touchedAt(holder), watch)) rmSync(holder, { force: true });
      if (!other.endsWith(suffix) || other === name) continue;
      const held = readMark(holder);
      if (held === undefined) continue; // it was let go of this moment
      if (await lives(holder, held, mark, watch)) throw locked(directory, held, holder);
      rmSync(holder, { force: true });
    }
  } catch (error) {
    release();
    throw error;
  }
  return { release };
}

/**
 * Looks whether another process has a directory in which this one can put down no lock; for those who only read.
 * @param watch how long, in milliseconds, a holder that cannot be seen is watched for a sign of life
 * @throws StoreError `locked`
 */
export async function refuseHeld(directory: string, watch = 10_000): Promise<void> {
  const mark = ownMark();
  for (const other of readdirSync(directory)) {
    if (!other.endsWith(suffix)) continue;
    const holder = join(directory, other);
    const held = readMark(holder);
    if (held !== undefined && (await lives(holder, held, mark, watch))) throw locked(directory, held, holder);
  }
}

/** Under its name it is there with all it says, or not at all. */
function putDown(path: string, mark: ProcessMark): void {
  const written = path.replace(suffix, draft);
  try {
    writeFileSync(written, `${JSON.stringify(mark)}\n`, { mode: 0o600 });
    renameSync(written, path);
  } catch (error) {
    drop(written);
    if (isFull(error)) throw cannotOpen(error);
    const { message } = error as Error;
    const text = `the data directory cannot be written: ${message}; nothing in it was touched, so make it writable for this user, or name another one`;
    throw new StoreError('not-allowed', text, { cause: error });
  }
}

/** What a full disk had no room for is not left behind with nothing in it. */
function drop(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Where nothing can be written it is not there.
  }
}

function readMark(path: string): ProcessMark | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    // Of another user: what is left is to watch it for a sign of life.
    if (code === 'EACCES' || code === 'EPERM') return { pid: pidIn(path), boot: 'hidden' };
    throw error;
  }
  try {
    const mark = JSON.parse(text) as ProcessMark;
    if (Number.isSafeInteger(mark.pid) && mark.pid > 0) return mark;
  } catch {
    // Not ours, then.
  }
  const told = `${path} is no lock of a dlx-broker; nothing was touched, so look what it is, and remove it if it is not needed`;
  throw new StoreError('foreign-file', told);
}

const pidIn = (path: string): number => Number(/process-(\d+)-/.exec(path)?.[1] ?? 0);

async function lives(path: string, held: ProcessMark, own: ProcessMark, watch: number): Promise<boolean> {
  const sign = signOf(held, own);
  if (sign !== 'unseen') return sign === 'alive';
  const last = touchedAt(path);
  const end = performance.now() + watch;
  if (isOld(last, watch)) return false;
  while (performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, watch / 20));
    const now = touchedAt(path);
    if (now === undefined) return false;
    if (now !== last) return true;
  }
  return false;
}

/** Long ago, or gone. The clock may have been set, so what is far ahead is no sign of life either. */
const isOld = (time: number | undefined, watch: number): boolean =>
  time === undefined || Math.abs(Date.now() - time) > 6 * watch;

const touchedAt = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.mtimeMs;

function touch(path: string, heart: NodeJS.Timeout, lost: LockOptions['lost']): void {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return; // a full disk, say: the lock is still there
    clearInterval(heart);
    const text = `${path} is gone, and the data directory perhaps with it: nothing more is written there, for another process may have it`;
    lost(new StoreError('vanished', text, { cause: error }));
  }
}

function locked(directory: string, { pid }: ProcessMark, path: string): StoreError {
  const who = pid === process.pid ? 'this very process' : `process ${pid}`;
  const text = `the data directory ${directory} is in use by ${who}; stop that one first (its lock is ${path})`;
  return new StoreError('locked', text);
}
