import { readFileSync, readlinkSync } from 'node:fs';

/**
 * Identifies a process among all others: also among those that get its number later, those after a restart of the machine,
 * and those of other containers. Where the system does not give these facts, only the number is known.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** Identifies the run of the machine from its start to its end. */
  readonly boot?: string | undefined;
  /** The namespace of the process number. */
  readonly namespace?: string | undefined;
  /** When the process started, in ticks since the start of the machine. */
  readonly started?: string | undefined;
}

/** `unseen`: the process may live in another container, or on another machine. */
export type Liveness = 'alive' | 'dead' | 'unseen';

export function ownIdentity(): ProcessIdentity {
  const { pid } = process;
  const boot = orUndefined(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
  const namespace = orUndefined(() => readlinkSync('/proc/self/ns/pid'));
  return { pid, boot, namespace, started: statOf(pid)?.at(startField) };
}

/** Whether that process is alive, as far as this one can see. */
export function livenessOf(other: ProcessIdentity, own: ProcessIdentity): Liveness {
  if (other.boot !== own.boot || other.namespace !== own.namespace) return 'unseen';
  if (!exists(other.pid)) return 'dead';
  const line = statOf(other.pid);
  if (line !== undefined && hasEnded(line)) return 'dead';
  const started = line?.at(startField);
  if (started === undefined || other.started === undefined) return 'unseen';
  return started === other.started ? 'alive' : 'dead';
}

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
