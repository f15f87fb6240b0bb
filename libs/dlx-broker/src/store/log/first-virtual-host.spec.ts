import { describe, expect, it } from 'vitest';
import { FakeDisk } from '../../../../../test/durability/fake-disk.js';
import { Random } from '../../../../../test/fuzz/random.js';
import { listen } from '../../../../../test/harnesses/listener.js';
import { Broker } from '../../engine/broker/index.js';
import { CountedNames } from '../../nest/testing/counted-names.js';
import { ManualClock } from '../../nest/testing/manual-clock.js';
import { Declared } from './declared.js';
import { DiskJournal } from './disk-journal.js';

const patterns = { compile: () => ({ matches: () => true }) };
const newBroker = (journal?: DiskJournal): Broker =>
  new Broker({ clock: new ManualClock(), names: new CountedNames(), patterns, ...(journal && { journal }) });

async function start(disk: FakeDisk) {
  const journal = await DiskJournal.open(disk, { now: () => 0, diskFree: 0 });
  const broker = newBroker(journal);
  journal.restore(broker);
  return { journal, broker };
}

const queuesOf = (broker: Broker, vhost: string): readonly string[] => [
  ...(broker.virtualHosts.get(vhost)?.queues.keys() ?? []),
];

/** A first start and a first queue. @returns the disk after power cuts at each step of it */
async function cuts(): Promise<FakeDisk[]> {
  const disk = new FakeDisk();
  disk.isManual = false;
  const random = new Random(1);
  const found: FakeDisk[] = [];
  disk.onStep = () => void found.push(...Array.from({ length: 5 }, () => disk.afterPowerCut(random)));
  const { broker, journal } = await start(disk);
  listen(broker).channel.declareQueue('first', { durable: true });
  await journal.close();
  return found;
}

describe('the first virtual host', () => {
  it('stays with its queues beside a second one, wherever the first start of all was cut short', async () => {
    const disks = await cuts();
    expect(disks.length).toBeGreaterThan(20);
    for (const disk of disks) {
      disk.isManual = false;
      const second = await start(disk);
      listen(second.broker).channel.declareQueue('q', { durable: true });
      second.broker.addVirtualHost('other');
      await second.journal.close();
      const third = await start(disk);
      expect(queuesOf(third.broker, '/')).toContain('q');
      await third.journal.close();
    }
  });

  it('stays when the log does not name it and something is declared in it', () => {
    const declared = new Declared();
    declared.change({ kind: 'vhost', change: 'added', vhost: 'other', details: { description: '', tags: [] } });
    const details = { name: 'q', type: 'classic', durable: true, autoDelete: false, arguments: new Map() } as const;
    declared.change({
      kind: 'queue',
      change: 'added',
      vhost: '/',
      name: 'q',
      details: { ...details, owner: undefined },
    });
    const broker = newBroker();
    expect([...declared.restoring(broker)]).toBeDefined();
    expect(queuesOf(broker, '/')).toEqual(['q']);
  });

  it('stays deleted', async () => {
    const disk = new FakeDisk();
    disk.isManual = false;
    const first = await start(disk);
    first.broker.addVirtualHost('other');
    listen(first.broker).channel.declareQueue('q', { durable: true });
    first.broker.removeVirtualHost('/');
    await first.journal.close();
    for (let times = 0; times < 2; times++) {
      const { broker, journal } = await start(disk);
      expect([...broker.virtualHosts.keys()]).toEqual(['other']);
      await journal.close();
    }
  });
});
