import { setImmediate, setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Broker } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { longstr } from '../../libs/dlx-broker/src/engine/message/index.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import type { StoreError } from '../../libs/dlx-broker/src/store/log/faults.js';
import { listen } from '../harnesses/listener.js';
import { bodyOf, messageIdOf } from './bodies.js';
import { FakeDisk } from './fake-disk.js';
import { systemError } from './fake-file.js';
import { lent } from './harness.js';

const segment = 65_536;
const toDead = new Map([
  ['x-dead-letter-exchange', longstr('')],
  ['x-dead-letter-routing-key', longstr('dead')],
]);

async function arrange(disk: FakeDisk, diskFree = 0) {
  disk.isManual = false;
  const clock = new ManualClock();
  const failures: StoreError[] = [];
  const failed = (error: StoreError): void => void failures.push(error);
  const journal = await DiskJournal.open(disk, { segment, diskFree, checkInterval: 5, now: () => clock.now(), failed });
  const broker = new Broker({ ...lent(clock), journal });
  journal.restore(broker);
  const { channel, confirms } = listen(broker);
  channel.declareQueue('dead', { durable: true });
  channel.declareQueue('work', { durable: true, arguments: toDead });
  channel.confirmSelect();
  let published = 0;
  const publish = (): void => {
    const messageId = messageIdOf(++published, 2_000);
    channel.publish('', 'work', { messageId, deliveryMode: 2 }, bodyOf(messageId));
  };
  return { journal, broker, channel, confirms, failures, publish };
}

/** Which tags were acked, and which nacked. */
function settled(confirms: readonly string[]): { readonly acked: Set<number>; readonly nacked: Set<number> } {
  const acked = new Set<number>();
  const nacked = new Set<number>();
  let last = 0;
  for (const confirm of confirms) {
    const [how, tag, multiple] = confirm.split(' ') as [string, string, string | undefined];
    const from = multiple === undefined ? Number(tag) : last + 1;
    for (let each = from; each <= Number(tag); each++)
      if (!nacked.has(each)) (how === 'ack' ? acked : nacked).add(each);
    if (how === 'ack') last = Number(tag);
  }
  return { acked, nacked };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await setTimeout(1);
}

describe('a full disk', () => {
  it('refuses publishes, keeps what was confirmed, and takes more when there is room again', async () => {
    const disk = new FakeDisk({ capacity: 1_000_000 });
    const { journal, broker, channel, confirms, failures, publish } = await arrange(disk);
    for (let turn = 0; turn < 1_000 && settled(confirms).nacked.size < 10; turn++) {
      publish();
      await setImmediate();
    }
    const { acked, nacked } = settled(confirms);
    expect(nacked.size).toBe(10);
    expect(acked.size).toBeGreaterThan(200);
    expect(journal.isFull).toBe(true);
    expect(failures).toEqual([]);
    // Consumers get messages, and dead letters are moved, as far as memory goes.
    channel.get('work');
    channel.reject(1, false);
    expect(broker.virtualHost('/').queues.get('dead')?.length).toBe(1);
    // What was confirmed is on the disk as it is.
    const reopened = disk.copy();
    const found = await arrange(reopened);
    expect(found.broker.virtualHost('/').queues.get('work')?.length).toBeGreaterThanOrEqual(acked.size - 1);
    // Room again.
    disk.capacity = 2_000_000;
    await until(() => !journal.isFull);
    publish();
    await journal.flush();
    await setImmediate();
    const after = settled(confirms);
    expect(after.nacked.size).toBe(10);
    expect(after.acked.size).toBeGreaterThan(acked.size);
    await journal.close();
    const again = await arrange(disk.copy());
    const queues = again.broker.virtualHost('/').queues;
    expect((queues.get('work')?.length ?? 0) + (queues.get('dead')?.length ?? 0)).toBe(after.acked.size);
    expect(queues.get('dead')?.length).toBe(1);
  });

  it('stops publishers at a watermark before it is full, and not those who need no room', async () => {
    const disk = new FakeDisk({ capacity: 1_000_000 });
    const { journal, channel, confirms, publish } = await arrange(disk, 500_000);
    for (let turn = 0; turn < 1_000 && !journal.isFull; turn++) {
      publish();
      await setTimeout(1);
    }
    expect(disk.used).toBeLessThan(700_000);
    publish();
    expect(confirms.at(-1)).toMatch(/^nack/);
    channel.declareQueue('passing');
    channel.publish('', 'passing', {}, Buffer.from('not kept'));
    expect(confirms.at(-1)).toMatch(/^ack/);
    disk.capacity = 3_000_000;
    await until(() => !journal.isFull);
    publish();
    await journal.flush();
    expect(confirms.at(-1)).toMatch(/^ack/);
    await journal.close();
  });

  it.each([0, 1, 2])(
    'that fills up %d turns before a close does not hold it up; what had no room is refused',
    async (turns) => {
      const disk = new FakeDisk();
      const { journal, confirms, publish } = await arrange(disk);
      await journal.flush();
      disk.writeError = systemError('ENOSPC', 'no space left on device, write');
      publish();
      for (let turn = 0; turn < turns; turn++) await setImmediate();
      await journal.close();
      expect(settled(confirms)).toMatchObject({ acked: new Set(), nacked: new Set([1]) });
    },
  );

  it('is not a disk that fails: after a sync that went wrong nothing is promised any more', async () => {
    const disk = new FakeDisk();
    const { journal, confirms, failures, publish, channel } = await arrange(disk);
    publish();
    await journal.flush();
    expect(settled(confirms).acked.size).toBe(1);
    disk.syncError = systemError('EIO', 'i/o error, fdatasync');
    publish();
    await until(() => failures.length > 0);
    const { sync } = disk.counts;
    disk.syncError = undefined;
    for (let count = 0; count < 5; count++) {
      publish();
      await setImmediate();
    }
    const { acked, nacked } = settled(confirms);
    expect([...acked]).toEqual([1]);
    expect([...nacked], 'also what was on its way').toEqual([2, 3, 4, 5, 6, 7]);
    expect(disk.counts.sync, 'a failed sync is never tried again').toBe(sync);
    expect(failures).toHaveLength(1);
    expect(failures[0]).toMatchObject({ code: 'disk-failed' });
    expect(failures[0]?.message).toMatch(/All that was confirmed is safe/);
    // It goes on without a store.
    channel.declareQueue('passing');
    channel.publish('', 'passing', {}, Buffer.from('not kept'));
    expect(confirms.at(-1)).toMatch(/^ack/);
    await expect(journal.flush()).rejects.toMatchObject({ code: 'disk-failed' });
  });
});

describe('what waits for room', () => {
  it('keeps the process alive, and lets it end when the journal is closed', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const disk = new FakeDisk();
    disk.isManual = false;
    const journal = await DiskJournal.open(disk, { segment, diskFree: 0, checkInterval: 60_000 });
    const before = timers();
    disk.writeError = systemError('ENOSPC', 'no space left on device, write');
    journal.changed({ kind: 'vhost', change: 'added', vhost: 'one', details: { description: '', tags: [] } } as never);
    journal.commit(undefined);
    await until(() => journal.isFull);
    await setImmediate();
    expect(timers()).toBe(before + 1);
    await journal.close();
    expect(timers()).toBe(before);
  });
});

describe('a queue of a data directory whose disk is full', () => {
  it.each(['work.old', undefined])('is not changed (new name: %s), and can be when there is room again', async (to) => {
    const disk = new FakeDisk();
    const { journal, publish } = await arrange(disk);
    for (let count = 0; count < 20; count++) publish();
    await journal.close();
    const full = disk.copy();
    full.isManual = false;
    const edited = await DiskJournal.open(full, { diskFree: 0, slack: Infinity, checkInterval: 60_000 });
    full.writeError = systemError('ENOSPC', 'no space left on device, write');
    const settled: (Error | undefined)[] = [];
    expect(edited.edit('/', 'work', to, (failure) => void settled.push(failure))).toBe(true);
    await edited.close();
    expect(settled).toMatchObject([{ code: 'disk-full' }]);
    const found = await arrange(full.copy());
    expect(found.broker.virtualHost('/').queues.get('work')?.length).toBe(20);
    await found.journal.close();
    const room = full.copy();
    room.isManual = false;
    const again = await DiskJournal.open(room, { diskFree: 0, slack: Infinity });
    again.edit('/', 'work', to, (failure) => void settled.push(failure));
    await again.close();
    expect(settled[1]).toBeUndefined();
    const lastDisk = room.copy();
    lastDisk.isManual = false;
    const last = await DiskJournal.open(lastDisk, { diskFree: 0 });
    expect(last.edit('/', 'work', 'else')).toBe(false);
  });
});
