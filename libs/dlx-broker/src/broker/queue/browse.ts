import type { Entry } from './entry.js';
import type { Ready } from './ready-list.js';

/**
 * A place in a queue from which to look on. It stays good whatever comes and goes; only of messages that were returned
 * to a quorum queue some may be seen twice when the one it names is gone.
 */
export interface Cursor {
  /** Twice the priority; one more for those that came back. */
  readonly section: number;
  /** {@link Entry.position} of the message before. */
  readonly position: number;
}

export interface Browse {
  /** From the first unless told. */
  readonly after?: Cursor | undefined;
  /** So many at most. */
  readonly limit: number;
}

export interface Browsed {
  /** In the order of delivery. */
  readonly entries: readonly Entry[];
  /** Where to go on; undefined when these were the last. */
  readonly next: Cursor | undefined;
}

/** See {@link Queue.browse}. */
export function pageOf(ready: Ready, { after, limit }: Browse): Browsed {
  const entries: Entry[] = [];
  let next: Cursor | undefined;
  let last = 0;
  ready.each((entry, section) => {
    const previous = entries.at(-1);
    if (previous !== undefined && entries.length >= limit) {
      next = { section: last, position: previous.position };
      return false;
    }
    entries.push(entry);
    last = section;
    return true;
  }, after);
  return { entries, next };
}
