import type { Cursor, Entry, Queue } from '../../broker/index.js';
import type { Matches } from './filter.js';

/** Messages looked at before others may have their turn. */
const stride = 64;

export interface Scan {
  readonly queue: Queue;
  /** Default: all. */
  readonly matches: Matches | undefined;
  /** Default: the first. */
  readonly after?: Cursor | undefined;
  /** Messages looked at, at most. */
  readonly most: number;
  /** Milliseconds since 1970, for ages. */
  readonly now: () => number;
  /** Called for each that matches; false ends the scan behind it. */
  readonly found: (entry: Entry) => boolean;
}

export interface Scanned {
  /** Messages looked at. */
  readonly scanned: number;
  /** Where to go on; undefined at the end of the queue. */
  readonly next: Cursor | undefined;
}

/**
 * Reads the ready messages of a queue in order, and changes nothing. It yields wherever it may pause. It finds its place again by
 * the position of the last message, so messages may come and go in a pause.
 */
export function* scan({ queue, matches, after, most, now, found }: Scan): Generator<void, Scanned, void> {
  let cursor = after;
  let scanned = 0;
  while (scanned < most && !queue.deleted) {
    const { entries, sections, next } = queue.browse({ after: cursor, limit: Math.min(stride, most - scanned) });
    const time = now();
    for (const [index, entry] of entries.entries()) {
      scanned++;
      if (matches !== undefined && !matches(entry.message, time)) continue;
      if (!found(entry)) {
        const here = { section: sections[index] as number, position: entry.position };
        return { scanned, next: index === entries.length - 1 ? next : here };
      }
      yield;
    }
    if (next === undefined) return { scanned, next };
    cursor = next;
    yield;
  }
  return { scanned, next: queue.deleted ? undefined : cursor };
}

/** A cursor as a text for the wire. */
export const cursorText = (cursor: Cursor | undefined): string | null =>
  cursor === undefined ? null : `${cursor.section}-${cursor.position}`;

/** Undefined when the text is none. */
export function cursorOf(text: string): Cursor | undefined {
  const [, section, position] = /^(\d{1,4})-(\d{1,16})$/.exec(text) ?? [];
  return section === undefined ? undefined : { section: Number(section), position: Number(position) };
}
