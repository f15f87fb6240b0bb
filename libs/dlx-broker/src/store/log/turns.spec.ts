import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { FakeDisk } from '../../../../../test/durability/fake-disk.js';
import { Broker } from '../../engine/broker/index.js';
import { CountedNames } from '../../nest/testing/counted-names.js';
import { listen } from '../../../../../test/harnesses/listener.js';
import { ManualClock } from '../../nest/testing/manual-clock.js';
import { Batch } from './batch.js';
import { Compaction } from './compaction.js';
import { DiskJournal } from './disk-journal.js';
import type { DiskJournalOptions } from './options.js';

const patterns = { compile: () => ({ matches: () => true }) };
const persistent = { deliveryMode: 2 };

async function open(disk: FakeDisk, options: DiskJournalOptions) {
  disk.isManual = false;
  const clock = new ManualClock();
  const journal = await DiskJournal.open(disk, { now: () => clock.now(), diskFree: 0, ...options });
  const broker = new Broker({ clock, journal, names: new CountedNames(), patterns });
  journal.restore(broker);
  const { channel } = listen(broker);
  channel.declareQueue('q', { durable: true });
  await journal.flush();
  const publish = (body: string): void => void channel.publish('', 'q', persistent, Buffer.from(body));
  const bodies = (): string[] => {
    const found: string[] = [];
    broker
      .virtualHost('/')
      .queues.get('q')
      ?.peek(({ message }) => void found.push(Buffer.from(message.body).toString()));
    return found;
  };
  return { broker, journal, channel, publish, bodies, disk };
}

/** Counts what is written into batches in each turn of the host, until the journal has written all. */
async function recordsOfTurns({ journal }: { readonly journal: DiskJournal }, between: () => void = () => undefined) {
  const turns: number[] = [];
  let records = 0;
  for (const method of ['message', 'entry', 'rewrite', 'repeat', 'topology'] as const) {
    const original = Batch.prototype[method] as (...args: never[]) => number;
    vi.spyOn(Batch.prototype, method).mockImplementation(function (this: Batch, ...args: unknown[]) {
      records++;
      return original.apply(this, args as never[]) as never;
    });
  }
  let isDone = false;
  void journal.flush().then(() => (isDone = true));
  while (!isDone) {
    await setImmediate();
    turns.push(records);
    records = 0;
    if (!isDone) between();
  }
  return turns.filter((count) => count > 0);
}

const range = (count: number): string[] => Array.from({ length: count }, (_, n) => `message ${n}`);

afterEach(() => vi.restoreAllMocks());

describe('a batch', () => {
  it('of many messages is written in many turns', async () => {
    const harness = await open(new FakeDisk(), { recordsInTurn: 100 });
    for (const body of range(1_000)) harness.publish(body);
    const turns = await recordsOfTurns(harness);
    expect(turns.length).toBeGreaterThanOrEqual(20);
    expect(Math.max(...turns)).toBeLessThanOrEqual(100);
    expect(harness.journal.stats.commits).toBe(2);
    expect((await open(harness.disk.copy(), {})).bodies()).toEqual(range(1_000));
  });

  it('of many messages has an end, also when more come in each turn than one writes', async () => {
    const harness = await open(new FakeDisk(), { recordsInTurn: 10 });
    for (const body of range(1_000)) harness.publish(body);
    let turns = 0;
    await recordsOfTurns(harness, () => {
      if (harness.journal.stats.commits > 1 || turns++ === 1_000) return;
      for (let each = 0; each < 20; each++) harness.publish('more');
    });
    // The records that come are written beside ten of those that were there, which are two for each message. Then the bodies follow.
    expect(turns).toBeLessThan(350);
    expect((await open(harness.disk.copy(), {})).bodies()).toEqual(harness.bodies());
  });

  it('writes many declarations in many turns, again and again with the changes in between', async () => {
    const harness = await open(new FakeDisk(), { recordsInTurn: 100, segment: 4_096, slack: 0, factor: 1.2 });
    for (let n = 0; n < 500; n++) harness.channel.declareQueue(`queue ${n}`, { durable: true });
    let next = 0;
    const turns = await recordsOfTurns(harness, () => {
      if (next === 100) return;
      harness.channel.deleteQueue(`queue ${next}`);
      harness.channel.deleteQueue(`queue ${499 - next}`);
      harness.channel.declareQueue(`queue ${next++}`, { durable: true, autoDelete: true });
      harness.publish('x'.repeat(400));
    });
    expect(Math.max(...turns)).toBeLessThanOrEqual(100 + 2);
    const again = await open(harness.disk.copy(), {});
    expect([...again.broker.virtualHost('/').queues.keys()].sort()).toEqual(
      [...harness.broker.virtualHost('/').queues.keys()].sort(),
    );
  });

  it('gives the number of a settled message to another only behind the settlement', async () => {
    const harness = await open(new FakeDisk(), { recordsInTurn: 1 });
    for (const body of range(40)) harness.publish(body);
    await harness.journal.flush();
    const { channel } = harness;
    // They return, and are settled before the journal gets the return: changed, and gone.
    for (let n = 0; n < 20; n++) channel.get('q');
    channel.nack(0, true, true);
    for (let n = 0; n < 20; n++) channel.get('q');
    channel.ack(0, true);
    let next = 0;
    await recordsOfTurns(harness, () => {
      if (next < 30) harness.publish(`new ${next++}`);
    });
    await harness.journal.flush();
    expect(next).toBe(30);
    expect((await open(harness.disk.copy(), {})).bodies()).toEqual(harness.bodies());
    expect(harness.bodies()).toHaveLength(50);
  });

  it('is durable for waiters only when its last turn is written', async () => {
    const harness = await open(new FakeDisk(), { recordsInTurn: 10 });
    for (const body of range(100)) harness.publish(body);
    let safe: boolean | undefined;
    let asked = 0;
    await recordsOfTurns(harness, () => {
      if (asked++ > 0) return;
      harness.publish('last');
      harness.broker.onStored(-1, () => (safe = harness.disk.files().size > 0 && harness.journal.stats.commits > 1));
      expect(safe).toBeUndefined();
    });
    expect(safe).toBe(true);
  });
});

describe('compaction of a segment', () => {
  it('takes many batches, and loses nothing of what is changed in between', async () => {
    const disk = new FakeDisk();
    const harness = await open(disk, { slack: Infinity, segment: 100_000 });
    for (const body of range(2_000)) harness.publish(body.padEnd(200));
    for (let n = 0; n < 1_000; n++) harness.channel.get('q');
    await harness.journal.flush();
    for (let n = 0; n < 900; n++) harness.publish(`later ${n}`.padEnd(200));
    harness.channel.ack(800, true);
    await harness.journal.close();
    const running = await open(disk.copy(), { slack: 0, factor: 1.1, segment: 100_000, recordsInTurn: 50 });
    const before = running.journal.stats.bytes;
    let got = 0;
    const turns = await recordsOfTurns(running, () => {
      if (got++ < 100) running.channel.ack(running.channel.get('q')!.deliveryTag);
    });
    for (let idle = 0; idle < 200; idle++) {
      await setImmediate();
      await running.journal.flush();
    }
    // Returned messages are written again after the restart, and so are copied ones: each at most a turn's share.
    expect(Math.max(...turns)).toBeLessThanOrEqual(50 * 2);
    expect(running.disk.files().has('0000000001.log')).toBe(false);
    // In bytes: the segments of the first log are longer than their limit, because one batch filled each.
    expect(running.journal.stats.bytes).toBeLessThan(before);
    const again = await open(running.disk.copy(), {});
    expect(again.bodies().sort()).toEqual(running.bodies().sort());
    expect(again.journal.damage.places).toEqual([]);
  });

  it('may copy a quarter of the records of a turn when the batch has as many as one turn writes', async () => {
    const harness = await open(new FakeDisk(), { recordsInTurn: 8 });
    const copy = vi.spyOn(Compaction.prototype, 'copy');
    // Each message is two records: itself and its entry.
    for (const body of range(4)) harness.publish(body);
    await harness.journal.flush();
    expect(copy.mock.calls.map(([, , limit]) => limit)).toEqual([2]);
  });
});
