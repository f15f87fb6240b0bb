import {
  type BindingDetails,
  type Broker,
  outlives,
  restoreTopology,
  type TopologyChange,
} from '../../broker/index.js';
import { isPredeclared } from '../../message/index.js';
import { DurableTopology, holderOf } from '../durable-topology.js';
import type { Batch } from './batch.js';
import type { Plain } from './plain-codec.js';

const root = '/';

export interface QueuePlace {
  readonly vhost: string;
  readonly name: string;
}

/**
 * What is declared, with a number for each queue that is kept, and for each delayed exchange, which the log takes for a
 * queue. Numbers of queues are never used again.
 */
export class Declared {
  readonly #topology = new DurableTopology();
  readonly #numbers = new Map<string, number>();
  readonly #places = new Map<number, QueuePlace>();
  #next = 1;
  /** As it was before the log began to tell it anew. */
  #before: ReadonlyMap<number, QueuePlace> | undefined;
  #topologyBefore: DurableTopology | undefined;

  /** Undefined for a queue that is not kept (rule L1). */
  numberOf(vhost: string, name: string): number | undefined {
    return this.#numbers.get(DurableTopology.placeOf(vhost, name));
  }

  placeOf(number: number): QueuePlace | undefined {
    return this.#places.get(number);
  }

  queues(): IterableIterator<[number, QueuePlace]> {
    return this.#places.entries();
  }

  /** Whether the log has to tell it: not what dies with the process. */
  isKept(change: TopologyChange): boolean {
    if (change.change === 'removed') return change.kind === 'vhost' || this.#topology.has(change);
    if (!outlives(change)) return false;
    if (change.kind !== 'binding') return true;
    const { to, destination } = change.details;
    const { vhost } = change;
    if (!this.#hasExchange(vhost, change.name)) return false;
    if (to === 'exchange') return this.#hasExchange(vhost, destination);
    return this.numberOf(vhost, destination) !== undefined;
  }

  /**
   * @param number of a queue, as the log has it; default: a new number
   * @returns the numbers of the queues that went
   */
  change(change: TopologyChange, number?: number): readonly number[] {
    this.#topology.changed(change);
    const holder = holderOf(change);
    if (holder !== undefined) {
      if (change.change === 'added') this.#give(holder, number);
      else return this.#take([holder]);
    } else if (change.kind === 'vhost' && change.change === 'removed') {
      return this.#take([...this.#places.values()].filter(({ vhost }) => vhost === change.vhost));
    }
    return [];
  }

  /**
   * A queue goes under another name, with its number: what it holds, its bindings and its arguments come along.
   * @returns false when there is no such queue, or there is one of the other name
   */
  rename(vhost: string, from: string, to: string): boolean {
    const number = this.numberOf(vhost, from);
    if (number === undefined || this.numberOf(vhost, to) !== undefined) return false;
    const renamed: TopologyChange[] = [];
    for (const added of this.#topology.all()) {
      if (added.kind === 'queue' && added.vhost === vhost && added.name === from)
        renamed.unshift({ ...added, name: to, details: { ...added.details, name: to } });
      else if (added.kind === 'binding' && added.vhost === vhost && leadsTo(added.details, from))
        renamed.push({ ...added, details: { ...added.details, destination: to } });
    }
    this.change({ kind: 'queue', change: 'removed', vhost, name: from });
    for (const added of renamed) this.change(added, added.kind === 'queue' ? number : undefined);
    return true;
  }

  /** The log tells all of it anew, as far as {@link complete}. */
  begin(): void {
    this.#before ??= new Map(this.#places);
    this.#topologyBefore ??= this.#topology.copy();
    this.#topology.clear();
    this.#numbers.clear();
    this.#places.clear();
  }

  /**
   * The log has been read completely.
   * @param isDamaged a part of the log was damaged: objects without a record are taken to be unchanged
   * @returns the numbers of the queues that went
   */
  complete(isDamaged: boolean): readonly number[] {
    const [before, topology] = [this.#before, this.#topologyBefore];
    if (before === undefined || topology === undefined) return [];
    this.#before = undefined;
    this.#topologyBefore = undefined;
    if (isDamaged) {
      const numbers = new Map(
        [...before].map(([number, { vhost, name }]) => [DurableTopology.placeOf(vhost, name), number]),
      );
      for (const added of topology.all()) {
        if (this.#topology.has(added)) continue;
        const holder = holderOf(added);
        this.change(added, holder && numbers.get(DurableTopology.placeOf(holder.vhost, holder.name)));
      }
    }
    return [...before.keys()].filter((number) => !this.#places.has(number));
  }

  /**
   * Writes all of it, one thing with each step. An object that changes meanwhile may be written in its old or new
   * state, so the changes have to be written after it.
   */
  *writing(batch: Batch): Generator<void, undefined> {
    batch.checkpoint();
    for (const added of this.#topology.all()) {
      batch.topology(this.numberFor(added), plainOf(added));
      yield;
    }
  }

  /** The number of the queue a change is about, 0 for none. */
  numberFor(change: TopologyChange): number {
    const holder = change.change === 'added' ? holderOf(change) : undefined;
    return holder === undefined ? 0 : (this.numberOf(holder.vhost, holder.name) ?? 0);
  }

  /**
   * Lets go of what went with other things.
   * @param limit things at most
   * @returns whether there are more
   */
  forgetSome(limit: number): boolean {
    return this.#topology.forgetSome(limit);
  }

  restore(broker: Broker): void {
    this.#topology.forgetSome(Infinity);
    restoreTopology(broker, this.#topology.all());
    if (this.#lostRoot) broker.removeVirtualHost(root);
  }

  /** The virtual host every broker begins with was deleted. */
  get #lostRoot(): boolean {
    let others = false;
    for (const added of this.#topology.all()) {
      if (added.kind !== 'vhost') continue;
      if (added.vhost === root) return false;
      others = true;
    }
    return others;
  }

  #give({ vhost, name }: QueuePlace, number = this.#next): void {
    this.#next = Math.max(this.#next, number + 1);
    const place = DurableTopology.placeOf(vhost, name);
    // Where a damaged log tells of a renamed queue under both names, the last one counts.
    const other = this.#places.get(number);
    if (other !== undefined && (other.vhost !== vhost || other.name !== name)) {
      this.#numbers.delete(DurableTopology.placeOf(other.vhost, other.name));
      this.#topology.changed({ kind: 'queue', change: 'removed', ...other });
    }
    const before = this.#numbers.get(place);
    if (before !== undefined) this.#places.delete(before);
    this.#numbers.set(place, number);
    this.#places.set(number, { vhost, name });
  }

  #take(queues: readonly QueuePlace[]): readonly number[] {
    const numbers: number[] = [];
    for (const { vhost, name } of queues) {
      const place = DurableTopology.placeOf(vhost, name);
      const number = this.#numbers.get(place);
      if (number === undefined) continue;
      this.#numbers.delete(place);
      this.#places.delete(number);
      numbers.push(number);
    }
    return numbers;
  }

  /** Those every virtual host is born with are there without having been declared. */
  #hasExchange(vhost: string, name: string): boolean {
    return isPredeclared(name) || this.#topology.hasExchange(vhost, name);
  }
}

const leadsTo = ({ to, destination }: BindingDetails, queue: string): boolean =>
  to === 'queue' && destination === queue;

/** As it stands in the log: an owner is a connection, and nothing that is kept has one. */
export function plainOf(change: TopologyChange): Plain {
  if (change.kind !== 'queue' || change.change !== 'added') return change as unknown as Plain;
  const { name, type, durable, autoDelete, arguments: args } = change.details;
  return { ...change, details: { name, type, durable, autoDelete, arguments: args } } as unknown as Plain;
}
