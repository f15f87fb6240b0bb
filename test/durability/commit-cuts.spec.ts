import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import {
  type Backend,
  type BackendDelivery,
  EmbeddedBackend,
  type Publication,
} from '../../libs/dlx-broker/src/backends/index.js';
import type { Done } from '../../libs/dlx-broker/src/backends/backend.js';
import { Broker, silentOutbox } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { int64, longstr } from '../../libs/dlx-broker/src/engine/message/index.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { Random } from '../fuzz/random.js';
import { FakeDisk } from './fake-disk.js';
import { lent } from './harness.js';

const ids = ['a', 'b', 'c', 'd'];
const emitted = ['next', 'quorum', 'later', 'second'];

async function openOn(disk: FakeDisk) {
  const clock = new ManualClock();
  const journal = await DiskJournal.open(disk, { segment: 16_384, diskFree: 0, now: () => clock.now() });
  const broker = new Broker({ ...lent(clock), journal });
  journal.restore(broker);
  return { broker, clock };
}

/** The ids of the messages in a queue of a broker, with how often each is there. */
function idsIn(broker: Broker, queue: string): readonly string[] {
  const channel = broker.connect().openChannel(silentOutbox);
  const found: string[] = [];
  for (let got = channel.get(queue); got !== undefined; got = channel.get(queue)) {
    found.push(got.message.properties.messageId ?? '');
  }
  return found;
}

const to = (id: string, routingKey: string, more: Partial<Publication> = {}): Publication => ({
  exchange: '',
  routingKey,
  properties: { deliveryMode: 2, messageId: id },
  body: Buffer.from(id.repeat(2_000)),
  mandatory: true,
  ...more,
});

const idOf = ({ message }: BackendDelivery): string => message.properties.messageId!;

/** The messages of one handled message: to queues of both kinds, one that is delayed, and one that goes to two queues. */
const messagesOf = (id: string): readonly Publication[] => [
  to(id, 'next'),
  to(id, 'quorum'),
  to(id, '', {
    exchange: 'delayed',
    mandatory: false,
    properties: { deliveryMode: 2, messageId: id, headers: new Map([['x-delay', int64(60_000)]]) },
  }),
  to(id, '', { exchange: 'both' }),
];

/** Commits each message of a queue with four others, while the power fails at each step of the disk. */
async function cutsOf(seed: number, commit: (delivery: BackendDelivery, backend: Backend, done: Done) => void) {
  const random = new Random(seed);
  const disk = new FakeDisk();
  disk.isManual = false;
  const { broker } = await openOn(disk);
  const channel = broker.connect().openChannel(silentOutbox);
  for (const queue of ['work', 'next', 'later', 'second']) channel.declareQueue(queue, { durable: true });
  channel.declareQueue('quorum', { durable: true, arguments: new Map([['x-queue-type', longstr('quorum')]]) });
  const type = new Map([['x-delayed-type', longstr('fanout')]]);
  channel.declareExchange('delayed', { type: 'x-delayed-message', durable: true, arguments: type });
  channel.bindQueue('later', 'delayed', '');
  channel.declareExchange('both', { type: 'fanout', durable: true });
  for (const queue of ['next', 'second']) channel.bindQueue(queue, 'both', '');
  for (const id of ids) channel.publish('', 'work', { deliveryMode: 2, messageId: id }, Buffer.from(id));
  for (let turn = 0; turn < 50; turn++) await setImmediate();

  const backend = new EmbeddedBackend(broker);
  const cuts: { readonly disk: FakeDisk; readonly done: readonly string[] }[] = [];
  const done: string[] = [];
  disk.isManual = true;
  disk.onStep = () => cuts.push({ disk: disk.afterPowerCut(random), done: [...done] });
  backend.consume('work', { prefetch: 1 }, (delivery) => {
    commit(delivery, backend, (failure) => {
      expect(failure).toBeUndefined();
      done.push(idOf(delivery));
    });
  });
  for (let step = 0; step < 400 && done.length < ids.length; step++) {
    for (let turn = 0; turn < 5; turn++) await setImmediate();
    disk.advance();
  }
  expect(done.toSorted()).toEqual(ids);
  return cuts;
}

const inOneStep = (delivery: BackendDelivery, _backend: Backend, done: Done): void =>
  delivery.commit(messagesOf(idOf(delivery)), done);

/** What each cut left: the messages that are still there, and for each queue those that arrived. */
async function leftBy(cuts: Awaited<ReturnType<typeof cutsOf>>) {
  const found = [];
  for (const { disk, done } of cuts) {
    disk.isManual = false;
    const { broker, clock } = await openOn(disk);
    clock.advance(60_000);
    const work = idsIn(broker, 'work');
    const handled = ids.filter((id) => !work.includes(id));
    const arrived = emitted.map((queue) => [queue, idsIn(broker, queue).toSorted()] as const);
    // The exchange gives queue `next` each message once more.
    const expected = emitted.map((queue) => [queue, queue === 'next' ? [...handled, ...handled].toSorted() : handled]);
    found.push({ work, handled, arrived, expected, done });
  }
  return found;
}

it.each([1, 2, 3])(
  'rule K15: a power cut leaves a message, or all that was committed for it (seed %i)',
  async (seed) => {
    const left = await leftBy(await cutsOf(seed, inOneStep));
    for (const { arrived, expected, handled, done } of left) {
      expect(arrived).toEqual(expected);
      expect(handled).toEqual(expect.arrayContaining([...done]));
    }
    const counts = new Set(left.map(({ work }) => work.length));
    expect(counts.has(0) && counts.size > 1, JSON.stringify([...counts])).toBe(true);
  },
);

it('messages that are published before the ack may be left beside their cause, which this test sees', async () => {
  const cuts = await cutsOf(1, (delivery, backend, done) => {
    const list = [...messagesOf(idOf(delivery))];
    const next = (): void => {
      const publication = list.shift();
      if (publication !== undefined) return backend.publish(publication, next);
      delivery.ack();
      done();
    };
    next();
  });
  const left = await leftBy(cuts);
  expect(left.some(({ arrived, expected }) => JSON.stringify(arrived) !== JSON.stringify(expected))).toBe(true);
});
