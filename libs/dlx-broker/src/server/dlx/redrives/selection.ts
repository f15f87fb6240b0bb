import type { Cursor, Entry, Queue } from '../../../engine/broker/index.js';
import type { Matches } from '../filter.js';
import { scan } from '../scan.js';

/** The messages of a redrive, a few at a time. Messages that arrive after its start are not among them. */
export interface Selection {
  /** @param most the most messages to examine */
  next(most: number, limit: number): readonly Entry[];
  /** The number of examined messages. */
  readonly scanned: number;
  readonly isDone: boolean;
}

/** The messages that match a filter, in the order of the queue. */
export class Filtered implements Selection {
  scanned = 0;
  isDone = false;
  #cursor: Cursor | undefined;
  readonly #last: number;
  /** True if every message is newer than those before it. */
  readonly #inOrder: boolean;

  /** @param isTaken whether a message belongs to another selection */
  constructor(
    readonly queue: Queue,
    readonly matches: Matches | undefined,
    readonly now: () => number,
    readonly isTaken?: (entry: Entry) => boolean,
  ) {
    this.#last = queue.lastPosition;
    this.#inOrder = queue.declared.type === 'classic' && queue.settings.maxPriority === undefined;
  }

  next(most: number, limit: number): readonly Entry[] {
    const entries: Entry[] = [];
    const { queue, matches, now } = this;
    let isPast = false;
    const found = (entry: Entry): boolean => {
      if (entry.position > this.#last) isPast = this.#inOrder;
      else if (this.isTaken?.(entry) !== true) entries.push(entry);
      return !isPast && entries.length < limit;
    };
    const work = scan({ queue, matches, after: this.#cursor, most, now, found });
    let step = work.next();
    while (step.done !== true) step = work.next();
    this.scanned += step.value.scanned;
    this.#cursor = step.value.next;
    this.isDone = isPast || this.#cursor === undefined;
    return entries;
  }
}

/** The messages of certain positions, in this order. */
export class Picked implements Selection {
  scanned = 0;
  /** The number of positions without a message. */
  missing = 0;
  readonly #positions: readonly number[];

  /** @param isTaken whether a message belongs to another selection */
  constructor(
    readonly queue: Queue,
    positions: readonly number[],
    readonly isTaken?: (entry: Entry) => boolean,
  ) {
    this.#positions = [...new Set(positions)].sort((one, other) => one - other);
  }

  get isDone(): boolean {
    return this.scanned >= this.#positions.length;
  }

  next(most: number, limit: number): readonly Entry[] {
    const entries: Entry[] = [];
    const upTo = Math.min(this.#positions.length, this.scanned + most);
    while (this.scanned < upTo && entries.length < limit) {
      const entry = this.queue.find(this.#positions[this.scanned++] as number);
      if (entry === undefined) this.missing++;
      else if (this.isTaken?.(entry) !== true) entries.push(entry);
    }
    return entries;
  }
}
