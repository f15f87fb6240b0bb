import {
  type Broker,
  delayedName,
  type MessageOwner,
  type Journal,
  restoringTopology,
  type RetainedDeath,
  type TopologyChange,
} from '../../libs/dlx-broker/src/engine/broker/index.js';
import type { VirtualHost } from '../../libs/dlx-broker/src/engine/broker/index.js';
import type { Message } from '../../libs/dlx-broker/src/engine/message/index.js';
import { DurableTopology } from '../../libs/dlx-broker/src/store/durable-topology.js';

export type Entry = Parameters<Journal['enqueued']>[1];

/** A message as it has to be restored. */
export interface Kept {
  readonly message: Message;
  readonly position: number;
  readonly deadline: number;
  readonly returns: number;
  readonly failures: number;
  readonly due: number;
  readonly delivered: boolean;
  readonly death?: RetainedDeath;
}

type Returned = Pick<Kept, 'position' | 'returns' | 'failures' | 'due'>;

/** One operation of a journal, with everything read from the engine at that moment. */
export type Said =
  | { readonly change: TopologyChange }
  | { readonly suspect: true }
  | { readonly place: string; readonly id: number; readonly is: Kept | undefined }
  | { readonly place: string; readonly id: number; readonly delivered: true }
  | { readonly place: string; readonly id: number; readonly death: RetainedDeath }
  | ({ readonly place: string; readonly id: number } & Returned);

/** The state of a store after a number of commits, calculated in the simplest way. */
export class StoredState {
  readonly topology: DurableTopology;
  /** By queue and message; in the order of arrival, returned ones in the order of their return. */
  readonly messages = new Map<string, Map<number, Kept>>();

  constructor(topology = new DurableTopology()) {
    this.topology = topology;
  }

  copy(): StoredState {
    const copy = new StoredState(this.topology.copy());
    for (const [place, messages] of this.messages) copy.messages.set(place, new Map(messages));
    return copy;
  }

  /** The number of messages, counted in each of their queues. */
  get count(): number {
    let count = 0;
    for (const messages of this.messages.values()) count += messages.size;
    return count;
  }

  apply(said: readonly Said[]): void {
    for (const one of said) {
      if ('change' in one) this.#changed(one.change);
      else if ('suspect' in one) this.#suspect();
      else if ('is' in one) this.#put(one.place, one.id, one.is);
      else if ('delivered' in one) this.#change(one.place, one.id, { delivered: true });
      else if ('death' in one) this.#moved(one.place, one.id, { death: one.death });
      else this.#moved(one.place, one.id, returnOf(one));
    }
  }

  /**
   * Restores the state in a new broker (sections J and L of the rules).
   * @param afterCrash messages of classic queues may have been delivered
   */
  restore(broker: Broker, afterCrash = false): void {
    broker.batch(() => {
      Array.from(restoringTopology(broker, this.topology.all()));
      for (const [place, messages] of this.messages) {
        const { vhost, name } = JSON.parse(place) as { vhost: string; name: string };
        const home = broker.virtualHost(vhost);
        const queue = home.messageOwner(name);
        if (queue !== undefined) refill(home, queue, [...messages.values()], afterCrash);
      }
    });
  }

  /** The process before crashed: each message of a classic queue may have been delivered. */
  #suspect(): void {
    const classic = new Set<string>();
    for (const added of this.topology.all())
      if (added.kind === 'queue' && added.details.type === 'classic')
        classic.add(DurableTopology.placeOf(added.vhost, added.name));
    for (const [place, messages] of this.messages) {
      if (!classic.has(place)) continue;
      for (const [id, kept] of messages) if (kept.returns === 0) messages.set(id, { ...kept, returns: 1, failures: 1 });
    }
  }

  #changed(change: TopologyChange): void {
    this.topology.changed(change);
    if (change.change !== 'removed') return;
    if (change.kind === 'queue') this.messages.delete(DurableTopology.placeOf(change.vhost, change.name));
    if (change.kind === 'exchange')
      this.messages.delete(DurableTopology.placeOf(change.vhost, delayedName(change.name)));
    if (change.kind !== 'vhost') return;
    for (const place of this.messages.keys()) {
      if ((JSON.parse(place) as { vhost: string }).vhost === change.vhost) this.messages.delete(place);
    }
  }

  #put(place: string, id: number, kept: Kept | undefined): void {
    let messages = this.messages.get(place);
    if (messages === undefined) this.messages.set(place, (messages = new Map()));
    if (kept === undefined) messages.delete(id);
    else messages.set(id, kept);
  }

  #change(place: string, id: number, change: Partial<Kept>): void {
    const kept = this.messages.get(place)?.get(id);
    if (kept !== undefined) this.#put(place, id, { ...kept, ...change });
  }

  /** Moves a message to the end of its queue. */
  #moved(place: string, id: number, change: Partial<Kept>): void {
    const kept = this.messages.get(place)?.get(id);
    if (kept === undefined) return;
    this.#put(place, id, undefined);
    this.#put(place, id, { ...kept, ...change, delivered: false });
  }
}

const returnOf = ({ position, returns, failures, due }: Returned): Returned => ({ position, returns, failures, due });

function refill(home: VirtualHost, queue: MessageOwner, all: readonly Kept[], afterCrash: boolean): void {
  const suspect = afterCrash && queue.declared.type === 'classic';
  const byPosition = (one: Kept, other: Kept): number => one.position - other.position;
  const dead = all.filter(({ death }) => death !== undefined);
  const alive = all.filter(({ death }) => death === undefined);
  const fresh = alive.filter(({ returns, delivered }) => returns === 0 && !delivered).sort(byPosition);
  const returned = alive.filter(({ returns, delivered }) => returns > 0 && !delivered);
  const unacked = alive.filter(({ delivered }) => delivered).sort(byPosition);
  const ordered = queue.declared.type === 'classic' ? [returned, unacked, fresh] : [fresh, returned, unacked];
  for (const kept of [...ordered.flat(), ...dead])
    queue.restore(kept.message, { ...kept, suspect }, home.scheduler.clock.now());
}
