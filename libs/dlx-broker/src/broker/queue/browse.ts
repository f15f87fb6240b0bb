import type { Entry } from './entry.js';
import type { Cursor, Ready } from './ready-list.js';

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
