import { resolve } from 'node:path';
import { within } from '../core/within.js';

/** An application of this process that has a data directory open. */
export interface Occupant {
  /** True while the application is up and does not shut down. */
  isUp(): boolean;
  /** Resolves when no handler runs any more; at once if the application never started. */
  drained(): Promise<void>;
  /** Ends the broker and releases the directory. Idempotent. */
  close(): Promise<void>;
}

interface Occupied {
  readonly occupant: Occupant;
  readonly left: Promise<void>;
}

/**
 * How long hooks of other modules may take before an application that is neither up nor closed has failed, in
 * milliseconds.
 */
const timeout = 1_000;

/**
 * The applications of this process by their directories. The lock of a directory names the process, so the process has to know
 * which application has the lock. Applications share nothing else (decision 117).
 */
const occupied = new Map<string, Occupied>();

/** @returns a function to call when the application has released the directory */
export function occupy(directory: string, occupant: Occupant): () => void {
  const name = resolve(directory);
  let leave = (): void => undefined;
  const left = new Promise<void>((resolved) => (leave = resolved));
  const entry = { occupant, left };
  occupied.set(name, entry);
  return () => {
    if (occupied.get(name) === entry) occupied.delete(name);
    leave();
  };
}

/**
 * Waits until an application of this process that shuts down has released a directory. An application that is neither up nor
 * closed in time has failed or hangs, and is closed: Nest ends a start at the first hook that fails, and calls no further hook.
 * An application that is up keeps the directory.
 * @returns true if a failed application was closed
 */
export async function vacated(directory: string): Promise<boolean> {
  const entry = occupied.get(resolve(directory));
  if (entry === undefined || entry.occupant.isUp()) return false;
  const { occupant, left } = entry;
  await occupant.drained();
  await within(timeout, left);
  if (occupant.isUp() || occupied.get(resolve(directory)) !== entry) return false;
  await occupant.close();
  return true;
}
