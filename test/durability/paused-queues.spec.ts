import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Broker } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { editQueue } from '../../libs/dlx-broker/src/cli/data-edit.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { listen, publishText } from '../harnesses/listener.js';
import { FakeDisk } from './fake-disk.js';
import { harness } from './furnished.js';
import { lent } from './harness.js';
import { stores } from './stores.js';

const folder = mkdtempSync(join(tmpdir(), 'paused-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const persistent = { deliveryMode: 2 };

describe.each(stores)('pauses in a store in $name (rule X5)', ({ open }) => {
  /** A broker on a fresh store, and one that starts later on what a crash left. */
  async function arrange() {
    const clock = new ManualClock();
    const store = await open(clock);
    const broker = new Broker({ ...lent(clock), journal: store.journal });
    store.restore(broker);
    const { channel } = listen(broker);
    for (const [name, durable] of [
      ['kept', true],
      ['passing', false],
    ] as const)
      channel.declareQueue(name, { durable });
    const vhost = broker.virtualHost('/');
    const pause = (name: string, request = {}) => vhost.pauseQueue(vhost.queues.get(name)!, request);
    const crash = async (after = 0) => {
      await store.sync();
      const later = new ManualClock(clock.now() + after);
      const crashed = await store.crashed(later);
      const reborn = new Broker({ ...lent(later), journal: crashed.journal });
      crashed.restore(reborn);
      return { clock: later, broker: reborn, vhost: reborn.virtualHost('/'), store: crashed };
    };
    return { clock, broker, channel, vhost, pause, crash };
  }

  it('are there again after a crash, without a delivery meanwhile, and end when they end', async () => {
    const { channel, pause, crash, clock } = await arrange();
    publishText(channel, '', 'kept', 'a', persistent);
    const before = pause('kept', { reason: 'why', by: 'ann', for: 10_000 });
    pause('passing');
    clock.advance(1_000);
    const after = await crash(500);
    expect(after.vhost.queues.has('passing')).toBe(false);
    expect(after.vhost.queues.get('kept')?.pausing.state).toEqual(before);
    const mine = listen(after.broker);
    mine.channel.consume('kept', { noAck: true });
    expect(mine.bodies()).toEqual([]);
    after.clock.advance(8_499);
    expect(mine.bodies()).toEqual([]);
    after.clock.advance(1);
    expect(mine.bodies()).toEqual(['a']);
  });

  it('that ended while no process ran end at the start, for good', async () => {
    const { pause, crash } = await arrange();
    pause('kept', { for: 1_000 });
    const after = await crash(1_000);
    after.clock.advance(0);
    expect(after.vhost.queues.get('kept')?.pausing.state).toBeUndefined();
    await after.store.sync();
    const again = new ManualClock(0); // a clock that was set back does not bring it back
    const crashed = await after.store.crashed(again);
    const reborn = new Broker({ ...lent(again), journal: crashed.journal });
    crashed.restore(reborn);
    expect(reborn.virtualHost('/').queues.get('kept')?.pausing.state).toBeUndefined();
  });

  it('that were ended are not there again, nor those of deleted queues of the same name', async () => {
    const { pause, crash, vhost, channel } = await arrange();
    pause('kept');
    vhost.resumeQueue('kept');
    expect((await crash()).vhost.queues.get('kept')?.pausing.state).toBeUndefined();
    pause('kept');
    channel.deleteQueue('kept');
    channel.declareQueue('kept', { durable: true });
    const after = await crash();
    expect(after.vhost.queues.get('kept')?.pausing.state).toBeUndefined();
  });
});

describe('pauses on disk (rule X5)', () => {
  it('survive the checkpoint that a compaction writes', async () => {
    const disk = new FakeDisk();
    disk.isManual = false;
    const clock = new ManualClock();
    const open = () => DiskJournal.open(disk, { diskFree: 0, segment: 1_024, slack: 0, factor: 1.1, now: () => 0 });
    const journal = await open();
    const broker = new Broker({ ...lent(clock), journal });
    journal.restore(broker);
    const vhost = broker.virtualHost('/');
    const { channel } = listen(broker);
    channel.declareQueue('q', { durable: true });
    vhost.pauseQueue(vhost.queues.get('q')!, { reason: 'long ago' });
    await journal.flush();
    for (let n = 0; n < 200; n++) {
      publishText(channel, '', 'q', 'x'.repeat(200), persistent);
      channel.get('q', { noAck: true });
      await journal.flush();
    }
    expect(journal.stats.segments).toBeLessThan(20); // the first segments are gone
    await journal.close();
    const second = await open();
    const reborn = new Broker({ ...lent(clock), journal: second });
    second.restore(reborn);
    expect(reborn.virtualHost('/').queues.get('q')?.pausing.state?.reason).toBe('long ago');
    await second.close();
  });

  it('go with a queue that is renamed or removed in a closed directory', async () => {
    const directory = join(folder, 'edited');
    const open = async () => {
      const opened = await harness(directory, { durability: 'none' });
      return { ...opened, vhost: opened.broker.virtualHost('/') };
    };
    const first = await open();
    listen(first.broker).channel.declareQueue('q', { durable: true });
    first.vhost.pauseQueue(first.vhost.queues.get('q')!, { reason: 'why' });
    await first.data.close();
    const quiet = async (): Promise<void> => undefined;
    await editQueue(directory, { vhost: '/', queue: 'q', to: 'r', dryRun: false }, quiet);
    const second = await open();
    expect(second.vhost.queues.get('r')?.pausing.state?.reason).toBe('why');
    await second.data.close();
    await editQueue(directory, { vhost: '/', queue: 'r', dryRun: false }, quiet);
    const third = await open();
    const { channel } = listen(third.broker);
    for (const name of ['q', 'r']) {
      channel.declareQueue(name, { durable: true });
      expect(third.vhost.queues.get(name)?.pausing.state).toBeUndefined();
    }
    await third.data.close();
  });
});
