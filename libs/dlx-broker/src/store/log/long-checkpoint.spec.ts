import { describe, expect, it } from 'vitest';
import { FakeDisk } from '../../../../../test/durability/fake-disk.js';
import { listen } from '../../../../../test/harnesses/listener.js';
import { Broker } from '../../engine/broker/index.js';
import { CountedNames } from '../../nest/testing/counted-names.js';
import { ManualClock } from '../../nest/testing/manual-clock.js';
import { DiskJournal } from './disk-journal.js';
import type { DiskJournalOptions } from './options.js';
import { segmentName } from './segment-header.js';

const patterns = { compile: () => ({ matches: () => true }) };
const noDamage = { places: [], queues: [], misplaced: 0 };

async function open(disk: FakeDisk, options: DiskJournalOptions) {
  disk.isManual = false;
  const journal = await DiskJournal.open(disk, { slack: 1e9, memory: 0, diskFree: 0, ...options });
  const broker = new Broker({ clock: new ManualClock(), journal, names: new CountedNames(), patterns });
  journal.restore(broker);
  const { channel } = listen(broker);
  const declare = (name: string): void => void channel.declareQueue(name, { durable: true });
  const publish = (queue: string): Promise<void> => {
    channel.publish('', queue, { deliveryMode: 2 }, Buffer.alloc(1_000));
    return journal.flush();
  };
  /** Publishes to a queue until the log has so many segments. */
  const fill = async (queue: string, segments: number): Promise<void> => {
    while (journal.stats.segments < segments) await publish(queue);
  };
  /** Settles all messages of a queue, in a batch each. */
  const drain = async (queue: string): Promise<void> => {
    for (let got = channel.get(queue); got !== undefined; got = channel.get(queue)) {
      channel.ack(got.deliveryTag);
      await journal.flush();
    }
  };
  const { queues } = broker.virtualHost('/');
  return { journal, disk, channel, queues, declare, publish, fill, drain };
}

describe('a checkpoint that is not repeated in every segment', () => {
  it.each([2_048, 100])(
    'is written again before its segment is deleted, %d objects in a turn',
    async (recordsInTurn) => {
      const options = { segment: 100_000, recordsInTurn };
      const harness = await open(new FakeDisk(), options);
      const names = Array.from({ length: 2_000 }, (_, number) => `queue ${number}`);
      for (const name of names) harness.declare(name);
      for (let number = 0; number < 400; number++) {
        await harness.publish('queue 0');
        if (number >= 50) harness.channel.ack(harness.channel.get('queue 0')!.deliveryTag);
      }
      await harness.journal.flush();
      const { disk } = harness;
      expect(disk.files().has(segmentName(1))).toBe(false);
      // It is longer than what is repeated: the last segments are shorter than it.
      expect(harness.journal.stats.bytes).toBeLessThan(500_000);
      const again = await open(disk.copy(), options);
      expect(again.journal.damage).toEqual(noDamage);
      expect([...again.queues.keys()]).toEqual(names);
      expect(again.queues.get('queue 0')?.length).toBe(50);
    },
  );

  /** The segments with the declaration and the deletion of the queue `gone` are deleted, and one with its messages is not. */
  async function afterDeletion(options: DiskJournalOptions): Promise<FakeDisk> {
    const { declare, publish, fill, drain, channel, journal, disk } = await open(new FakeDisk(), options);
    for (const name of ['passing', 'stays']) declare(name);
    await fill('passing', 2);
    declare('gone');
    await fill('passing', 3);
    await publish('gone');
    await publish('stays');
    await fill('passing', 4);
    // Nothing is published from here on: a new message would get the number of the deleted one.
    channel.deleteQueue('gone');
    await drain('passing');
    await journal.close();
    const names = [1, 2, 3, 4].map(segmentName).filter((name) => disk.files().has(name));
    expect(names).toEqual([3, 4].map(segmentName));
    return disk.copy();
  }

  const short = { segment: 10_000, shortCheckpoint: 0 };
  it.each([
    ['segments', { ...short, hints: 'check' }],
    ['hints', { ...short, longestHint: 10 }],
  ] as const)('leaves no damage where a queue was deleted, read from %s', async (_from, options) => {
    const { journal, queues } = await open(await afterDeletion(options), options);
    expect(journal.damage).toEqual(noDamage);
    expect([...queues.keys()]).toEqual(['passing', 'stays']);
    expect(queues.get('stays')?.length).toBe(1);
  });

  it('gives no queue the messages of a deleted one', async () => {
    const { declare, journal, disk } = await open(await afterDeletion(short), short);
    declare('new');
    await journal.close();
    const again = await open(disk.copy(), short);
    expect(again.queues.get('new')?.length).toBe(0);
    expect(again.journal.damage).toEqual(noDamage);
  });

  it.each([
    ['the declaration', 1, short],
    ['the declaration and the checkpoint', 2, { segment: 10_000 }],
  ] as const)(
    'hides no loss: damage of %s costs the messages of the queue, which are counted',
    async (_what, segments, options) => {
      const unhinted = { ...options, longestHint: 0 };
      const { declare, fill, publish, channel, journal, disk } = await open(new FakeDisk(), unhinted);
      channel.declareExchange('fan', { type: 'fanout', durable: true });
      await journal.flush();
      declare('damaged');
      channel.bindQueue('damaged', 'fan', '');
      await journal.flush();
      channel.publish('fan', '', { deliveryMode: 2 }, Buffer.from('lost'));
      declare('whole');
      await fill('whole', segments);
      await publish('whole');
      await journal.close();
      for (const [name, bytes] of disk.files()) {
        for (let at = bytes.indexOf('damaged'); at >= 0; at = bytes.indexOf('damaged', at + 1)) bytes.write('?', at);
        disk.put(name, bytes);
      }
      const again = await open(disk.copy(), unhinted);
      expect(again.journal.damage.places.map(({ file }) => file)).toContain(segmentName(segments));
      expect(again.journal.damage).toMatchObject({ queues: [], misplaced: 1 });
    },
  );
});
