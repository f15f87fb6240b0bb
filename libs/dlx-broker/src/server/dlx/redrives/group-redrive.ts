import type { Entry, Settled } from '../../../engine/broker/index.js';
import type { RedriveCounts } from '../../redrive/index.js';
import { type Matches, matcherOf, type MessageFilter } from '../filter.js';
import type { UnreadableBodies } from '../payload.js';
import { Mover } from './mover.js';
import type { RedriveGroup, RedriveOrder } from './redrive-order.js';
import { Filtered, Picked } from './selection.js';

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
