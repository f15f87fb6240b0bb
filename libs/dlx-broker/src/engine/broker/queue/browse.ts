import type { Entry } from './entry.js';
import type { Cursor, Ready } from './ready-list.js';

export interface Browse {
  /** Where to continue. Default: at the first message. */
  readonly after?: Cursor | undefined;
  /** Messages at most. */
  readonly limit: number;
}

export interface Browsed {
  /** In the order of delivery. */
  readonly entries: readonly Entry[];
  /** {@link Cursor.section} of each. */
  readonly sections: readonly number[];
  /** Where the next page continues; undefined after the last page. */
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
