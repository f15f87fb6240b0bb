import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Broker, type Channel } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { int32, longstr } from '../../libs/dlx-broker/src/engine/message/index.js';
import { MemoryJournal } from '../durability/memory-journal.js';
import { CountedNames } from '../../libs/dlx-broker/src/nest/testing/counted-names.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { watchedBroker } from './watched.js';
import { amount } from '../amounts.js';

const queues = ['a', 'b'] as const;

/** Delays are few and small, so that several are due together. */
const commands = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant('publish' as const), delay: fc.integer({ min: -1, max: 6 }) }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), time: fc.integer({ min: 0, max: 4 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), pick: fc.nat(100) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('bind' as const), queue: fc.constantFrom(...queues) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('unbind' as const), queue: fc.constantFrom(...queues) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const) }) },
  ),
  { minLength: 5, maxLength: 40 },
);
type Command = (typeof commands extends fc.Arbitrary<infer List> ? List : never) extends readonly (infer One)[]
  ? One
  : never;

const patterns = { compile: () => ({ matches: () => true }) };
const silent = { deliver() {}, returned() {}, confirmed() {}, cancelled() {}, closed() {} };

/** Which messages lie where: held ones with their time, queues in their order. */
function placesOf(broker: Broker): string {
  const vhost = broker.virtualHost('/');
  const held: string[] = [];
  vhost.exchanges.get('later')?.delayed?.each(({ message, time, position }) => {
    held.push(`${String(time)} ${String(position).padStart(4, '0')} ${message.properties.messageId ?? ''}`);
  });
  const lines = [`held: ${held.sort().join(', ')}`];
  for (const name of queues) {
    const found: string[] = [];
    vhost.queues.get(name)?.peek(({ message }) => void found.push(message.properties.messageId ?? ''));
    lines.push(`${name}: ${found.join(', ')}`);
  }
  return lines.join('\n');
}

/** Crashes a copy of the broker at every commit: it must have what the broker has, and go on as the broker does. */
class DelaysUnderCrashes {
  readonly broker: Broker;
  crashes = 0;
  /** How many the exchange let go. */
  released = 0;
  readonly #journal = new MemoryJournal();
  readonly #clock = new ManualClock();
  readonly #channel: Channel;
  #published = 0;
  #isCrashing = false;

  constructor() {
    this.broker = watchedBroker(this.#clock, this.#journal, () => this.#crash());
    this.#channel = this.broker.connect().openChannel(silent);
    for (const name of queues) this.#channel.declareQueue(name, { durable: true });
    this.#declare();
  }

  run(command: Command): void {
    const channel = this.#channel;
    switch (command.do) {
      case 'publish': {
        const headers = new Map([['x-delay', int32(command.delay)]]);
        const messageId = String(++this.#published);
        return void channel.publish('later', '', { deliveryMode: 2, messageId, headers }, new Uint8Array(3));
      }
      case 'wait':
        return this.#clock.advance(command.time);
      case 'cancel':
        return void this.broker.virtualHost('/').cancelDelayed('later', String(command.pick % (this.#published + 1)));
      case 'bind':
        return channel.bindQueue(command.queue, 'later', '');
      case 'unbind':
        return channel.unbindQueue(command.queue, 'later', '');
      case 'delete':
        channel.deleteExchange('later');
        return this.#declare();
    }
  }

  /** A crash at the very end, and then time passes for both alike. */
  finish(): void {
    const [clock, reborn] = this.#reborn();
    clock.advance(10);
    this.#isCrashing = true;
    this.#clock.advance(10);
    expect(placesOf(reborn)).toBe(placesOf(this.broker));
    expect(placesOf(reborn)).toContain('held: \n');
  }

  #declare(): void {
    const args = new Map([['x-delayed-type', longstr('fanout')]]);
    this.#channel.declareExchange('later', { type: 'x-delayed-message', durable: true, arguments: args });
    this.#channel.bindQueue('a', 'later', '');
  }

  #crash(): void {
    if (this.#isCrashing) return;
    this.crashes++;
    const [, reborn] = this.#reborn();
    expect(placesOf(reborn)).toBe(placesOf(this.broker));
    this.released = this.broker.virtualHost('/').exchanges.get('later')?.counters.publishOut ?? 0;
  }

  #reborn(): [ManualClock, Broker] {
    const journal = this.#journal.fork();
    const clock = new ManualClock(this.#clock.now());
    const broker = new Broker({ clock, names: new CountedNames(), patterns, journal });
    journal.restore(broker);
    return [clock, broker];
  }
}

const runs = amount('PROPERTY_RUNS', 240, 4_000) / 8;

describe('leaving a delayed exchange and entering queues is one commit', () => {
  it('after a crash a message is in one place, and goes on when it was to (rule L1)', () => {
    let crashes = 0;
    let released = 0;
    fc.assert(
      fc.property(commands, (list) => {
        const program = new DelaysUnderCrashes();
        for (const command of list) program.run(command);
        program.finish();
        crashes += program.crashes;
        released += program.released;
      }),
      { numRuns: runs },
    );
    expect(crashes).toBeGreaterThan(runs * 5);
    expect(released).toBeGreaterThan(runs / 4);
  }, 120_000);
});
