import { policyPatterns } from '../../libs/dlx-broker/src/platform/patterns.js';
import { Broker, type Journal, type ProfileName } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { PolicyError } from '../../libs/dlx-broker/src/engine/broker/policy/policy.js';
import type { PendingLetter } from '../../libs/dlx-broker/src/engine/broker/queue/dead-lettering.js';
import { type Entry, entryOf } from '../../libs/dlx-broker/src/engine/broker/queue/entry.js';
import type { Queue } from '../../libs/dlx-broker/src/engine/broker/queue/queue.js';
import { CountedNames } from '../../libs/dlx-broker/src/nest/testing/counted-names.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import type { TestChannel, TestPolicy } from '../contract/driver.js';
import { EngineChannel } from '../contract/engine-driver.js';
import { AdministrationFailure } from '../contract/failure.js';
import { plainNames } from '../contract/plain-names.js';
import type { VirtualGround } from './rehearsal.js';

/** Something that happened inside, which no client sees: the generator judges by it what is a race. */
export interface Event {
  readonly kind: 'enqueued' | 'refused' | 'returned' | 'died' | 'settled';
  readonly time: number;
  readonly queue: Queue;
  readonly entry: Entry;
  /** Of a death. */
  readonly letter?: PendingLetter;
}

/** The engine in virtual time, with the events inside it. */
export class EngineGround implements VirtualGround {
  readonly clock = new ManualClock();
  readonly begun = this.clock.now();
  /** The events since the list was emptied. */
  readonly events: Event[] = [];
  readonly #broker: Broker;
  readonly #vhost: ReturnType<Broker['addVirtualHost']>;
  readonly #connection: ReturnType<Broker['connect']>;

  constructor(rabbitmq: ProfileName) {
    const { clock } = this;
    const names = new CountedNames();
    this.#broker = new Broker({ clock, names, patterns: policyPatterns, journal: this.#journal(), rabbitmq });
    this.#vhost = this.#broker.addVirtualHost('V');
    this.#broker.access.setUser('guest');
    this.#broker.access.setPermissions('guest', 'V', { configure: '.*', write: '.*', read: '.*' });
    this.#connection = this.#broker.connect({ vhost: 'V', user: 'guest' });
    const { queues } = this.#vhost;
    const set = queues.set.bind(queues);
    queues.set = (name, queue) => {
      this.#watch(queue);
      return set(name, queue);
    };
    const { dead } = this.#vhost;
    const push = dead.push.bind(dead);
    dead.push = (letter) => {
      this.#note('died', letter.queue as Queue, letter.entry, letter);
      push(letter);
    };
  }

  get queues(): ReadonlyMap<string, Queue> {
    return this.#vhost.queues;
  }

  now(): number {
    return this.clock.now();
  }

  plain(text: string): string {
    return plainNames(text);
  }

  async channel(): Promise<TestChannel> {
    return new EngineChannel(this.#connection);
  }

  async setPolicy(name: string, operator: boolean, policy: TestPolicy): Promise<void> {
    administer(() => (operator ? this.#vhost.setOperatorPolicy(name, policy) : this.#vhost.setPolicy(name, policy)));
  }

  async clearPolicy(name: string, operator: boolean): Promise<void> {
    administer(() => (operator ? this.#vhost.deleteOperatorPolicy(name) : this.#vhost.deletePolicy(name)));
  }

  #journal(): Journal {
    return {
      sequence: 0,
      refuses: () => false,
      changed: () => undefined,
      // No exchange delays anything here, so that they are queues.
      settled: (queue, entry) => this.#note('settled', queue as Queue, entry),
      delivered: () => undefined,
      enqueued: (queue, entry) => this.#note('enqueued', queue as Queue, entry),
      returned: (queue, entry) => this.#note('returned', queue as Queue, entry),
      died: () => undefined,
      commit: (synced) => synced?.(),
    };
  }

  /** The journal gets no message that a full queue refuses. */
  #watch(queue: Queue): void {
    const enqueue = queue.enqueue.bind(queue);
    queue.enqueue = (message, now, letter) => {
      const isTaken = enqueue(message, now, letter);
      if (!isTaken) this.#note('refused', queue, entryOf(message, 0, 0, false));
      return isTaken;
    };
  }

  #note(kind: Event['kind'], queue: Queue, entry: Entry, letter?: PendingLetter): void {
    this.events.push({ kind, time: this.clock.now(), queue, entry, ...(letter === undefined ? {} : { letter }) });
  }
}

/** The status of an error, as in the management API: 400 for a refusal, 404 for a missing object. */
export function administer(change: () => unknown): void {
  try {
    if (change() === false) throw new AdministrationFailure(404, 'Not Found');
  } catch (error) {
    if (error instanceof PolicyError) throw new AdministrationFailure(400, error.message.trimEnd());
    throw error;
  }
}
