import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { FakeDisk } from '../../../../../test/durability/fake-disk.js';
import { Random } from '../../../../../test/fuzz/random.js';
import { listen } from '../../../../../test/harnesses/listener.js';
import { Broker } from '../../engine/broker/index.js';
import { CountedNames } from '../../nest/testing/counted-names.js';
import { ManualClock } from '../../nest/testing/manual-clock.js';
import { DiskJournal } from './disk-journal.js';
import { segmentName } from './segment-header.js';

const patterns = { compile: () => ({ matches: () => true }) };

async function open(disk: FakeDisk) {
  disk.isManual = false;
  const journal = await DiskJournal.open(disk, { segment: 10_000, slack: 1e9, diskFree: 0 });
  const broker = new Broker({ clock: new ManualClock(), journal, names: new CountedNames(), patterns });
  journal.restore(broker);
  const { channel } = listen(broker);
  channel.declareQueue('q', { durable: true });
  await journal.flush();
  const publish = (): void => void channel.publish('', 'q', { deliveryMode: 2 }, Buffer.alloc(1_000));
  /** Ends the calls of the disk that wait, one after the other, until a flush is over. */
  const flushed = async (): Promise<void> => {
    let isOver = false;
    void journal.flush().then(() => (isOver = true));
    for (; !isOver; await setImmediate()) disk.advance();
  };
  return { journal, channel, publish, flushed };
}

/** Waits until a batch is being written. */
async function inFlight(disk: FakeDisk): Promise<void> {
  while (disk.waiting === 0) await setImmediate();
}

it('a commit without changes waits for the batch that is being written', async () => {
  const disk = new FakeDisk();
  const { journal, publish, flushed } = await open(disk);
  disk.isManual = true;
  publish();
  await inFlight(disk);
  let isDurable = false;
  journal.commit(() => (isDurable = true));
  await setImmediate();
  expect(isDurable).toBe(false);
  await flushed();
  expect(isDurable).toBe(true);
});

it('a message that leaves while its batch is being written takes no memory afterwards', async () => {
  const disk = new FakeDisk();
  const { journal, channel, publish, flushed } = await open(disk);
  const before = journal.stats.memory;
  disk.isManual = true;
  publish();
  await inFlight(disk);
  channel.get('q', { noAck: true });
  await flushed();
  expect(journal.stats).toMatchObject({ entries: 0, messages: 0, memory: before });
});

it('a segment that a batch has deleted does not reappear after a power cut', async () => {
  const disk = new FakeDisk();
  const { journal, channel, publish } = await open(disk);
  for (let number = 0; number < 25; number++) {
    publish();
    await journal.flush();
  }
  for (let got = channel.get('q'); got !== undefined; got = channel.get('q')) channel.ack(got.deliveryTag);
  await journal.flush();
  expect([...disk.files().keys()]).not.toContain(segmentName(2));
  for (let seed = 1; seed <= 20; seed++)
    expect([...disk.afterPowerCut(new Random(seed)).files().keys()]).not.toContain(segmentName(2));
});
