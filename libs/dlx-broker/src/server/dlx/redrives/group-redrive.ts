import type { Cursor, Entry, Queue, Settled } from '../../../engine/broker/index.js';
import type { RedriveCounts } from '../../redrive/index.js';
import { matcherOf, type Matches, type MessageFilter, scan } from '../filter.js';
import type { UnreadableBodies } from '../message-json.js';
import { Mover } from './mover.js';
import type { RedriveGroup, RedriveOrder } from './redrive-order.js';

/** The messages of a redrive, a few at a time. Messages that arrive after its start are not among them. */
export interface Selection {
  /** @param most the most messages to examine */
  next(most: number, limit: number): readonly Entry[];
  /** The number of examined messages. */
  readonly scanned: number;
  readonly isDone: boolean;
}

/** The messages that match a filter, in the order of the queue. */
class Filtered implements Selection {
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

/** What the groups of a redrive have in common. */
export interface GroupParts {
  readonly order: RedriveOrder;
  readonly task: string;
  readonly settled: Settled;
  readonly unread: UnreadableBodies;
  readonly now: () => number;
}

/** One group of a redrive: its messages, and what became of them. */
export class GroupRedrive {
  readonly selection: Filtered | Picked;
  readonly mover: Mover;
  readonly readyAtStart: number;

  /**
   * @param earlier the groups that precede this one, whose messages it leaves to them
   * @param counts of this group
   */
  constructor(
    readonly group: RedriveGroup,
    { order, task, settled, unread, now }: GroupParts,
    earlier: readonly RedriveGroup[],
    readonly counts: RedriveCounts,
  ) {
    const { vhost, queue, filter = {}, ids } = group;
    const isTaken = takenBy(group, earlier, unread, now);
    this.readyAtStart = queue.length;
    this.selection = ids
      ? new Picked(queue, ids, isTaken)
      : new Filtered(queue, matcherOf(filter, unread), now, isTaken);
    this.mover = new Mover({ ...order, vhost, queue }, task, this.counts, settled);
  }

  /** The number of messages that may still be moved. */
  get missing(): number {
    return (this.group.limit ?? Infinity) - this.counts.moved;
  }

  get isDone(): boolean {
    return this.selection.isDone || this.missing <= 0;
  }
}

/** Whether a message belongs to an earlier group; undefined if none can have a message of this group. */
function takenBy(
  group: RedriveGroup,
  earlier: readonly RedriveGroup[],
  unread: UnreadableBodies,
  now: () => number,
): ((entry: Entry) => boolean) | undefined {
  const positions = new Set<number>();
  const tests: (Matches | undefined)[] = [];
  for (const other of earlier) {
    if (other.queue !== group.queue) continue;
    if (other.ids !== undefined) for (const position of other.ids) positions.add(position);
    else if (!areApart(group.filter, other.filter)) tests.push(matcherOf(other.filter ?? {}, unread));
  }
  if (positions.size === 0 && tests.length === 0) return undefined;
  return ({ position, message }) => {
    if (positions.has(position)) return true;
    const time = now();
    return tests.some((test) => test?.(message, time) ?? true);
  };
}

/** The parts of a filter that a message has one value of. */
const single = ['reason', 'queue', 'firstQueue', 'exchange', 'routingKey'] as const;

/** True if no message matches both filters, as with groups of the console. Few groups then need a second test. */
function areApart(one: MessageFilter | undefined, other: MessageFilter | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  if (single.some((part) => differ(one[part], other[part]))) return true;
  const [error = '', another = ''] = [one.error, other.error];
  if (!differ(one.error, other.error)) return false;
  // An error is a class, or a kind that begins with its class. An empty text selects messages without one.
  return error === '' || another === '' || !(error.startsWith(another) || another.startsWith(error));
}

const differ = (one: string | undefined, other: string | undefined): boolean =>
  one !== undefined && other !== undefined && one !== other;
