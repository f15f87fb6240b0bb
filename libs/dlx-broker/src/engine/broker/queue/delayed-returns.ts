import { Timer, type Timers } from '../scheduler/timers.js';
import { CountedEntry, type Entry, type Return } from './entry.js';
import type { QueueSettings } from './arguments.js';
import type { Ready } from './ready-list.js';

/** The delay of a returned message, in milliseconds; 0 for none (rule W7). */
export function retryDelay(settings: QueueSettings, entry: Entry, how: Return): number {
  const { delayedRetryType: type, delayedRetryMin: min = 0, delayedRetryMax: max = min } = settings;
  if (type !== 'all' && type !== (how === 'return' ? 'returned' : 'failed')) return 0;
  return Math.min(min * Math.max(entry.failures, 1), max);
}

/**
 * Where a message returns in a quorum queue: to the back, unless there is a delivery limit or its channel was lost
 * (rule D5). Since 4.3 always to the front (rule W6).
 */
export const quorumReturn = ({ deliveryLimit }: QueueSettings, how: Return, countsFailuresApart: boolean) =>
  !countsFailuresApart && how !== 'lost' && deliveryLimit === undefined ? 'back' : 'front';

/** Messages that become ready at the same time. */
interface Batch {
  readonly timer: Timer;
  readonly entries: Entry[];
}

/** Messages that a quorum queue delays after their return: neither ready nor unacknowledged (rule W7). */
export class DelayedReturns {
  readonly #batches = new Map<number, Batch>();
  #count = 0;
  #bytes = 0;
  #isAbandoned = false;

  constructor(
    readonly timers: Timers,
    readonly sizeOf: Ready['sizeOf'],
    /** Called with the entries that are due, in the order of the queue. */
    readonly release: (entries: readonly Entry[]) => void,
  ) {}

  get count(): number {
    return this.#count;
  }

  /** Sum of the sizes of its messages. */
  get bytes(): number {
    return this.#bytes;
  }

  add(entry: Entry, time: number): void {
    if (entry instanceof CountedEntry) entry.delayedUntil = time;
    this.#count++;
    this.#bytes += this.sizeOf(entry.message);
    const batch = this.#batches.get(time);
    if (batch !== undefined) return void batch.entries.push(entry);
    const timer = new Timer(() => this.#due(time));
    this.#batches.set(time, { timer, entries: [entry] });
    this.timers.set(timer, time);
  }

  each(visit: (entry: Entry, time: number) => void): void {
    for (const [time, { entries }] of this.#batches) for (const entry of entries) visit(entry, time);
  }

  /** From now on no entry becomes ready: {@link shift} takes out the entries that are left. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  /** Takes out any entry. */
  shift(): Entry | undefined {
    for (const [time, { timer, entries }] of this.#batches) {
      const entry = entries.pop();
      if (entry !== undefined) {
        this.#count--;
        this.#bytes -= this.sizeOf(entry.message);
        return entry;
      }
      this.timers.unset(timer);
      this.#batches.delete(time);
    }
    return undefined;
  }

  clear(): void {
    for (const { timer } of this.#batches.values()) this.timers.unset(timer);
    this.#batches.clear();
    this.#count = 0;
    this.#bytes = 0;
  }

  #due(time: number): void {
    if (this.#isAbandoned) return;
    const { entries } = this.#batches.get(time) as Batch;
    this.#batches.delete(time);
    this.#count -= entries.length;
    for (const entry of entries) {
      this.#bytes -= this.sizeOf(entry.message);
      if (entry instanceof CountedEntry) entry.delayedUntil = 0;
    }
    this.release(entries.sort((one, other) => one.position - other.position));
  }
}
