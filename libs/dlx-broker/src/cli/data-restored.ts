import { policyPatterns, randomNames } from '../backend/index.js';
import { Broker, type Queue } from '../broker/index.js';
import { type Data, inspectData } from '../store/index.js';

type Entry = Parameters<Parameters<Queue['peek']>[0]>[0];

/** A data directory as a broker that stands still: nothing expires, nothing is delivered, nothing is written. */
export interface Restored {
  readonly broker: Broker;
  readonly data: Data;
}

/** @throws StoreError */
export async function restored(directory: string): Promise<Restored> {
  const data = await inspectData(directory);
  const broker = new Broker({
    clock: { now: Date.now, wakeAt: () => undefined },
    names: randomNames,
    patterns: policyPatterns,
    journal: data.journal,
    pace: { budget: 0, later: () => undefined },
  });
  data.journal.restore(broker);
  return { broker, data };
}

/** Every queue with what is in it, also what has died there and would go on at the next start. */
export function* contentsOf(broker: Broker): Generator<{ readonly queue: Queue; readonly entries: readonly Entry[] }> {
  const dying = new Map<Queue, Entry[]>();
  for (const vhost of broker.virtualHosts.values()) {
    vhost.agenda.dead.each(({ queue, entry }) => {
      if (!dying.get(queue)?.push(entry)) dying.set(queue, [entry]);
    });
    break; // all virtual hosts share one
  }
  for (const vhost of broker.virtualHosts.values()) {
    for (const queue of vhost.queues.values()) {
      const entries: Entry[] = dying.get(queue) ?? [];
      queue.peek((entry) => void entries.push(entry));
      yield { queue, entries };
    }
  }
}
