import type { Cursor, Entry, Queue } from '../../engine/broker/index.js';
import type { Matches } from './filter.js';

/** The messages that are examined between two pauses. */
const stride = 64;

interface Scan {
  readonly queue: Queue;
  /** The test of messages. Default: all messages. */
  readonly matches: Matches | undefined;
  /** Where to begin. Default: the first message. */
  readonly after?: Cursor | undefined;
  /** The most messages to examine. */
  readonly most: number;
  /** Milliseconds since 1970, for ages. */
  readonly now: () => number;
  /** Called for each matching message; false ends the scan after it. */
  readonly found: (entry: Entry) => boolean;
}

export interface Scanned {
  /** The number of examined messages. */
  readonly scanned: number;
  /** Where the next scan begins; undefined at the end of the queue. */
  readonly next: Cursor | undefined;
}

/**
 * Reads the ready messages of a queue in order, and changes nothing. Yields wherever it may pause. It finds its place
 * again by the position of the last message, because messages come and go in a pause. A message that left is not found.
 */
export function* scan({ queue, matches, after, most, now, found }: Scan): Generator<void, Scanned, void> {
  let cursor = after;
  let scanned = 0;
  while (scanned < most && !queue.deleted) {
    const { entries, sections, next } = queue.browse({ after: cursor, limit: Math.min(stride, most - scanned) });
    const time = now();
    const left = leftSoFar(queue);
    for (const [index, seen] of entries.entries()) {
      // A pause may be as long as a slow client takes. What left in it is not shown any more.
      const entry = leftSoFar(queue) === left ? seen : queue.find(seen.position);
      if (entry === undefined) continue;
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

/**
 * A number that grows with each message that leaves a queue for good, and with some that come back. While it is the same, none has
 * left.
 */
const leftSoFar = ({ lastPosition, length, unacked, delayed }: Queue): number =>
  lastPosition - length - unacked - delayed;

/** A cursor as text. */
export const cursorText = (cursor: Cursor | undefined): string | null =>
  cursor === undefined ? null : `${cursor.section}-${cursor.position}`;

/** The cursor of a string; undefined if the text is invalid. */
export function cursorOf(text: string): Cursor | undefined {
  const [, section, position] = /^(\d{1,4})-(\d{1,16})$/.exec(text) ?? [];
  return section === undefined ? undefined : { section: Number(section), position: Number(position) };
}
