import type { Queue, VirtualHost } from '../../engine/broker/index.js';
import { deathReasons } from '../../engine/message/index.js';
import { Rows } from '../http/json.js';
import { oldestIn } from './letter-facts.js';
import { redriveToJson } from './redrives/redrive-json.js';
import type { QueueRedrive } from './redrives/queue-redrive.js';

type Counters = readonly (readonly [string, (queue: Queue) => number])[];

/** The counters of a queue that only grow, by their names in JSON. */
export const growingCounters: Counters = [
  ['dead_letters_in', ({ counters }) => counters.deadLettersIn],
  ...deathReasons.map((reason) => [reason, ({ counters }: Queue) => counters[reason]] as const),
  ['redriven', ({ counters }) => counters.redriven],
  ['discarded', ({ counters }) => counters.discarded],
  ['lost', ({ counters }) => counters.lost],
];

/** The counters of a queue that a live event shows, by their names in JSON. */
const liveCounters: Counters = [
  ['messages_ready', (queue) => queue.length],
  ['messages_unacknowledged', (queue) => queue.unacked],
  ['messages_dlx', (queue) => queue.retained],
  ['consumers', (queue) => queue.consumers.count],
  ...growingCounters,
];

/** @param oldest since when its oldest dead letter is dead, in milliseconds since 1970 */
const liveRow = (vhost: string, queue: Queue, oldest: number | undefined): Record<string, unknown> => ({
  vhost,
  name: queue.name,
  ...Object.fromEntries(liveCounters.map(([name, of]) => [name, of(queue)])),
  oldest: oldest ?? null,
});

/** The queues of which a client wants the changes. Default: all. */
export interface LiveFilter {
  readonly vhost?: string;
  readonly queues?: ReadonlySet<string>;
}

/** The changes since the last event. */
interface LiveChange {
  readonly queues: Iterable<unknown>;
  /** The queues that were deleted. */
  readonly gone: readonly { readonly vhost: string; readonly name: string }[];
  readonly redrives: readonly unknown[];
}

interface Known {
  readonly vhost: string;
  /** The counters, and the time of the oldest dead letter. */
  readonly values: Float64Array;
  round: number;
}

/**
 * Remembers the last event of a client, and finds the changes since. Each change is in one event, however rarely the
 * client reads.
 */
export class LiveChanges {
  readonly #queues = new Map<Queue, Known>();
  readonly #redrives = new Map<string, string>();
  #round = 0;

  constructor(readonly filter: LiveFilter) {}

  /**
   * Finds the changes; undefined if nothing has changed. Rows are made when they are written: a queue that changes in
   * between is in the next event, too.
   */
  since(vhosts: readonly VirtualHost[], redrives: readonly QueueRedrive[]): LiveChange | undefined {
    this.#round++;
    const queues: { readonly vhost: string; readonly queue: Queue }[] = [];
    for (const vhost of vhosts) {
      if (this.filter.vhost !== undefined && this.filter.vhost !== vhost.name) continue;
      for (const queue of this.#wanted(vhost)) {
        if (this.#changed(vhost.name, queue, oldestIn(queue))) queues.push({ vhost: vhost.name, queue });
      }
    }
    const gone = [...this.#gone()];
    const moved = this.#moved(redrives, vhosts);
    if (queues.length + gone.length + moved.length === 0) return undefined;
    return {
      queues: new Rows(queues, ({ vhost, queue }) => liveRow(vhost, queue, oldestIn(queue))),
      gone,
      redrives: moved,
    };
  }

  #wanted(vhost: VirtualHost): Iterable<Queue> {
    const { queues } = this.filter;
    if (queues === undefined) return vhost.queues.values();
    return [...queues].map((name) => vhost.queues.get(name)).filter((queue) => queue !== undefined);
  }

  #changed(vhost: string, queue: Queue, oldest = NaN): boolean {
    let known = this.#queues.get(queue);
    let changed = known === undefined;
    if (known === undefined) {
      known = { vhost, values: new Float64Array(liveCounters.length + 1), round: 0 };
      this.#queues.set(queue, known);
    }
    known.round = this.#round;
    for (let index = 0; index <= liveCounters.length; index++) {
      const value = liveCounters[index]?.[1](queue) ?? oldest;
      if (Object.is(known.values[index], value)) continue;
      known.values[index] = value;
      changed = true;
    }
    return changed;
  }

  *#gone(): Iterable<{ vhost: string; name: string }> {
    for (const [queue, { vhost, round }] of this.#queues) {
      if (round === this.#round) continue;
      this.#queues.delete(queue);
      yield { vhost, name: queue.name };
    }
  }

  #moved(redrives: readonly QueueRedrive[], vhosts: readonly VirtualHost[]): readonly unknown[] {
    const moved: unknown[] = [];
    for (const task of redrives) {
      const { counts, state, id } = task;
      if (!task.isWithin(vhosts)) continue;
      const now = [state, counts.moved, counts.left, counts.gone, counts.returned, task.scanned].join();
      if (this.#redrives.get(id) === now) continue;
      this.#redrives.set(id, now);
      moved.push(redriveToJson(task));
    }
    this.#forget(redrives);
    return moved;
  }

  #forget(redrives: readonly QueueRedrive[]): void {
    if (this.#redrives.size <= redrives.length) return;
    const ids = new Set(redrives.map(({ id }) => id));
    for (const id of this.#redrives.keys()) if (!ids.has(id)) this.#redrives.delete(id);
  }
}
