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
  return { pid, boot, namespace, started: startOf(pid) };
}

/** What can be said about the process with that mark from where we are. */
export function signOf(mark: ProcessMark, own: ProcessMark): Sign {
  if (mark.boot !== own.boot || mark.namespace !== own.namespace) return 'unseen';
  if (!exists(mark.pid)) return 'dead';
  const started = startOf(mark.pid);
  if (started === undefined || mark.started === undefined) return 'unseen';
  return started === mark.started ? 'alive' : 'dead';
}

/** The 22nd field of its line; the second is its name in brackets, in which there may be anything. */
function startOf(pid: number): string | undefined {
  const line = told(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return line
    ?.slice(line.lastIndexOf(')') + 2)
    .split(' ')
    .at(19);
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process may not be signalled, but is there.
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
