import { Injectable } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import {
  Consume,
  DlxBroker,
  DlxBrokerModule,
  DlxContext,
  Ordered,
  Park,
  Prefetch,
  Retry,
  RetryLater,
} from 'dlx-broker';
import { DlxTesting } from 'dlx-broker/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EmbeddedBackend } from '../../libs/dlx-broker/src/backends/index.js';
import { Broker } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { getDlxConnectedToken, givenBackend } from '../../libs/dlx-broker/src/nest/index.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { amount } from '../amounts.js';
import { FakeDisk } from '../durability/fake-disk.js';
import { lent } from '../durability/harness.js';
import { Random } from '../fuzz/random.js';

/** What an attempt comes to. */
const outcomes = ['ok', 'fail', 'later', 'park', 'requeue', 'reject', 'ack'] as const;

interface Work {
  readonly id: string;
  readonly key: string | null;
  /** By attempt; the last one repeats. */
  readonly does: readonly (typeof outcomes)[number][];
  /** Turns of the event loop that each attempt takes. */
  readonly turns: number;
}

const keys = ['a', 'b', 'c', 'd', null];
const prefetch = 3;

/** Runs attempts as the messages say, and notes what was at work together. */
@Injectable()
class Worker {
  readonly running: (string | null)[] = [];
  readonly violations: string[] = [];
  readonly byHand: string[] = [];
  most = 0;

  @Consume('work')
  @Prefetch(prefetch)
  @Retry({ attempts: 3, backoff: ['1s', '5s'] })
  @Ordered({ key: (work: Work) => work.key, window: 8 })
  async work(@Payload() { id, key, does, turns }: Work, @Ctx() context: DlxContext): Promise<void> {
    if (key !== null && this.running.includes(key)) this.violations.push(`two of ${key} at work at ${id}`);
    this.running.push(key);
    this.most = Math.max(this.most, this.running.length);
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
    this.running.splice(this.running.indexOf(key), 1);
    const what = does[Math.min(context.attempt, does.length) - 1];
    if (what === 'fail') throw new Error('failed');
    if (what === 'later') throw new RetryLater('3s');
    if (what === 'park') throw new Park('parked');
    if (what === 'requeue') context.requeue();
    if (what === 'reject') context.reject();
    if (what !== 'ack') return;
    this.byHand.push(id);
    context.ack();
  }
}

const works = fc.array(
  fc.record({
    key: fc.constantFrom(...keys),
    does: fc.array(fc.constantFrom(...outcomes), { minLength: 1, maxLength: 3 }),
    turns: fc.nat(3),
    /** Milliseconds before the next message is published. */
    pause: fc.constantFrom(0, 0, 0, 500, 2_000),
  }),
  { minLength: 1, maxLength: 25 },
);

it('within a key messages succeed or are parked in the order in which they were published, and keys run side by side', async () => {
  let most = 0;
  await fc.assert(
    fc.asyncProperty(works, async (all) => {
      const dlx = await DlxTesting.create({ providers: [Worker] }, { logger: false });
      try {
        const worker = dlx.app.get(Worker);
        const done: string[] = [];
        dlx.app.get(DlxBroker).events.subscribe(({ kind, messageId }) => {
          if (kind === 'acked' || kind === 'parked') done.push(messageId!);
        });
        // A message that its handler acks itself has no event of its own: the ack takes its place.
        worker.byHand.push = (id) => done.push(id);
        for (const [n, { pause, ...work }] of all.entries()) {
          const id = `${n}`;
          await dlx.publish('work', { ...work, id }, { messageId: id });
          if (pause > 0) await dlx.advance(pause);
        }
        await dlx.advance('10m');
        expect(worker.violations).toEqual([]);
        expect(worker.most).toBeLessThanOrEqual(prefetch);
        most = Math.max(most, worker.most);
        expect([...done].sort()).toEqual(all.map((_, n) => `${n}`).sort()); // each once
        for (const key of keys) {
          if (key === null) continue;
          const ofKey = done.map(Number).filter((n) => all[n]?.key === key);
          expect(ofKey).toEqual(ofKey.toSorted((one, other) => one - other));
        }
        expect([dlx.queue('work').ready, dlx.queue('work').unacknowledged]).toEqual([0, 0]);
      } finally {
        await dlx.close();
      }
    }),
    { numRuns: amount('ORDERED_RUNS', 25, 500) },
  );
  expect(most).toBe(prefetch);
});

interface Entry {
  readonly key: string;
  readonly n: number;
}

const ignored = (): void => undefined;

/** What the handlers of one life of the process did. */
class Life {
  readonly done: Entry[] = [];
  begun = 0;
}

/** An application on a broker with a journal. @param works false: handlers of half of the messages never end, or fail */
async function live(disk: FakeDisk, works: boolean) {
  const life = new Life();
  @Injectable()
  class Handlers {
    @Consume('work')
    @Prefetch(10)
    @Retry({ attempts: 5, backoff: '20s' })
    @Ordered({ key: (entry: Entry) => entry.key, window: 50 })
    async work(@Payload() entry: Entry): Promise<void> {
      life.begun++;
      if (!works && entry.n === 2 && entry.key < 'e') throw new Error('waits in hand');
      if (!works && entry.n === 3) return new Promise(() => undefined);
      life.done.push(entry);
    }
  }
  disk.isManual = false;
  const clock = new ManualClock();
  const journal = await DiskJournal.open(disk, { memory: 1_000_000, now: () => clock.now() });
  const broker = new Broker({ ...lent(clock), journal });
  journal.restore(broker);
  const backend = new EmbeddedBackend(broker);
  const imports = [DlxBrokerModule.forRoot({ drainTimeout: 1 })];
  const module = await Test.createTestingModule({ imports, providers: [Handlers] })
    .setLogger({ log: ignored, warn: ignored, error: ignored })
    .overrideProvider(getDlxConnectedToken())
    .useValue(givenBackend(backend))
    .compile();
  const app = module.createNestApplication();
  await app.init();
  return { life, clock, broker, backend, app };
}

it('after a kill with 50 in hand the order of each key holds, and only those in hand come twice', async () => {
  const disk = new FakeDisk();
  const first = await live(disk, false);
  const names = [...'abcdefgh'];
  const all = Array.from({ length: 10 }, (_, n) => names.map((key) => ({ key, n }))).flat();
  await Promise.all(
    all.map(
      (entry) =>
        new Promise<void>((resolve, reject) =>
          first.backend.publish(
            {
              exchange: '',
              routingKey: 'work',
              properties: { deliveryMode: 2, contentType: 'application/json' },
              body: Buffer.from(JSON.stringify(entry)),
            },
            (failure) => (failure === undefined ? resolve() : reject(failure)),
          ),
        ),
    ),
  );
  const queue = first.broker.virtualHost('/').queues.get('work')!;
  await expect.poll(() => queue.unacked).toBe(50);
  const inHand = all.length - queue.length - first.life.done.length;
  expect([inHand, first.life.done.length]).toEqual([50, 20]);
  const cut = disk.afterPowerCut(new Random(7));
  const second = await live(cut, true);
  await expect.poll(() => second.broker.virtualHost('/').queues.get('work')).toMatchObject({ length: 0, unacked: 0 });
  const twice = second.life.done.filter(({ key, n }) =>
    first.life.done.some((entry) => entry.key === key && entry.n === n),
  );
  expect(twice.length).toBeLessThanOrEqual(50);
  for (const name of names) {
    const done = ({ life }: { readonly life: Life }): number[] =>
      life.done.filter(({ key }) => key === name).map(({ n }) => n);
    const [before, after] = [done(first), done(second)];
    expect(before).toEqual(before.toSorted((one, other) => one - other));
    const from = after[0]!;
    expect(from).toBeLessThanOrEqual(before.length); // nothing is left out
    expect(after).toEqual(Array.from({ length: 10 - from }, (_, at) => from + at)); // in order, each once
  }
  await second.app.close();
  first.broker.close();
});
