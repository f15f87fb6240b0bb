import { type Backend, type Browsing, need } from '../../backends/index.js';
import { deadSince } from '../../platform/history/index.js';
import { shownText } from '../../platform/index.js';
import type { EventLog } from '../log/event-log.js';
import { errorFacts, textOf } from '../core/failure-log.js';
import type { Plan } from '../core/plan.js';
import { within } from '../core/within.js';
import type { OldestDeadLetter } from './answer.js';

/** The longest time in milliseconds for which an answer waits for a server. Then it has what was known before. */
const patience = 5;

/** The milliseconds for which the result of the last look is given when no newer one is there. */
const validity = 60_000;

interface Found {
  readonly at: number;
  readonly queue: string | undefined;
  readonly since: number;
}

/**
 * Knows the oldest dead letter of some queues: they are looked into, and no message is delivered. A look that takes longer, as on a
 * server, goes on after the answer, and the next answer has its result.
 */
export class OldestLetter {
  #found: Found | undefined;
  #look: Promise<void> | undefined;
  #warned = false;

  constructor(
    private readonly backend: Backend,
    private readonly queues: () => Iterable<string>,
    private readonly log: EventLog,
  ) {}

  async get(): Promise<OldestDeadLetter | undefined> {
    this.#look ??= this.#refresh().finally(() => (this.#look = undefined));
    await within(patience, this.#look);
    const now = this.backend.clock.now();
    const found = this.#found;
    if (found?.queue === undefined || now - found.at > validity) return undefined;
    return { queue: found.queue, age: Math.max(0, Math.floor((now - found.since) / 1_000)) };
  }

  /** Looks at each queue. It never rejects. */
  async #refresh(): Promise<void> {
    let queue: string | undefined;
    let since = Infinity;
    const { kind } = this.backend.state;
    if (kind !== 'ready' && kind !== 'blocked') return;
    try {
      const browsing = need(this.backend, 'browsing');
      for (const name of this.queues()) {
        const time = await timeIn(browsing, name);
        if (time === undefined || time >= since) continue;
        since = time;
        queue = name;
      }
      this.#found = { at: this.backend.clock.now(), queue, since };
    } catch (error) {
      if (this.#warned) return;
      this.#warned = true;
      const text = `health does not tell the age of dead letters: ${textOf(error)}`;
      this.log.write('letterAgeUnknown', text, errorFacts(error));
    }
  }
}

/** Since when the oldest dead letter of a queue is dead. A queue that does not exist has none. */
async function timeIn(browsing: Browsing, queue: string): Promise<number | undefined> {
  try {
    return await browsing.oldest(queue, deadSince);
  } catch (error) {
    if ((error as Error).name === 'TopologyError') return undefined;
    throw error;
  }
}

/** The queues of a plan that get dead letters: parking lots, and what is bound to dead-letter exchanges; no wait queues. */
export function deadLetterQueues({ topology, consumers }: Plan): ReadonlySet<string> {
  const found = new Set<string>();
  const waits = new Set<string>();
  for (const { handlers } of consumers) {
    for (const { retry } of handlers) {
      if (retry === undefined) continue;
      for (const { name } of retry.topology.queues) if (name !== retry.parkingLot) waits.add(name);
    }
  }
  for (const { name, arguments: args } of topology.queues) {
    const { value: exchange } = args.get('x-dead-letter-exchange') ?? {};
    const { value: key } = args.get('x-dead-letter-routing-key') ?? {};
    if (exchange === undefined || waits.has(name)) continue;
    if (exchange === '' && typeof key === 'string') found.add(key);
    for (const { source, destination, destinationType } of topology.bindings) {
      if (source === exchange && destinationType === 'queue') found.add(destination);
    }
  }
  for (const wait of waits) found.delete(wait);
  for (const { handlers } of consumers) for (const { retry } of handlers) if (retry) found.add(retry.parkingLot);
  return found;
}

/** A queue's name and an age, for a reason. */
export const shownAge = ({ queue, age }: OldestDeadLetter): string =>
  `the oldest dead letter, in queue '${shownText(queue)}', is ${age} s old`;
