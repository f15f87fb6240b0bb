import type { MessageOwner, RetainedDeath, TopologyChange } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { type Message, messageOf } from '../../libs/dlx-broker/src/engine/message/index.js';
import { DurableTopology } from '../../libs/dlx-broker/src/store/durable-topology.js';
import { bodyOf } from './bodies.js';
import { type Entry, type Kept, type Said, StoredState } from './stored-state.js';

/**
 * Records the commits that a journal under test gets, and which of them the journal reported as durable. After a crash the journal
 * must have exactly the state after one commit: the last durable one, or a later one.
 */
export class Ledger {
  /** Commits that are not durable yet, in order. */
  #unsafe: (readonly Said[])[] = [];
  #said: Said[] = [];
  #committed = 0;
  #ids = new WeakMap<Entry, number>();
  #lastId = 0;
  /** Ids of entries that are rows of a queue, by the number of the row. */
  readonly #rows = new Map<number, number>();
  /** The number of entries that became rows. */
  forgotten = 0;
  /** In which commit a message was published, and whether any queue it then got into is kept. */
  readonly #arrivals = new Map<string, { readonly commit: number; readonly isKept: boolean }>();
  /** Messages that existed when this ledger began, by queue and position. */
  readonly #known = new Map<string, Map<number, number>>();

  /** @param safe the durable state, which changes with each commit that becomes durable */
  constructor(readonly safe = new StoredState()) {
    for (const [place, messages] of safe.messages) {
      const known = new Map<number, number>();
      for (const [id, { position }] of messages) {
        known.set(position, id);
        this.#lastId = Math.max(this.#lastId, id);
      }
      this.#known.set(place, known);
    }
  }

  changed(change: TopologyChange): void {
    this.#said.push({ change });
  }

  /** A start after a crash, which is a commit of its own. */
  suspect(): void {
    this.#said.push({ suspect: true });
    this.commit();
  }

  enqueued(queue: MessageOwner, entry: Entry): void {
    const isKept = keeps(queue, entry);
    this.#arrived(entry.message.properties.messageId as string, isKept);
    if (!isKept) return;
    const id = ++this.#lastId;
    this.#ids.set(entry, id);
    const { position, deadline, due, failures } = entry;
    const message = remembered(entry.message);
    const is: Kept = { message, position, deadline, ...untouched, due, failures };
    this.#said.push({ place: placeOf(queue), id, is });
  }

  /** Records the queue of a publish. A later death of the message does not concern its publisher. */
  #arrived(messageId: string, isKept: boolean): void {
    const known = this.#arrivals.get(messageId);
    const commit = this.#committed + 1;
    if (known === undefined) this.#arrivals.set(messageId, { commit, isKept });
    else if (known.commit === commit && isKept) this.#arrivals.set(messageId, { commit, isKept });
  }

  forgot(number: number, entry: Entry): void {
    this.forgotten++;
    const id = this.#ids.get(entry);
    if (id === undefined) this.#rows.delete(number);
    else this.#rows.set(number, id);
  }

  recalled(number: number, entry: Entry): void {
    const id = this.#rows.get(number);
    if (id !== undefined) this.#ids.set(entry, id);
  }

  delivered(queue: MessageOwner, entry: Entry): void {
    if (keeps(queue, entry)) this.#said.push({ place: placeOf(queue), id: this.#idOf(queue, entry), delivered: true });
  }

  returned(queue: MessageOwner, entry: Entry): void {
    if (!keeps(queue, entry)) return;
    const { position, returns, failures, due } = entry;
    this.#said.push({ place: placeOf(queue), id: this.#idOf(queue, entry), position, returns, failures, due });
  }

  died(queue: MessageOwner, entry: Entry, { reason, time, headers }: RetainedDeath): void {
    if (!keeps(queue, entry)) return;
    this.#said.push({ place: placeOf(queue), id: this.#idOf(queue, entry), death: { reason, time, headers } });
  }

  settled(queue: MessageOwner, entry: Entry): void {
    if (keeps(queue, entry)) this.#said.push({ place: placeOf(queue), id: this.#idOf(queue, entry), is: undefined });
  }

  /** Ends a commit. Commits without a change are not counted. */
  commit(): void {
    if (this.#said.length === 0) return;
    this.#unsafe.push(this.#said);
    this.#said = [];
    this.#committed++;
  }

  /** The number of commits so far, for {@link becameSafe}. */
  get committed(): number {
    return this.#committed;
  }

  becameSafe(upTo: number): void {
    const count = upTo - (this.#committed - this.#unsafe.length);
    for (const said of this.#unsafe.splice(0, Math.max(0, count))) this.safe.apply(said);
  }

  /** True if the message is durable, or went to no queue. */
  isSafe(messageId: string): boolean {
    const arrival = this.#arrivals.get(messageId);
    return !arrival?.isKept || arrival.commit <= this.#committed - this.#unsafe.length;
  }

  /** The states that a crash at this moment may leave. */
  possible(): Possible {
    return new Possible(this.safe.copy(), [...this.#unsafe]);
  }

  #idOf(queue: MessageOwner, entry: Entry): number {
    let id = this.#ids.get(entry);
    if (id === undefined) {
      // It outlived a crash: the engine has a new entry for it, at its old position.
      id = this.#known.get(placeOf(queue))?.get(entry.position);
      if (id === undefined) throw new TypeError(`nobody knows the message at ${entry.position} of ${queue.name}`);
      this.#ids.set(entry, id);
    }
    return id;
  }
}

const untouched = { returns: 0, failures: 0, delivered: false } as const;

/** The states of which a crash leaves one. */
export class Possible {
  constructor(
    readonly safe: StoredState,
    readonly commits: readonly (readonly Said[])[],
  ) {}

  /** Copies of the wanted states, the durable one first. */
  *states(wanted: (state: StoredState) => boolean = () => true): Generator<StoredState> {
    const state = this.safe.copy();
    if (wanted(state)) yield state.copy();
    for (const said of this.commits) {
      state.apply(said);
      if (wanted(state)) yield state.copy();
    }
  }
}

/** Makes the body anew, because the store may have released or damaged it. */
const remembered = ({ exchange, routingKey, own, notes }: Message): Message =>
  messageOf(exchange, routingKey, own, bodyOf(own.messageId as string), notes);

const placeOf = (queue: MessageOwner): string => DurableTopology.placeOf(queue.home.name, queue.name);

/** Rules L1 and L3: durable queues; of classic ones persistent messages, of quorum queues all. */
const keeps = ({ declared }: MessageOwner, { message, position }: Entry): boolean =>
  position > 0 &&
  declared.durable &&
  declared.owner === undefined &&
  (declared.type === 'quorum' || message.properties.deliveryMode === 2);
