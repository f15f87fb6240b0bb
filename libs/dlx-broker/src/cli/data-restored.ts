import { policyPatterns, randomNames } from '../platform/index.js';
import { Broker, type Queue, type RetainedDeath } from '../engine/broker/index.js';
import { type Data, inspectData } from '../store/index.js';

type Entry = Parameters<Parameters<Queue['peek']>[0]>[0];

/** A data directory, loaded into a broker that is stopped: it expires, delivers and writes nothing. */
export interface Restored {
  readonly broker: Broker;
  readonly data: Data;
}

/** Reads all segments, and compares them with their hints. @throws StoreError */
export async function restored(directory: string): Promise<Restored> {
  const data = await inspectData(directory, { hints: 'check' });
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

/** A message. `due`: the time at which a delayed message is due, in milliseconds since 1970; 0 for other messages. */
export interface Kept {
  readonly entry: Entry;
  readonly due: number;
  /** The death of a message whose dead letter has not arrived yet. */
  readonly death?: RetainedDeath;
}

/** A queue or a delayed exchange, with its messages. */
export interface Contents {
  readonly vhost: string;
  readonly queue?: string;
  /** Of a delayed exchange. */
  readonly exchange?: string;
  readonly kept: readonly Kept[];
}

/** The messages of all queues and delayed exchanges, also those that died and are not dead-lettered yet. */
export function* contentsOf(broker: Broker): Generator<Contents> {
  const dying = new Map<object, Kept[]>();
  for (const vhost of broker.virtualHosts.values()) {
    vhost.dead.each((death) => {
      const { queue, entry } = death;
      const one = { entry, due: 0, death };
      if (!dying.get(queue)?.push(one)) dying.set(queue, [one]);
    });
    break; // all virtual hosts share one list
  }
  for (const { name: vhost, queues, exchanges } of broker.virtualHosts.values()) {
    for (const queue of queues.values()) {
      const kept: Kept[] = dying.get(queue) ?? [];
      const delayed: Kept[] = [];
      const ready = (entry: Entry): void => void kept.push({ entry, due: 0 });
      queue.peek(ready, (entry, due) => void delayed.push({ entry, due }));
      yield { vhost, queue: queue.name, kept: kept.concat(delayed.sort(byDue)) };
    }
    for (const { name, delayed } of exchanges.values()) {
      if (delayed === undefined) continue;
      const kept: Kept[] = [];
      delayed.each((entry) => void kept.push({ entry, due: entry.due }));
      yield { vhost, exchange: name, kept: kept.sort(byDue) };
    }
  }
}

const byDue = (one: Kept, other: Kept): number => one.due - other.due || one.entry.position - other.entry.position;
