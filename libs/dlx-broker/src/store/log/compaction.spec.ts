import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { atLeastOnceTo } from '../../../../../test/durability/at-least-once.js';
import { FakeDisk } from '../../../../../test/durability/fake-disk.js';
import { listen } from '../../../../../test/harnesses/listener.js';
import { Broker } from '../../engine/broker/index.js';
import { longstr } from '../../engine/message/index.js';
import { CountedNames } from '../../nest/testing/counted-names.js';
import { ManualClock } from '../../nest/testing/manual-clock.js';
import { DiskJournal } from './disk-journal.js';
import type { StoreError } from './faults.js';
import type { DiskJournalOptions } from './options.js';
import { segmentName } from './segment-header.js';

const patterns = { compile: () => ({ matches: () => true }) };
const clock = new ManualClock();

async function open(disk: FakeDisk, segment: number, slack: number, options: DiskJournalOptions = {}) {
  disk.isManual = false;
  const warnings: StoreError[] = [];
  const damaged = (error: StoreError): void => void warnings.push(error);
  const now = (): number => clock.now();
  const journal = await DiskJournal.open(disk, { segment, slack, diskFree: 0, memory: 0, now, damaged, ...options });
  const broker = new Broker({ clock, journal, names: new CountedNames(), patterns });
  journal.restore(broker);
  return { ...listen(broker), broker, journal, disk, warnings };
}

type Harness = Awaited<ReturnType<typeof open>>;

/** Turns of the host in which nothing is written after which nothing will be. */
const quiet = 20;

/** @returns batches it took to come to rest; more than that many and it is taken not to */
async function rest({ journal }: Harness, most: number): Promise<number> {
  const before = journal.stats.commits;
  for (let idle = 0, last = before; idle < quiet && journal.stats.commits - before <= most; idle++) {
    await setImmediate();
    await journal.flush();
    if (journal.stats.commits !== last) idle = 0;
    last = journal.stats.commits;
  }
  return journal.stats.commits - before;
}

/** One message in eight stays, all others go; each in a batch of its own. */
async function churn({ channel, journal }: Harness, messages: number): Promise<void> {
  for (let number = 0; number < messages; number++) {
    const queue = number % 8 === 0 ? 'parked' : 'q';
    channel.publish('', queue, { deliveryMode: 2 }, Buffer.from(`message ${number}`.padEnd(100)));
    await journal.flush();
    if (queue === 'q') channel.ack(channel.get('q')!.deliveryTag);
  }
  await journal.flush();
}

const parked = ({ broker }: Harness): string[] => {
  const bodies: string[] = [];
  broker
    .virtualHost('/')
    .queues.get('parked')
    ?.peek(({ message }) => void bodies.push(Buffer.from(message.body).toString().trim()));
  return bodies;
};

describe('compaction', () => {
  const sizes = [600, 1_024, 1_500, 4_096, 10_000, 50_000];
  it.each(sizes.flatMap((segment) => [2, 40].map((queues) => [segment, queues] as const)))(
    'comes to rest with segments of %d bytes and %d queues declared in each, and loses nothing',
    async (segment, queues) => {
      const harness = await open(new FakeDisk(), segment, 0);
      for (const name of ['parked', 'q']) harness.channel.declareQueue(name, { durable: true });
      for (let more = 2; more < queues; more++) harness.channel.declareQueue(`queue ${more}`, { durable: true });
      await churn(harness, 400);
      const { segments } = harness.journal.stats;
      expect(await rest(harness, segments * 3)).toBeLessThanOrEqual(segments * 2);
      const kept = parked(harness);
      expect(kept).toHaveLength(50);
      const again = await open(harness.disk.copy(), segment, 0);
      expect([parked(again), again.journal.damage.places]).toEqual([kept, []]);
      expect(await rest(again, segments * 3), 'after it was opened again').toBeLessThanOrEqual(segments * 2);
    },
  );

  const small = [600, 1_024, 4_096, 50_000];
  it.each(small.flatMap((segment) => [1, 3].flatMap((records) => [1.2, 3].map((f) => [segment, records, f] as const))))(
    'comes to rest with segments of %d bytes, of which a batch copies %d records, and a factor of %d',
    async (segment, recordsInTurn, factor) => {
      const options = { recordsInTurn, factor };
      const harness = await open(new FakeDisk(), segment, 0, options);
      for (const name of ['parked', 'q']) harness.channel.declareQueue(name, { durable: true });
      for (let more = 2; more < 20; more++) harness.channel.declareQueue(`queue ${more}`, { durable: true });
      await churn(harness, 400);
      // A batch copies one record at least, and the records that it copied are copied once more at most.
      const most =
        2 * (harness.journal.stats.entries + harness.journal.stats.messages + harness.journal.stats.segments);
      expect(await rest(harness, most + 1)).toBeLessThanOrEqual(most);
      const kept = parked(harness);
      expect(kept).toHaveLength(50);
      const again = await open(harness.disk.copy(), segment, 0, options);
      expect([parked(again), again.journal.damage.places]).toEqual([kept, []]);
      expect(await rest(again, most + 1), 'after it was opened again').toBeLessThanOrEqual(most);
    },
  );

  it('comes to rest with dead letters that have more in their headers than in their bodies', async () => {
    const harness = await open(new FakeDisk(), 16_384, 32_768);
    const { channel, journal } = harness;
    channel.declareQueue('work', { durable: true, arguments: atLeastOnceTo('nowhere') });
    for (let number = 0; number < 200; number++) {
      channel.publish('', 'work', { deliveryMode: 2 }, Buffer.alloc(100));
      channel.reject(channel.get('work')!.deliveryTag, false, new Map([['stack', longstr('at '.repeat(400))]]));
      if (number % 10 === 0) await journal.flush();
    }
    await journal.flush();
    const { segments } = journal.stats;
    expect(await rest(harness, segments * 3)).toBeLessThanOrEqual(segments * 2);
    expect(journal.stats.liveBytes).toBeGreaterThan(200 * 1_200);
    const again = await open(harness.disk.copy(), 16_384, 32_768);
    expect(again.journal.stats.liveBytes / journal.stats.liveBytes).toBeCloseTo(1, 1);
    expect(await rest(again, segments * 3), 'after it was opened again').toBeLessThanOrEqual(segments * 2);
  });

  it.each([4_096, 10_000, 50_000])('frees what is not needed where segments of %d bytes hold much', async (segment) => {
    const harness = await open(new FakeDisk(), segment, 0);
    for (const name of ['parked', 'q']) harness.channel.declareQueue(name, { durable: true });
    await churn(harness, 2_000);
    await rest(harness, 10_000);
    const { bytes, liveBytes, segments } = harness.journal.stats;
    expect(harness.disk.files().has(segmentName(1))).toBe(false);
    // Each segment begins with a header, and tells what is declared.
    expect(bytes).toBeLessThan(3.5 * (liveBytes + segments * 1_500) + segment);
  });

  it('leaves each body readable while the batch with its copy is being written', async () => {
    const harness = await open(new FakeDisk(), 10_000, 0, { factor: 1.2 });
    const { disk, journal } = harness;
    for (const name of ['parked', 'q']) harness.channel.declareQueue(name, { durable: true });
    for (let number = 0; number < 200; number++) {
      const queue = number % 8 === 0 ? 'parked' : 'q';
      const body = Buffer.from(`message ${number}`.padEnd(number === 80 ? 20_000 : 500));
      harness.channel.publish('', queue, { deliveryMode: 2 }, body);
      await journal.flush();
    }
    const kept = parked(harness);
    harness.channel.purgeQueue('q');
    disk.isManual = true;
    let copied = 0;
    for (let step = 0; step < 400; step++) {
      await setImmediate();
      expect(parked(harness), `step ${step}`).toEqual(kept);
      if (disk.waiting > 0) copied++;
      disk.advance();
    }
    expect(copied).toBeGreaterThan(20);
    expect(disk.files().has(segmentName(1))).toBe(false);
    expect(harness.warnings).toEqual([]);
  });

  it('reports a segment that was damaged while it was open, and goes on after a restart', async () => {
    const segment = 4_096;
    const harness = await open(new FakeDisk(), segment, 1_000_000);
    for (const name of ['parked', 'q']) harness.channel.declareQueue(name, { durable: true });
    await churn(harness, 400);
    await harness.journal.close();
    const running = await open(harness.disk.copy(), segment, 0);
    const first = segmentName(1);
    const at = (running.disk.files().get(first) as Buffer).indexOf('message 8 ');
    await (await running.disk.open(first, 'write')).write([Buffer.from('garbled')], at);
    await churn(running, 80);
    await rest(running, 1_000);
    expect(running.warnings).toHaveLength(1);
    expect(running.warnings[0]).toMatchObject({
      code: 'damaged',
      message: expect.stringMatching(
        new RegExp(`^${first} was damaged since it was opened: 1 records .* restart soon`),
      ),
    });
    expect(running.disk.files().has(first)).toBe(true);
    await running.journal.close();

    const later = await open(running.disk.copy(), segment, 0);
    expect(later.journal.damage).toMatchObject({
      places: [{ file: first, copy: `${first}.bad` }],
      queues: [{ queue: 'parked', lost: 1 }],
    });
    expect(parked(later)).toHaveLength(59);
    await churn(later, 80);
    await rest(later, 1_000);
    expect(later.disk.files().has(first)).toBe(false);
    expect(later.warnings).toEqual([]);
  });

  it('reports a body once that cannot be read back', async () => {
    const harness = await open(new FakeDisk(), 4_096, 1_000_000);
    harness.channel.declareQueue('q', { durable: true });
    for (const number of [1, 2]) {
      harness.channel.publish('', 'q', { deliveryMode: 2 }, Buffer.from(`message ${number}`));
      await harness.journal.flush();
    }
    const at = (harness.disk.files().get(segmentName(1)) as Buffer).indexOf('message 1');
    await (await harness.disk.open(segmentName(1), 'write')).write([Buffer.from('garbled')], at);
    const [entry] = harness.broker.virtualHost('/').queues.get('q')!.browse({ limit: 1 }).entries;
    for (let look = 0; look < 2; look++) expect(() => entry!.message.body).toThrow('cannot be read back');
    expect(harness.channel.get('q')?.message.body.toString()).toBe('message 2');
    expect(harness.warnings.map(({ code }) => code)).toEqual(['damaged']);
  });
});
