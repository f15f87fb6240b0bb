import type { Broker, Journal } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import { MemoryJournal } from './memory-journal.js';
import type { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { FakeDisk } from './fake-disk.js';

/** A store under test. All stores have to restore the same state. */
export interface Store {
  readonly journal: Journal;
  /** Makes all commits durable. */
  sync(): Promise<void>;
  /** The store after a crash. */
  crashed(clock: ManualClock): Promise<Store>;
  restore(broker: Broker): void;
}

const inMemory = (journal: MemoryJournal): Store => ({
  journal,
  sync: async () => journal.sync(),
  crashed: async () => inMemory(journal.fork()),
  restore: (broker) => journal.restore(broker),
});

async function onDisk(disk: FakeDisk, clock: ManualClock): Promise<Store> {
  disk.isManual = false;
  const journal = await DiskJournal.open(disk, { now: () => clock.now(), memory: 0, diskFree: 0 });
  return {
    journal,
    sync: () => journal.flush(),
    crashed: (later) => onDisk(disk.copy(), later),
    restore: (broker) => journal.restore(broker),
  };
}

/** An empty store of each kind, for `describe.each`. */
export const stores = [
  { name: 'memory', open: async (_clock: ManualClock) => inMemory(new MemoryJournal(true)) },
  { name: 'disk', open: (clock: ManualClock) => onDisk(new FakeDisk(), clock) },
] as const;
