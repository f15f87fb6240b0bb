import {
  type BindingDetails,
  type Broker,
  outlives,
  restoringTopology,
  type TopologyChange,
  type VirtualHostMetadata,
} from '../../engine/broker/index.js';
import { isPredeclared } from '../../engine/message/index.js';
import { DurableTopology, ownerOf } from '../durable-topology.js';
import type { Batch } from './batch.js';
import type { Plain } from './plain-codec.js';

const root = '/';

interface QueuePlace {
  readonly vhost: string;
  readonly name: string;
}

/**
 * The durable declarations, with a number for each durable queue and each delayed exchange, which the log treats as a queue. A number is
 * never used for another queue.
 */
export class Declared {
  readonly #topology = new DurableTopology();
  /** Of the queues of each virtual host, by name. */
  readonly #numbers = new Map<string, Map<string, number>>();
  readonly #allPlaces = new Map<number, QueuePlace>();
  /** Queues of deleted virtual hosts whose places are in memory. */
  readonly #gone: number[][] = [];
  /** Of a queue that had messages at the start after a crash: the position from which on its messages came later. */
  #suspects = new Map<number, number>();
  #next = 1;
  /** The state before the checkpoint that is being replayed. */
  #before: ReadonlyMap<number, QueuePlace> | undefined;
  #topologyBefore: DurableTopology | undefined;
  #suspectsBefore: ReadonlyMap<number, number> | undefined;

  /** The number of a queue; undefined for a queue that is not durable (rule L1). */
  numberOf(vhost: string, name: string): number | undefined {
    return this.#numbers.get(vhost)?.get(name);
  }

  /** The places of queues that are declared. */
  get #places(): Map<number, QueuePlace> {
    this.#forgetPlaces(Infinity);
    return this.#allPlaces;
  }

  placeOf(number: number): QueuePlace | undefined {
    return this.#places.get(number);
  }

  /** Messages of a queue at positions below may have been delivered before a crash; 0 for none. */
  suspectBelow(queue: number): number {
    return this.#suspects.get(queue) ?? 0;
  }

  /** Sets {@link suspectBelow}. The next checkpoint has it. */
  suspect(queue: number, below: number): void {
    if (below > 0) this.#suspects.set(queue, below);
    else this.#suspects.delete(queue);
  }

  queues(): IterableIterator<[number, QueuePlace]> {
    return this.#places.entries();
  }

  /** Whether the change has to be written: the object outlives the process. */
  isKept(change: TopologyChange): boolean {
    if (change.change === 'removed') return change.kind === 'vhost' || this.#topology.has(change);
    if (!outlives(change)) return false;
    if (change.kind === 'queue-pause') return this.numberOf(change.vhost, change.name) !== undefined;
    if (change.kind !== 'binding') return true;
    const { to, destination } = change.details;
    const { vhost } = change;
    if (!this.#hasExchange(vhost, change.name)) return false;
    if (to === 'exchange') return this.#hasExchange(vhost, destination);
    return this.numberOf(vhost, destination) !== undefined;
  }

  /**
   * @param number of the queue, from the log; default: a new number
   * @returns the numbers of deleted queues
   */
  change(change: TopologyChange, number?: number): readonly number[] {
    this.#topology.changed(change);
    const owner = ownerOf(change);
    if (owner !== undefined) {
      if (change.change === 'added') this.#assign(owner, number);
      else return this.#release(owner);
    } else if (change.kind === 'vhost' && change.change === 'removed') {
      return this.#releaseAll(change.vhost);
    }
    return [];
  }

  /**
   * Renames a queue. It keeps its number, and so its messages, its bindings, its arguments and its pause.
   * @returns false when there is no such queue, or one with the new name
   */
  rename(vhost: string, from: string, to: string): boolean {
    const number = this.numberOf(vhost, from);
    if (number === undefined || this.numberOf(vhost, to) !== undefined) return false;
    const renamed: TopologyChange[] = [];
    for (const added of this.#topology.all()) {
      if (added.kind === 'queue' && added.vhost === vhost && added.name === from)
        renamed.unshift({ ...added, name: to, details: { ...added.details, name: to } });
      else if (added.kind === 'queue-pause' && added.vhost === vhost && added.name === from)
        renamed.push({ ...added, name: to });
      else if (added.kind === 'binding' && added.vhost === vhost && leadsTo(added.details, from))
        renamed.push({ ...added, details: { ...added.details, destination: to } });
    }
    const suspectBelow = this.suspectBelow(number);
    this.change({ kind: 'queue', change: 'removed', vhost, name: from });
    for (const added of renamed) this.change(added, added.kind === 'queue' ? number : undefined);
    this.suspect(number, suspectBelow);
    return true;
  }

  /** Numbers up to this one are used by entries in the log, perhaps of deleted queues: no other queue gets them. */
  skip(number: number): void {
    this.#next = Math.max(this.#next, number + 1);
  }

  /** A checkpoint has begun in the log, and its batch is not complete. */
  get isBegun(): boolean {
    return this.#before !== undefined;
  }

  /** A checkpoint begins in the log. It ends with {@link complete}. */
  begin(): void {
    this.#before ??= new Map(this.#places);
    this.#topologyBefore ??= this.#topology.copy();
    this.#suspectsBefore ??= this.#suspects;
    this.#suspects = new Map();
    this.#topology.clear();
    this.#numbers.clear();
    this.#allPlaces.clear();
    this.#gone.length = 0;
  }

  /**
   * The batch of the checkpoint is complete.
   * @param isDamaged a part of it was damaged: objects without a record are taken to be unchanged
   * @returns the numbers of deleted queues
   */
  complete(isDamaged: boolean): readonly number[] {
    const [before, topology, suspects] = [this.#before, this.#topologyBefore, this.#suspectsBefore];
    if (before === undefined || topology === undefined) return [];
    this.#before = undefined;
    this.#topologyBefore = undefined;
    this.#suspectsBefore = undefined;
    if (isDamaged) {
      const numbers = new Map(
        [...before].map(([number, { vhost, name }]) => [DurableTopology.placeOf(vhost, name), number]),
      );
      for (const added of topology.all()) {
        if (this.#topology.has(added)) continue;
        const owner = ownerOf(added);
        const number = owner && numbers.get(DurableTopology.placeOf(owner.vhost, owner.name));
        this.change(added, number);
        if (number !== undefined) this.suspect(number, suspects?.get(number) ?? 0);
      }
    }
    return [...before.keys()].filter((number) => !this.#places.has(number));
  }

  /**
   * Writes a checkpoint, one object a step. An object that changes meanwhile may be written in its old or new state, so
   * changes have to be written after it.
   */
  *writing(batch: Batch): Generator<void, undefined> {
    batch.checkpoint();
    for (const added of this.#topology.all()) {
      const number = this.numberFor(added);
      batch.topology(number, plainOf(added), this.suspectBelow(number));
      yield;
    }
  }

  /** The number of the queue that a change declares, 0 for none. */
  numberFor(change: TopologyChange): number {
    const owner = change.change === 'added' ? ownerOf(change) : undefined;
    return owner === undefined ? 0 : (this.numberOf(owner.vhost, owner.name) ?? 0);
  }

  /**
   * Frees the memory of declarations that were deleted with others.
   * @param limit the most declarations to free, and the most places of queues
   * @returns whether there are more
   */
  forgetSome(limit: number): boolean {
    return this.#topology.forgetSome(this.#forgetPlaces(limit));
  }

  /** @returns how many more may be forgotten */
  #forgetPlaces(limit: number): number {
    let left = limit;
    for (let numbers = this.#gone.at(-1); numbers !== undefined && left > 0; numbers = this.#gone.at(-1)) {
      for (; numbers.length > 0 && left > 0; left--) {
        const number = numbers.pop() as number;
        this.#allPlaces.delete(number);
        this.#suspects.delete(number);
      }
      if (numbers.length === 0) this.#gone.pop();
    }
    return left;
  }

  /** Declares everything in a broker that is fresh: some of it in each step. */
  *restoring(broker: Broker): Generator<void, undefined> {
    this.forgetSome(Infinity);
    yield* restoringTopology(broker, this.#topology.all());
    if (this.#lostRoot) broker.removeVirtualHost(root);
    else this.#nameRoot(broker.virtualHost(root).metadata);
  }

  /** The first virtual host of every broker was deleted: there are others, and nothing is declared in it. */
  get #lostRoot(): boolean {
    let others = false;
    for (const added of this.#topology.all()) {
      if ('vhost' in added && added.vhost === root) return false;
      others ||= added.kind === 'vhost';
    }
    return others;
  }

  /**
   * Adds the first virtual host if the log lacks it, so that the first checkpoint has it: a crash may have come before the first batch of
   * a new directory was durable.
   */
  #nameRoot(details: VirtualHostMetadata): void {
    const added = { kind: 'vhost', change: 'added', vhost: root, details } as const;
    if (!this.#topology.has(added)) this.#topology.changed(added);
  }

  #assign({ vhost, name }: QueuePlace, number?: number): void {
    if (number !== undefined) this.#renumber({ vhost, name }, number);
    const own = number ?? this.#next;
    this.skip(own);
    const names = this.#numbers.get(vhost) ?? new Map<string, number>();
    const before = names.get(name);
    if (before !== undefined) this.#allPlaces.delete(before);
    this.#numbers.set(vhost, names.set(name, own));
    this.#allPlaces.set(own, { vhost, name });
  }

  /** A damaged log may have both names of a renamed queue: the last one counts. */
  #renumber({ vhost, name }: QueuePlace, number: number): void {
    const other = this.#places.get(number);
    if (other === undefined || (other.vhost === vhost && other.name === name)) return;
    this.#numbers.get(other.vhost)?.delete(other.name);
    this.#topology.changed({ kind: 'queue', change: 'removed', ...other });
  }

  /** @returns the number of the queue, if it has one */
  #release({ vhost, name }: QueuePlace): readonly number[] {
    const number = this.numberOf(vhost, name);
    if (number === undefined) return [];
    this.#numbers.get(vhost)?.delete(name);
    this.#allPlaces.delete(number);
    this.#suspects.delete(number);
    return [number];
  }

  /** Their places go in turns, see {@link forgetSome}. @returns the numbers of all queues of a virtual host */
  #releaseAll(vhost: string): readonly number[] {
    const names = this.#numbers.get(vhost);
    if (names === undefined) return [];
    this.#numbers.delete(vhost);
    const numbers = [...names.values()];
    this.#gone.push(numbers.slice());
    return numbers;
  }

  /** Predeclared exchanges exist without a declaration. */
  #hasExchange(vhost: string, name: string): boolean {
    return isPredeclared(name) || this.#topology.hasExchange(vhost, name);
  }
}

const leadsTo = ({ to, destination }: BindingDetails, queue: string): boolean =>
  to === 'queue' && destination === queue;

/** The form of a change in the log: without an owner, which is a connection, because a durable queue has none. */
export function plainOf(change: TopologyChange): Plain {
  if (change.kind !== 'queue' || change.change !== 'added') return change as unknown as Plain;
  const { name, type, durable, autoDelete, arguments: args } = change.details;
  return { ...change, details: { name, type, durable, autoDelete, arguments: args } } as unknown as Plain;
}
