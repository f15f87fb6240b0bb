import type {
  Entry,
  Journal,
  MessageOwner,
  RetainedDeath,
  Settled,
  TopologyChange,
  VirtualHost,
} from '../../../../libs/dlx-broker/src/engine/broker/index.js';
import { type Message, messageOf, Notes } from '../../../../libs/dlx-broker/src/engine/message/index.js';
import type { NewEvent, Place } from './event.js';

/** A message in a queue, ready or unacknowledged, with what a restart needs. */
export interface Kept {
  readonly place: Place;
  readonly entry: Entry;
  held: boolean;
  death?: RetainedDeath;
}

type Planned = ReturnType<VirtualHost['routing']['plan']>;

interface Dying {
  readonly place: Place;
  readonly message: Message;
  readonly exchange: string | undefined;
  /** The configured key; undefined keeps the message's own keys. */
  readonly key: string | undefined;
  readonly reached: Set<string>;
}

/** Watches a virtual host as its journal does, and reports what happens in it. */
export class Recorder implements Journal {
  readonly sequence = 0;
  /** All messages, by queue. No queue has one twice. */
  readonly kept = new Map<string, Map<Message, Kept>>();
  readonly #emit: (event: NewEvent) => void;
  readonly #numbers: { readonly ids: WeakMap<Uint8Array, number>; lastId: number; lastCopy: number };
  /** By queue and number. */
  readonly #dying = new Map<string, Dying[]>();
  readonly #handed: Place[] = [];
  /** The queues that the message being published has reached. */
  #reached = new Set<string>();
  #publication: NewEvent | undefined;
  #vhost: VirtualHost | undefined;

  /** @param before the recorder before a restart, whose numbers go on */
  constructor(emit: (event: NewEvent) => void, before?: Recorder) {
    this.#emit = emit;
    this.#numbers = before === undefined ? { ids: new WeakMap(), lastId: 0, lastCopy: 0 } : before.#numbers;
  }

  watch(vhost: VirtualHost): void {
    this.#vhost = vhost;
    vhost.deathListeners.add(({ name, settings }, message, reason) => {
      const { deadLetterExchange: exchange, deadLetterRoutingKey: key } = settings;
      this.#announce();
      const place = this.#placeOf(name, message);
      this.#reached.add(name);
      const dying = { place, message, exchange, key, reached: new Set<string>() };
      const others = this.#dying.get(`${place.id} ${name}`);
      if (others === undefined) this.#dying.set(`${place.id} ${name}`, [dying]);
      else others.push(dying);
      this.#emit({
        kind: 'died',
        ...place,
        reason,
        ...(exchange === undefined ? {} : { exchange, key: key ?? message.routingKey }),
      });
    });
  }

  /** How many copies queues have had so far. */
  get copies(): number {
    return this.#numbers.lastCopy;
  }

  get count(): number {
    let count = 0;
    for (const entries of this.kept.values()) count += entries.size;
    return count;
  }

  /** The number of a message: its copies and its dead letters share the body. */
  idOf(body: Uint8Array): number {
    const numbers = this.#numbers;
    let id = numbers.ids.get(body);
    if (id === undefined) numbers.ids.set(body, (id = ++numbers.lastId));
    return id;
  }

  /** The place of a delivery: a queue's deliveries leave in the order in which it handed them out. */
  takeHanded(queue: string, body: Uint8Array): Place {
    const id = this.idOf(body);
    const index = this.#handed.findIndex((place) => place.queue === queue && place.id === id);
    const [place] = index < 0 ? [] : this.#handed.splice(index, 1);
    return place ?? { id, copy: 0, queue };
  }

  /** Publishes a message, and reports which queues did not get it. */
  publish(message: Message, publish: () => void): void {
    const { exchange, routingKey: key, body } = message;
    const plan = this.#plan(message);
    const id = this.idOf(body);
    this.#reached = new Set();
    this.#publication = { kind: 'published', id, exchange, key };
    try {
      publish();
      this.#announce();
    } finally {
      this.#publication = undefined; // a publish that RabbitMQ refuses is not reported
    }
    if (plan === undefined) return;
    for (const { name } of plan.queues)
      if (!this.#reached.has(name)) this.#emit({ kind: 'dropped', id, why: 'refused', exchange, key, queue: name });
    if (plan.queues.length + plan.delays.length === 0)
      this.#emit({ kind: 'dropped', id, why: 'unroutable', exchange, key });
  }

  #announce(): void {
    if (this.#publication !== undefined) this.#emit(this.#publication);
    this.#publication = undefined;
  }

  /** Where a message would go; undefined if its exchange is missing. */
  #plan(message: Message): Planned | undefined {
    const vhost = this.#vhost;
    const exchange = vhost?.exchanges.get(message.exchange);
    return exchange && vhost?.routing.plan(message, exchange);
  }

  enqueued(queue: MessageOwner, entry: Entry): void {
    this.#announce();
    const { message } = entry;
    const place = { id: this.idOf(message.body), copy: ++this.#numbers.lastCopy, queue: queue.name };
    this.#keep({ place, entry, held: false });
    const death = message.deaths?.entries(undefined)[0];
    const dying = this.#dying.get(`${place.id} ${death?.queue}`)?.[0];
    (dying?.reached ?? this.#reached).add(queue.name);
    const { exchange, routingKey: key } = message;
    this.#emit({ kind: 'enqueued', ...place, exchange, key, ...(dying === undefined ? {} : { from: dying.place }) });
  }

  delivered(queue: MessageOwner, entry: Entry): void {
    const kept = this.kept.get(queue.name)?.get(entry.message);
    if (kept === undefined) return;
    kept.held = true;
    this.#handed.push(kept.place);
  }

  returned(queue: MessageOwner, entry: Entry): void {
    const kept = this.kept.get(queue.name)?.get(entry.message);
    if (kept === undefined) return;
    kept.held = false;
    this.#emit({ kind: 'returned', ...kept.place });
  }

  died(queue: MessageOwner, entry: Entry, death: RetainedDeath): void {
    const kept = this.kept.get(queue.name)?.get(entry.message);
    if (kept === undefined) return;
    kept.death = death;
    this.#emit({ kind: 'kept', ...kept.place });
  }

  settled({ name }: MessageOwner, { message }: Entry): void {
    this.kept.get(name)?.delete(message);
    const at = `${this.idOf(message.body)} ${name}`;
    const all = this.#dying.get(at) ?? [];
    const index = all.findIndex((dying) => dying.message === message);
    if (index < 0) return;
    const [dying] = all.splice(index, 1);
    if (all.length === 0) this.#dying.delete(at);
    if (dying !== undefined) this.#buried(dying);
  }

  changed(change: TopologyChange): void {
    if (change.kind !== 'queue' || change.change !== 'removed') return;
    const lost = this.kept.get(change.name)?.size ?? 0;
    this.kept.delete(change.name);
    this.#emit({ kind: 'queue-deleted', queue: change.name, lost });
  }

  refuses(): boolean {
    return false;
  }

  commit(settled: Settled | undefined): void {
    settled?.();
  }

  /** Puts a message back after a restart. */
  restored({ place, death }: Kept, entry: Entry): void {
    this.#keep({ place, entry, held: false, ...(death === undefined ? {} : { death }) });
  }

  #keep(kept: Kept): void {
    const { queue } = kept.place;
    const all = this.kept.get(queue) ?? new Map<Message, Kept>();
    this.kept.set(queue, all.set(kept.entry.message, kept));
  }

  /** A message that is refused dies without a place (rule C8). */
  #placeOf(queue: string, message: Message): Place {
    return this.kept.get(queue)?.get(message)?.place ?? { id: this.idOf(message.body), copy: 0, queue };
  }

  /** The dead letter is routed: reports which queues did not get it, and why. */
  #buried({ place: from, message, exchange, key, reached }: Dying): void {
    const id = from.id;
    if (exchange === undefined) return this.#emit({ kind: 'dropped', id, why: 'no-dlx', from });
    const address = { exchange, key: key ?? message.routingKey };
    const notes = key === undefined ? Notes.of(message.carbonCopies, undefined, undefined, 0) : undefined;
    const plan = this.#plan(messageOf(exchange, address.key, message.own, message, notes));
    if (plan === undefined) return this.#emit({ kind: 'dropped', id, why: 'missing-dlx', ...address, from });
    const { queues, delays } = plan;
    const passed = new Set([from.queue, ...(message.deaths?.entries(undefined) ?? []).map(({ queue }) => queue)]);
    for (const { name } of queues) {
      if (reached.has(name)) continue;
      this.#emit({ kind: 'dropped', id, why: passed.has(name) ? 'cycle' : 'refused', ...address, queue: name, from });
    }
    // A headers exchange may have seen the headers of this death (rule G8), which the plan does not have.
    if (queues.length + delays.length + reached.size === 0)
      this.#emit({ kind: 'dropped', id, why: 'unroutable', ...address, from });
  }
}
