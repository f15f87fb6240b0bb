import { randomBytes } from 'node:crypto';
import {
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, uptime } from 'node:os';
import { join } from 'node:path';
import { cannotOpen, isFull, StoreError } from './faults.js';

/**
 * Identifies a process among all others: also among those that get its number later, those after a restart of the machine,
 * and those of other containers. Where the system does not give these facts (Windows, macOS), the name of the machine and the
 * number are known.
 */
interface ProcessIdentity {
  readonly pid: number;
  /** Identifies the run of the machine from its start to its end, or the machine. */
  readonly boot?: string | undefined;
  /** The namespace of the process number. */
  readonly namespace?: string | undefined;
  /** When the process started, in ticks since the start of the machine. */
  readonly started?: string | undefined;
}

/** `unseen`: the process may live in another container, or on another machine. */
type Liveness = 'alive' | 'dead' | 'unseen';

export function ownIdentity(): ProcessIdentity {
  const { pid } = process;
  const boot = orUndefined(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()) ?? hostname();
  const namespace = orUndefined(() => readlinkSync('/proc/self/ns/pid'));
  return { pid, boot, namespace, started: statOf(pid)?.at(startField) };
}

/**
 * Whether that process is alive, as far as this one can see. Where the start of a process is not known, one with that number counts as
 * alive: its event loop may be blocked, so that it gives no sign of life.
 * @param touched its last sign of life, in milliseconds since 1970
 */
export function livenessOf(other: ProcessIdentity, own: ProcessIdentity, touched = Date.now()): Liveness {
  if (other.boot !== own.boot || other.namespace !== own.namespace) return 'unseen';
  if (!exists(other.pid)) return 'dead';
  const line = statOf(other.pid);
  if (line !== undefined && hasEnded(line)) return 'dead';
  const started = line?.at(startField);
  if (started === undefined || other.started === undefined) return isBeforeBoot(touched) ? 'dead' : 'alive';
  return started === other.started ? 'alive' : 'dead';
}

/** Two seconds are the precision of some file systems. */
const isBeforeBoot = (time: number): boolean => time + 2_000 < Date.now() - uptime() * 1_000;

// Of the fields behind the name: the 3rd, the 20th and the 22nd of the line.
const stateField = 0;
const threadsField = 17;
const startField = 19;

/** The fields behind the name. The name is the second field, in brackets, and may have any character. */
function statOf(pid: number): readonly string[] | undefined {
  const line = orUndefined(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return line?.slice(line.lastIndexOf(')') + 2).split(' ');
}

/**
 * True for a process that was killed and for which its parent has not waited, as in a container without an init: its files
 * are closed. While it still has other threads, it may be writing.
 */
const hasEnded = (fields: readonly string[]): boolean =>
  /^[ZX]/.test(fields.at(stateField) ?? '') && Number(fields.at(threadsField)) <= 1;

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process of another user cannot be signalled, but exists.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function orUndefined<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}

/** A directory that no other process can lock. */
export interface DirectoryLock {
  release(): void;
}

interface LockOptions {
  /** Called when the lock file has vanished, perhaps with the directory: another process may write there now. */
  readonly lost: (error: StoreError) => void;
  /** Milliseconds between two heartbeats. */
  readonly beat?: number;
  /** How long, in milliseconds, the lock of an unseen process is watched for a heartbeat. */
  readonly watch?: number;
  /** Gives up the watch, and so the lock. */
  readonly signal?: AbortSignal | undefined;
}

const suffix = '.lock';
/** The suffix of a lock while it is being written. */
const draft = '.lock.new';

/** Whether a file of this name is a lock, or a draft of one. */
export const isLock = (name: string): boolean => name.endsWith(suffix) || name.endsWith(draft);

/**
 * Locks a directory for this process. Each process first writes its own lock and then reads all others, so of two
 * processes that come together at least one sees the other. Locks of dead processes are deleted. An unseen process, in
 * another container or on another machine, counts as dead when its lock has had no heartbeat for a while.
 * @throws StoreError `locked` when another process has it, `not-allowed` when nothing can be written there; the reason of the signal
 */
export async function lockDirectory(directory: string, options: LockOptions): Promise<DirectoryLock> {
  const { beat = 1_000, watch = 10_000, signal } = options;
  const own = ownIdentity();
  // Random, because two locks of one process have the same identity, and two containers may have the same process number.
  const name = `process-${own.pid}-${randomBytes(4).toString('hex')}${suffix}`;
  const path = join(directory, name);
  writeLock(path, own);
  const heartbeat = setInterval(() => touch(path, heartbeat, options.lost), beat).unref();
  const release = (): void => {
    clearInterval(heartbeat);
    rmSync(path, { force: true });
  };
  try {
    for (const other of readdirSync(directory)) {
      const file = join(directory, other);
      if (other.endsWith(draft) && isOld(touchedAt(file), watch)) rmSync(file, { force: true });
      if (!other.endsWith(suffix) || other === name) continue;
      const holder = readLock(file);
      if (holder === undefined) continue; // released just now
      if (await isAlive(file, holder, own, watch, signal)) throw locked(directory, holder, file);
      rmSync(file, { force: true });
    }
  } catch (error) {
    release();
    throw error;
  }
  return { release };
}

/**
 * Checks that no other process has locked a directory; for readers that cannot write a lock there.
 * @param watch how long, in milliseconds, the lock of an unseen process is watched for a heartbeat
 * @throws StoreError `locked`
 */
export async function refuseHeld(directory: string, watch = 10_000): Promise<void> {
  const own = ownIdentity();
  for (const other of readdirSync(directory)) {
    if (!other.endsWith(suffix)) continue;
    const file = join(directory, other);
    const holder = readLock(file);
    if (holder !== undefined && (await isAlive(file, holder, own, watch))) throw locked(directory, holder, file);
  }
}

/** Writes a draft and renames it: a file with the name of a lock is always complete. */
function writeLock(path: string, own: ProcessIdentity): void {
  const written = path.replace(suffix, draft);
  try {
    writeFileSync(written, `${JSON.stringify(own)}\n`, { mode: 0o600 });
    renameSync(written, path);
  } catch (error) {
    removeIfThere(written);
    if (isFull(error)) throw cannotOpen(error);
    const { message } = error as Error;
    const text = `the data directory cannot be written: ${message}; nothing in it was touched, so make it writable for this user, or name another one`;
    throw new StoreError('not-allowed', text, { cause: error });
  }
}

/** Removes the empty file that a full disk leaves behind. */
function removeIfThere(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // In a directory without the right to write there is no such file.
  }
}

function readLock(path: string): ProcessIdentity | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    // The lock of another user: only its heartbeat can be seen.
    if (code === 'EACCES' || code === 'EPERM') return { pid: pidIn(path), boot: 'hidden' };
    throw error;
  }
  try {
    const holder = JSON.parse(text) as ProcessIdentity;
    if (Number.isSafeInteger(holder.pid) && holder.pid > 0) return holder;
  } catch {
    // It is no lock of a broker.
  }
  const message = `${path} is no lock of a dlx-broker; nothing was touched, so look what it is, and remove it if it is not needed`;
  throw new StoreError('foreign-file', message);
}

const pidIn = (path: string): number => Number(/process-(\d+)-/.exec(path)?.[1] ?? 0);

async function isAlive(
  path: string,
  holder: ProcessIdentity,
  own: ProcessIdentity,
  watch: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const last = touchedAt(path);
  const liveness = livenessOf(holder, own, last);
  if (liveness !== 'unseen') return liveness === 'alive';
  const end = performance.now() + watch;
  if (isOld(last, watch)) return false;
  while (performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, watch / 20));
    signal?.throwIfAborted();
    const now = touchedAt(path);
    if (now === undefined) return false;
    if (now !== last) return true;
  }
  return false;
}

/** Whether the file is gone, or its last heartbeat is far away: in the past, or in the future after the clock was set. */
const isOld = (time: number | undefined, watch: number): boolean =>
  time === undefined || Math.abs(Date.now() - time) > 6 * watch;

const touchedAt = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.mtimeMs;

function touch(path: string, heartbeat: NodeJS.Timeout, lost: LockOptions['lost']): void {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return; // such as a full disk: the lock is still there
    clearInterval(heartbeat);
    const text = `${path} is gone, and the data directory perhaps with it: nothing more is written there, for another process may have it`;
    lost(new StoreError('vanished', text, { cause: error }));
  }
}

function locked(directory: string, { pid, started }: ProcessIdentity, path: string): StoreError {
  const [who, remedy] =
    pid === process.pid
      ? ['this very process', `close the broker that has it, or name another directory (its lock is ${path})`]
      : started === undefined
        ? [`process ${pid}`, `stop that process first, or, if it does not use this directory, delete the lock ${path}`]
        : [`process ${pid}`, `stop that process first (its lock is ${path})`];
  return new StoreError('locked', `the data directory ${directory} is in use by ${who}; ${remedy}`);
}
