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
  /** Default: the first. */
  readonly after?: Cursor | undefined;
  /** So many at most. */
  readonly limit: number;
}

export interface Browsed {
  /** In the order of delivery. */
  readonly entries: readonly Entry[];
  /** {@link Cursor.section} of each. */
  readonly sections: readonly number[];
  /** Where to go on; undefined when these were the last. */
  readonly next: Cursor | undefined;
}

/** See {@link Queue.browse}. */
export function pageOf(ready: Ready, { after, limit }: Browse): Browsed {
  const entries: Entry[] = [];
  const sections: number[] = [];
  let next: Cursor | undefined;
  ready.each((entry, section) => {
    const previous = entries.at(-1);
    if (previous !== undefined && entries.length >= limit) {
      next = { section: sections.at(-1) as number, position: previous.position };
      return false;
    }
    entries.push(entry);
    sections.push(section);
    return true;
  }, after);
  return { entries, sections, next };
}
