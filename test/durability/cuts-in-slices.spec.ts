import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Broker, type Channel, type Pace, silentOutbox } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { type Field, int32, longstr } from '../../libs/dlx-broker/src/engine/message/index.js';
import { addDefinitions } from '../../libs/dlx-broker/src/server/definitions/load.js';
import { Dlx } from '../../libs/dlx-broker/src/server/dlx/state.js';
import { Management } from '../../libs/dlx-broker/src/server/management.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { policyPatterns } from '../../libs/dlx-broker/src/platform/index.js';
import { Random } from '../fuzz/random.js';
import { FakeDisk } from './fake-disk.js';
import { asleep, lent } from './harness.js';

/** More than is purged, settled or let expire in one turn. */
const count = 600;
const hour = 3_600_000;
const numbers = Array.from({ length: count }, (_, index) => String(index));

/** So few steps in one turn that all of this work takes many turns. */
const inSlices: Pace = { budget: 10, later: (resume) => void setImmediate().then(resume) };

async function opened(disk: FakeDisk, pace = inSlices) {
  disk.isManual = false;
  const clock = new ManualClock();
  const options = { diskFree: 0, segment: 8_192, slack: 0, factor: 1.5, now: () => clock.now() };
  const journal = await DiskJournal.open(disk, options);
  const broker = new Broker({ ...lent(clock), journal, pace });
  journal.restore(broker);
  return { clock, journal, broker };
}
type Harness = Awaited<ReturnType<typeof opened>>;

/** A queue with six hundred messages, all of them safe. */
async function furnished(): Promise<FakeDisk> {
  const disk = new FakeDisk();
  const { broker, journal } = await opened(disk);
  const channel = broker.connect().openChannel({ ...silentOutbox });
  channel.declareQueue('dead', { durable: true });
  const args = new Map<string, Field>([
    ['x-dead-letter-exchange', longstr('')],
    ['x-dead-letter-routing-key', longstr('dead')],
    ['x-message-ttl', int32(hour)],
  ]);
  channel.declareQueue('work', { durable: true, arguments: args });
  for (const messageId of numbers) channel.publish('', 'work', { messageId, deliveryMode: 2 }, Buffer.from(messageId));
  await journal.flush();
  const found = disk.copy();
  await journal.close();
  return found;
}

/** What a queue holds, in its order; undefined when there is no such queue. */
async function found(disk: FakeDisk): Promise<Record<'work' | 'dead', string[] | undefined>> {
  const { broker, journal } = await opened(disk, asleep().pace);
  expect(journal.damage).toEqual({ places: [], queues: [], misplaced: 0 });
  const held = (name: string): string[] | undefined => {
    const queue = broker.virtualHost('/').queues.get(name);
    const ids: string[] = [];
    queue?.peek(({ message }) => void ids.push(message.properties.messageId as string));
    return queue && ids;
  };
  return { work: held('work'), dead: held('dead') };
}

/** What is on the disk when the power is cut, at moments of the work, and when it is done and flushed. */
async function cuts(act: (harness: Harness, channel: Channel) => void) {
  const disk = await furnished();
  const harness = await opened(disk);
  const channel = harness.broker.connect().openChannel({ ...silentOutbox });
  channel.qos(0);
  const random = new Random(17);
  const taken: FakeDisk[] = [];
  disk.onStep = () => void (taken.length < 300 && taken.push(disk.afterPowerCut(random)));
  act(harness, channel);
  for (let turn = 0; turn < 400; turn++) await setImmediate();
  await harness.journal.flush();
  disk.onStep = () => undefined;
  const states: Awaited<ReturnType<typeof found>>[] = [];
  for (const cut of taken) states.push(await found(cut));
  return { states, last: await found(disk.afterPowerCut(random)) };
}

const inOrder = (ids: readonly string[] | undefined): number[] => (ids ?? []).map(Number).sort((a, b) => a - b);
const everything = numbers.map(Number);
/** How many different states there were between the beginning and the end. */
const between = (lengths: readonly (number | undefined)[]): number =>
  new Set(lengths.filter((length) => length !== undefined && length > 0 && length < count)).size;

describe('a power cut in the midst of work that is done in turns', () => {
  it('leaves the last messages of a queue that is purged', async () => {
    const { states, last } = await cuts((_, channel) => void channel.purgeQueue('work'));
    for (const { work } of states) expect(work).toEqual(numbers.slice(count - (work?.length ?? 0)));
    expect(last.work).toEqual([]);
    expect(between(states.map(({ work }) => work?.length))).toBeGreaterThan(0);
  });

  it('leaves a deleted queue with all it held, or nothing of it', async () => {
    const { states, last } = await cuts((_, channel) => void channel.deleteQueue('work'));
    for (const { work } of states) if (work !== undefined) expect(work).toEqual(numbers);
    expect(last.work).toBeUndefined();
    expect(states.some(({ work }) => work === undefined)).toBe(true);
  });

  it('leaves what a multiple ack settles last', async () => {
    const { states, last } = await cuts((_, channel) => {
      channel.consume('work');
      channel.ack(0, true);
    });
    for (const { work } of states) {
      const ids = inOrder(work);
      expect(ids).toEqual(everything.slice(count - ids.length));
    }
    expect(last.work?.length).toBeLessThan(count);
  });

  it('leaves what expires in its queue or as a dead letter, each message in one of them', async () => {
    const { states, last } = await cuts((harness) => harness.clock.advance(hour));
    for (const { work, dead } of states) expect(inOrder([...(work ?? []), ...(dead ?? [])])).toEqual(everything);
    expect(last).toEqual({ work: [], dead: numbers });
    expect(between(states.map(({ work }) => work?.length))).toBeGreaterThan(0);
  });

  it('leaves what a multiple nack rejects in its queue or as a dead letter', async () => {
    const { states, last } = await cuts((_, channel) => {
      for (const _each of numbers) channel.get('work');
      channel.nack(0, true, false);
    });
    for (const { work, dead } of states) expect(inOrder([...(work ?? []), ...(dead ?? [])])).toEqual(everything);
    expect(last).toEqual({ work: [], dead: numbers });
  });

  it('leaves what an import has declared so far, in its order, and all of it when it is answered', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `q${index}`);
    const text = JSON.stringify({
      policies: [{ vhost: '/', name: 'p', pattern: '^q', definition: { 'max-length': 5 }, 'apply-to': 'queues' }],
      queues: names.map((name) => ({ vhost: '/', name, durable: true, auto_delete: false, arguments: {} })),
      bindings: names.map((destination) => ({
        vhost: '/',
        source: 'amq.topic',
        destination,
        destination_type: 'queue',
        routing_key: 'k',
        arguments: {},
      })),
    });
    const disk = new FakeDisk();
    const { broker, journal, clock } = await opened(disk);
    await journal.flush();
    const random = new Random(19);
    const taken: FakeDisk[] = [];
    disk.onStep = () => void taken.push(disk.afterPowerCut(random));
    let time = 0;
    const turns = { now: () => time++, next: async () => void (await setImmediate()) };
    const dlx = new Dlx({ broker, turns });
    await addDefinitions(new Management({ broker, now: () => clock.now(), patterns: policyPatterns, dlx }), text);
    await journal.flush();
    disk.onStep = () => undefined;
    const state = async (cut: FakeDisk) => {
      const harness = await opened(cut);
      expect(harness.journal.damage).toEqual({ places: [], queues: [], misplaced: 0 });
      const vhost = harness.broker.virtualHost('/');
      const queues = names.filter((name) => vhost.queues.has(name));
      const bound = vhost.exchanges.get('amq.topic')?.bindings().length ?? 0;
      return { queues, bound, hasPolicy: vhost.policies.user.get('p') !== undefined };
    };
    const found = [];
    for (const cut of taken) found.push(await state(cut));
    for (const { queues, bound, hasPolicy } of found) {
      expect(queues).toEqual(names.slice(0, queues.length));
      if (queues.length > 0) expect(hasPolicy).toBe(true);
      if (bound > 0) expect(queues).toHaveLength(names.length);
    }
    expect(await state(disk.afterPowerCut(random))).toEqual({ queues: names, bound: names.length, hasPolicy: true });
    expect(found.some(({ queues }) => queues.length > 0 && queues.length < names.length)).toBe(true);
  });
});
