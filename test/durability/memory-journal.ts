import {
  type Broker,
  exchangeOfDelayed,
  type MessageOwner,
  inRestoreOrder,
  isPersistent,
  type Journal,
  restoringTopology,
  type RetainedDeath,
  type Settled,
  type TopologyChange,
  type VirtualHost,
} from '../../libs/dlx-broker/src/engine/broker/index.js';
import type { Message } from '../../libs/dlx-broker/src/engine/message/index.js';
import { DurableTopology } from '../../libs/dlx-broker/src/store/durable-topology.js';

type Entry = Parameters<Journal['enqueued']>[1];

/** A message as it is restored. */
interface Kept {
  readonly message: Message;
  position: number;
  readonly deadline: number;
  returns: number;
  readonly failures?: number;
  readonly due?: number;
  delivered: boolean;
  readonly death?: RetainedDeath;
}

interface Batch {
  readonly operations: readonly (() => void)[];
  readonly synced: Settled | undefined;
}

/**
 * A journal in memory that outlives its broker. It shows what a journal has to do. All operations since the last commit take effect
 * together with the next one. They are durable at once, or with {@link sync}.
 */
export class MemoryJournal implements Journal {
  readonly #topology: DurableTopology;
  /** By virtual host, queue, and entry; in the order of arrival, returned and dead ones in the order of that. */
  readonly #messages = new Map<string, Map<Entry, Kept>>();
  #said: (() => void)[] = [];
  #told = 0;
  #unsynced: Batch[] = [];

  /** @param later nothing is durable until {@link sync} is called */
  constructor(
    readonly later = false,
    topology = new DurableTopology(),
  ) {
    this.#topology = topology;
  }

  get sequence(): number {
    return this.#told + this.#said.length;
  }

  refuses(): boolean {
    return false;
  }

  changed(change: TopologyChange): void {
    this.#said.push(() => {
      this.#topology.changed(change);
      this.#topology.forgetSome(Infinity);
      for (const place of this.#messages.keys()) if (!this.#isDeclared(place)) this.#messages.delete(place);
    });
  }

  /** Whether the queue, or the delayed exchange, is declared. */
  #isDeclared(place: string): boolean {
    const { vhost, name } = JSON.parse(place) as { vhost: string; name: string };
    const exchange = exchangeOfDelayed(name);
    if (exchange !== undefined) return this.#topology.hasExchange(vhost, exchange);
    return this.#topology.has({ kind: 'queue', change: 'removed', vhost, name });
  }

  enqueued(queue: MessageOwner, entry: Entry): void {
    if (!keeps(queue, entry)) return;
    const { message, position, deadline, due, failures } = entry;
    const kept: Kept = { message, position, deadline, due, failures, returns: 0, delivered: false };
    this.#said.push(() => void this.#of(queue).set(entry, kept));
  }

  delivered(queue: MessageOwner, entry: Entry): void {
    if (keeps(queue, entry)) this.#change(queue, entry, (kept) => (kept.delivered = true));
  }

  returned(queue: MessageOwner, entry: Entry): void {
    const { position, returns, failures, due } = entry;
    this.#moved(queue, entry, { position, returns, failures, due });
  }

  died(queue: MessageOwner, entry: Entry, { reason, time, headers }: RetainedDeath): void {
    this.#moved(queue, entry, { death: { reason, time, headers } });
  }

  settled(queue: MessageOwner, entry: Entry): void {
    if (keeps(queue, entry)) this.#said.push(() => void this.#of(queue).delete(entry));
  }

  commit(synced: Settled | undefined): void {
    const operations = this.#said;
    this.#told += operations.length;
    this.#said = [];
    // Rule L1: what is not kept promises nothing, and waits for others only.
    if (operations.length > 0 || this.#unsynced.length > 0) this.#unsynced.push({ operations, synced });
    else synced?.();
    if (!this.later) this.sync();
  }

  /** Everything committed is durable from now on; all waiters are called in one step. */
  sync(): void {
    const batches = this.#unsynced;
    this.#unsynced = [];
    for (const { operations } of batches) for (const operation of operations) operation();
    batches.findLast(({ synced }) => synced !== undefined)?.synced?.();
  }

  /** A new journal with the durable state of this one: what a crash would leave. */
  fork(): MemoryJournal {
    const fork = new MemoryJournal(this.later, this.#topology.copy());
    for (const [place, messages] of this.#messages) {
      fork.#messages.set(place, new Map([...messages].map(([entry, kept]) => [entry, { ...kept }])));
    }
    return fork;
  }

  /** The number of commits that a crash would lose now. */
  get unsyncedCount(): number {
    return this.#unsynced.length;
  }

  /**
   * Restores the durable state in a new broker, as after a crash: unsynced commits are lost (rules L1 to L3).
   * @param broker may use this journal itself
   */
  restore(broker: Broker): void {
    this.#said = [];
    this.#unsynced = [];
    const saved = new Map(this.#messages);
    broker.batch(() => {
      Array.from(restoringTopology(broker, this.#topology.all()));
      for (const [place, messages] of saved) {
        const { vhost, name } = JSON.parse(place) as { vhost: string; name: string };
        const home = broker.virtualHost(vhost);
        const queue = home.messageOwner(name);
        this.#messages.delete(place);
        if (queue !== undefined) this.#refill(home, queue, [...messages.values()]);
      }
    });
  }

  #refill(home: VirtualHost, queue: MessageOwner, all: readonly Kept[]): void {
    const byPosition = (one: Kept, other: Kept): number => one.position - other.position;
    const dead = all.filter(({ death }) => death !== undefined);
    const alive = all.filter(({ death }) => death === undefined);
    const fresh = alive.filter(({ returns, delivered }) => returns === 0 && !delivered).sort(byPosition);
    const returned = alive.filter(({ returns, delivered }) => returns > 0 && !delivered);
    const unacked = alive.filter(({ delivered }) => delivered).sort(byPosition);
    const messages = this.#of(queue);
    const ordered = inRestoreOrder(queue.declared, { fresh, returned, held: unacked });
    for (const kept of [...ordered.flat(), ...dead]) {
      const entry = queue.restore(kept.message, kept, home.scheduler.clock.now());
      messages.set(entry, { ...kept, returns: entry.returns, delivered: false });
    }
  }

  /** Moves a message to the end of its queue, as ready. */
  #moved(queue: MessageOwner, entry: Entry, change: Partial<Kept>): void {
    if (!keeps(queue, entry)) return;
    this.#said.push(() => {
      const messages = this.#of(queue);
      const kept = messages.get(entry);
      messages.delete(entry);
      if (kept !== undefined) messages.set(entry, { ...kept, ...change, delivered: false });
    });
  }

  #change(queue: MessageOwner, entry: Entry, change: (kept: Kept) => void): void {
    this.#said.push(() => {
      const kept = this.#of(queue).get(entry);
      if (kept !== undefined) change(kept);
    });
  }

  #of(queue: MessageOwner): Map<Entry, Kept> {
    const place = DurableTopology.placeOf(queue.home.name, queue.name);
    let messages = this.#messages.get(place);
    if (messages === undefined) this.#messages.set(place, (messages = new Map()));
    return messages;
  }
}

/** Rules L1 and L3. */
const keeps = ({ declared }: MessageOwner, { message, position }: Entry): boolean =>
  position > 0 && declared.durable && declared.owner === undefined && isPersistent(declared, message);
