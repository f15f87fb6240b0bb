import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Broker, Channel } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { int32, longstr, messageOf } from '../../libs/dlx-broker/src/engine/message/index.js';
import { headersForRedrive } from '../../libs/dlx-broker/src/platform/history/index.js';
import { MemoryJournal } from '../durability/memory-journal.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { lossBetween, Reborn, remainsOf } from './remains.js';
import { watchedBroker } from './watched.js';
import { amount } from '../amounts.js';

/** `pick` is one of the messages that wait in a queue then. */
interface Command {
  readonly do: 'publish' | 'reject' | 'return' | 'redrive';
  readonly from: string;
  readonly to: string;
  readonly pick: number;
}

/** The last one takes two messages and then refuses; all reject into `dead`. */
const queues = ['a', 'b', 'dead', 'full'] as const;
const queue = fc.constantFrom(...queues);

const commands = fc.array(
  fc.record({
    do: fc.constantFrom<Command['do']>('publish', 'reject', 'return', 'redrive', 'redrive'),
    from: queue,
    to: fc.oneof(
      { weight: 8, arbitrary: queue as fc.Arbitrary<string> },
      { weight: 1, arbitrary: fc.constant('none') },
    ),
    pick: fc.nat(100),
  }),
  { minLength: 5, maxLength: 40 },
);

/** Crashes a copy of the broker at every commit: each message taken must be in one queue, and in one only. */
class RedrivesUnderCrashes {
  readonly journal = new MemoryJournal();
  readonly broker: Broker;
  readonly moved: string[] = [];
  crashes = 0;
  readonly #clock = new ManualClock();
  readonly #channel: Channel;
  readonly #taken = new Set<string>();
  #refused = false;

  constructor(type: 'classic' | 'quorum') {
    this.broker = watchedBroker(this.#clock, this.journal, () => this.#crash());
    this.#channel = this.broker.connect().openChannel({
      deliver() {},
      returned() {},
      confirmed: (_tag, _multiple, ok) => (this.#refused = !ok),
      cancelled() {},
      closed() {},
    });
    this.#channel.confirmSelect();
    for (const name of queues) {
      const args = new Map([
        ['x-queue-type', longstr(type)],
        ['x-dead-letter-exchange', longstr('')],
        ['x-dead-letter-routing-key', longstr('dead')],
      ]);
      const limits = new Map([
        ['x-max-length', int32(2)],
        ['x-overflow', longstr('reject-publish')],
      ]);
      this.#channel.declareQueue(name, {
        durable: true,
        arguments: new Map([...args, ...(name === 'full' ? limits : [])]),
      });
    }
  }

  run({ do: what, from, to, pick }: Command): void {
    const vhost = this.broker.virtualHost('/');
    if (what === 'publish') return this.#publish(from);
    if (what === 'redrive') {
      const there = vhost.queues.get(from)!.browse({ limit: 100 }).entries;
      const entry = there[pick % Math.max(1, there.length)];
      if (entry === undefined) return;
      const { message } = entry;
      const headers = headersForRedrive(message, 0);
      // Every other one is edited: another body, or the same one under other properties.
      const body = pick % 4 === 1 ? new Uint8Array(5) : message;
      const edited = pick % 2 === 1 ? messageOf('', '', { ...message.own, appId: 'e' }, body, undefined) : undefined;
      const address = { exchange: '', routingKey: to, headers, edited };
      this.moved.push(vhost.redrive(vhost.queues.get(from)!, entry, address).outcome);
      return;
    }
    const got = this.#channel.get(from);
    // A dead letter that a full queue refuses would be lost, but nothing dies into that one.
    if (got !== undefined) this.#channel.nack(got.deliveryTag, false, what === 'return');
  }

  #publish(to: string): void {
    const id = String(this.#taken.size + 1);
    this.#taken.add(id); // what a crash in the middle must have or not have is not known before
    this.#refused = false;
    this.#channel.publish('', to, { messageId: id, deliveryMode: 2 }, new Uint8Array(3));
    if (this.#refused) this.#taken.delete(id);
  }

  #crash(): void {
    this.crashes++;
    const reborn = new Reborn(this.journal.fork(), this.#clock.now());
    expect(lossBetween(remainsOf(this.broker), reborn.broker)).toBeUndefined();
    const found = new Map<string, string[]>();
    for (const [name, copies] of remainsOf(reborn.broker)) {
      for (const { text } of copies) {
        const id = /^#(\d+)/.exec(text)?.[1] as string;
        found.set(id, [...(found.get(id) ?? []), name]);
      }
    }
    for (const [id, places] of found) expect(places, `message ${id}`).toHaveLength(1);
    // The newest may be on its way to a queue that refuses it.
    const missing = [...this.#taken].filter((id) => !found.has(id));
    expect(missing.length).toBeLessThanOrEqual(1);
    if (missing.length === 1) expect(missing[0]).toBe([...this.#taken].at(-1));
  }
}

const runs = amount('PROPERTY_RUNS', 240, 4_000) / 8;

/** One redrive of each outcome: random programs fill the queue `full` too seldom to rely on it. */
const everyOutcome: readonly Command[] = [
  ...['full', 'full', 'full', 'a', 'a'].map((from): Command => ({ do: 'publish', from, to: 'dead', pick: 0 })),
  ...['full', 'none', 'b'].map((to): Command => ({ do: 'redrive', from: 'a', to, pick: 0 })),
];

describe('a redrive, of an edited message or not, is one commit', () => {
  it.each(['classic', 'quorum'] as const)(
    'after a crash a message of %s queues is in one place (rule L1)',
    (type) => {
      const outcomes = new Set<string>();
      let crashes = 0;
      fc.assert(
        fc.property(commands, (list) => {
          const program = new RedrivesUnderCrashes(type);
          for (const command of list) program.run(command);
          for (const outcome of program.moved) outcomes.add(outcome);
          crashes += program.crashes;
        }),
        { numRuns: runs, examples: [[[...everyOutcome]]] },
      );
      expect([...outcomes].sort()).toEqual(['moved', 'refused', 'unroutable']);
      expect(crashes).toBeGreaterThan(runs * 5);
    },
    120_000,
  );
});
