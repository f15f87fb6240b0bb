import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Broker, silentOutbox } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { type Field, longstr } from '../../libs/dlx-broker/src/engine/message/index.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { Random } from '../fuzz/random.js';
import { type ApiHarness, apiHarness } from '../harnesses/api-harness.js';
import { rejectAll } from '../harnesses/dying.js';
import { FakeDisk } from './fake-disk.js';
import { lent } from './harness.js';

const numbers = Array.from({ length: 40 }, (_, index) => String(index));
const old = (id: string): string => `{"id":${id}}`;
const changed = (id: string): string => `{"id":${id},"currency":"EUR"}`;

async function journalOn(disk: FakeDisk): Promise<DiskJournal> {
  disk.isManual = false;
  return DiskJournal.open(disk, { diskFree: 0, segment: 8_192, slack: 0, factor: 1.5, now: () => 0 });
}

/** The API of a broker with forty messages in `dead`, which died in `work`. */
async function furnished(disk: FakeDisk) {
  const journal = await journalOn(disk);
  const rooms = apiHarness({ journal, edits: true });
  journal.restore(rooms.broker);
  const channel = rooms.broker.connect().openChannel(silentOutbox);
  const args = new Map<string, Field>([
    ['x-dead-letter-exchange', longstr('')],
    ['x-dead-letter-routing-key', longstr('dead')],
  ]);
  channel.declareQueue('work', { durable: true, arguments: args });
  channel.declareQueue('dead', { durable: true });
  for (const messageId of numbers) {
    channel.publish('', 'work', { messageId, deliveryMode: 2 }, Buffer.from(old(messageId)));
  }
  rejectAll(channel, 'work');
  await journal.flush();
  return { rooms, journal };
}

type Bodies = ReadonlyMap<string, string>;

/** The bodies in each queue by their message ids, after a restart. */
async function found(disk: FakeDisk): Promise<Record<'dead' | 'work' | 'kept', Bodies>> {
  const journal = await journalOn(disk);
  const broker = new Broker({ ...lent(new ManualClock()), journal });
  journal.restore(broker);
  expect(journal.damage).toEqual({ places: [], queues: [], misplaced: 0 });
  const held = (name: string): Bodies => {
    const bodies = new Map<string, string>();
    broker
      .virtualHost('/')
      .queues.get(name)
      ?.peek(({ message }) => {
        const id = message.properties.messageId as string;
        expect(bodies.has(id), `message ${id} twice in ${name}`).toBe(false);
        bodies.set(id, Buffer.from(message.body).toString());
      });
    return bodies;
  };
  return { dead: held('dead'), work: held('work'), kept: held('dead.edited') };
}

it.each<[string, boolean, (rooms: ApiHarness) => Promise<number>, readonly string[]]>([
  [
    'the edit of one message',
    true,
    async ({ call }) => {
      const body = { payload: changed('7'), keep_original: true };
      return (await call('POST', '/dlx/queues/%2F/dead/messages/8/edit', { body })).status;
    },
    ['7'],
  ],
  [
    'a redrive with a merge patch',
    true,
    async ({ call, clock }) => {
      const edit = { merge_patch: { currency: 'EUR' }, keep_original: true };
      const body = { vhost: '/', queue: 'dead', filter: { reason: 'rejected' }, edit, circuit: false, rate: 20_000 };
      const { status } = await call('POST', '/dlx/redrives', { body });
      for (let turn = 0; turn < 40; turn++) {
        clock.advance(10);
        for (let each = 0; each < 5; each++) await setImmediate();
      }
      return status;
    },
    numbers,
  ],
  [
    'a redrive with a merge patch that keeps nothing',
    false,
    async ({ call, clock }) => {
      const edit = { merge_patch: { currency: 'EUR' } };
      const body = { vhost: '/', queue: 'dead', filter: { reason: 'rejected' }, edit, circuit: false, rate: 1_000 };
      const { status } = await call('POST', '/dlx/redrives', { body });
      for (let turn = 0; turn < 40; turn++) {
        clock.advance(10);
        for (let each = 0; each < 5; each++) await setImmediate();
      }
      return status;
    },
    numbers,
  ],
])('a power cut in %s leaves the old message or the new one, never both or none', async (_, keeps, act, all) => {
  const disk = new FakeDisk();
  const { rooms, journal } = await furnished(disk);
  const random = new Random(23);
  const cuts: FakeDisk[] = [];
  disk.onStep = () => void (cuts.length < 400 && cuts.push(disk.afterPowerCut(random)));
  expect(await act(rooms)).toBeLessThan(300);
  await journal.flush();
  disk.onStep = () => undefined;
  const states = [];
  for (const cut of [...cuts, disk.afterPowerCut(random)]) states.push(await found(cut));
  for (const { dead, work, kept } of states) {
    for (const id of numbers) {
      expect([dead.get(id), work.get(id)], `message ${id}`).toEqual(
        work.has(id) ? [undefined, changed(id)] : [old(id), undefined],
      );
      expect(kept.get(id), `message ${id} as it was`).toBe(keeps && work.has(id) ? old(id) : undefined);
    }
  }
  expect([...states.at(-1)!.work.keys()]).toEqual(all);
  expect(new Set(states.map(({ work }) => work.size)).size).toBeGreaterThan(1);
});
