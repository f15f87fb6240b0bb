import { readFileSync, readlinkSync } from 'node:fs';

/**
 * Tells one process from every other, also after its number was given to another one, after a restart of the machine, and
 * from those of another container. Where the system does not tell so much, the number alone has to do.
 */
export interface ProcessMark {
  readonly pid: number;
  /** One run of the machine. */
  readonly boot?: string | undefined;
  /** Where process numbers mean the same. */
  readonly namespace?: string | undefined;
  /** When it began, in ticks since the machine did. */
  readonly started?: string | undefined;
}

/** `unseen`: it may live where we cannot look. */
export type Sign = 'alive' | 'dead' | 'unseen';

export function ownMark(): ProcessMark {
  const { pid } = process;
  const boot = told(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  const namespace = told(() => readlinkSync('/proc/self/ns/pid'));
  return { pid, boot, namespace, started: statOf(pid)?.at(startField) };
}

/** What can be said about the process with that mark from where we are. */
export function signOf(mark: ProcessMark, own: ProcessMark): Sign {
  if (mark.boot !== own.boot || mark.namespace !== own.namespace) return 'unseen';
  if (!exists(mark.pid)) return 'dead';
  const line = statOf(mark.pid);
  if (line !== undefined && hasEnded(line)) return 'dead';
  const started = line?.at(startField);
  if (started === undefined || mark.started === undefined) return 'unseen';
  return started === mark.started ? 'alive' : 'dead';
}

// Of the fields behind the name: the 3rd, the 20th and the 22nd of the line.
const stateField = 0;
const threadsField = 17;
const startField = 19;

/** The second field of its line is its name in brackets, in which there may be anything; these are those behind it. */
function statOf(pid: number): readonly string[] | undefined {
  const line = told(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return line?.slice(line.lastIndexOf(')') + 2).split(' ');
}

/**
 * Killed, but its parent has not waited for it, as in a container without an init: it has no files any more. While
 * other threads of it are still at work, it may be writing.
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

function told<T>(ask: () => T): T | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}
