import type { FieldTable } from '../../message/index.js';
import { ExchangeCounters } from '../counters.js';
import type { ExchangeDeclared } from '../declarations.js';
import { Queue } from '../queue/queue.js';
import { inSteps, type Task } from '../scheduler/task.js';
import { type DelayedMessages, routingTypeOf } from './delayed-messages.js';
import { type Binding, bindingIdentity, type Router } from './router.js';

/** The most bindings that are removed from a router in one command; more are removed in turns. */
const forgottenPerCommand = 64;

/** The destination of a binding. */
export type Destination = Queue | Exchange;

/** An exchange: its declaration, its bindings, and the router of its type. */
export class Exchange {
  readonly name: string;
  readonly declared: ExchangeDeclared;
  /** Exchanges with a binding to this one, which forget the binding when it is deleted. */
  readonly boundTo = new Set<Exchange>();
  readonly counters = new ExchangeCounters();
  /** The exchange that gets messages without a destination (rule G6): by argument, else by policy. */
  alternate: string | undefined;
  policy: string | undefined;
  /** True after its deletion. Routers that still have bindings to it route nothing to it. */
  deleted = false;
  readonly #bindings = new Map<Destination, Map<string, Binding<Destination>>>();
  #exchangesBound = 0;
  #bindingCount = 0;

  constructor(
    declared: ExchangeDeclared,
    /** Finds the destinations of a message for one of its keys. */
    readonly router: Router<Destination>,
    /** The messages that a delayed exchange has not released; undefined for other types. */
    readonly delayed?: DelayedMessages,
  ) {
    this.name = declared.name;
    this.declared = declared;
  }

  /** The type by which it routes. The arguments of a delayed exchange name it. */
  get routingType(): string {
    return routingTypeOf(this.declared);
  }

  get bindingCount(): number {
    return this.#bindingCount;
  }

  /** Whether all bindings lead to queues, and there is no alternate exchange: the common case. */
  get isPlain(): boolean {
    return this.#exchangesBound === 0 && this.alternate === undefined;
  }

  bindings(): readonly Binding<Destination>[] {
    const all: Binding<Destination>[] = [];
    for (const known of this.#bindings.values()) for (const binding of known.values()) all.push(binding);
    return all;
  }

  /** The bindings to one destination. */
  bindingsTo(destination: Destination): readonly Binding<Destination>[] {
    return [...(this.#bindings.get(destination)?.values() ?? [])];
  }

  /** @returns false when the binding exists already (rule P5) */
  bind(destination: Destination, bindingKey: string, args: FieldTable): boolean {
    let known = this.#bindings.get(destination);
    if (known === undefined) this.#bindings.set(destination, (known = new Map()));
    const identity = bindingIdentity(bindingKey, args);
    if (known.has(identity)) return false;
    const binding = { destination, bindingKey, arguments: args };
    known.set(identity, binding);
    this.router.bind(binding);
    this.#bindingCount++;
    if (destination instanceof Exchange) this.#exchangesBound++;
    destination.boundTo.add(this);
    return true;
  }

  /** @returns false when there is no such binding, which is no error (rule P5) */
  unbind(destination: Destination, bindingKey: string, args: FieldTable): boolean {
    const known = this.#bindings.get(destination);
    const identity = bindingIdentity(bindingKey, args);
    const binding = known?.get(identity);
    if (known === undefined || binding === undefined) return false;
    known.delete(identity);
    this.#remove(binding);
    if (known.size === 0) {
      this.#bindings.delete(destination);
      destination.boundTo.delete(this);
    }
    return true;
  }

  /** Whether it is auto-delete and has lost its last binding as a source, so that it has to be deleted (rule P4). */
  get isUnused(): boolean {
    return this.declared.autoDelete && this.#bindingCount === 0;
  }

  /**
   * Deletes the exchange, with all bindings to it and from it.
   * @param forgotten gets the result of each {@link forget}
   * @returns the exchanges that are to be deleted because of it
   */
  delete(forgotten: (rest: Task | undefined) => void): Exchange[] {
    this.deleted = true;
    for (const source of this.boundTo) forgotten(source.forget(this));
    for (const destination of this.#bindings.keys()) destination.boundTo.delete(this);
    return [...this.boundTo].filter((source) => source.isUnused);
  }

  /**
   * Removes all bindings to a deleted destination.
   * @returns for many bindings the task that removes them from the router; they route nothing any more
   */
  forget(destination: Destination): Task | undefined {
    const known = this.#bindings.get(destination);
    if (known === undefined) return undefined;
    this.#bindings.delete(destination);
    this.#bindingCount -= known.size;
    if (destination instanceof Exchange) this.#exchangesBound -= known.size;
    const rest = this.#unroute(known);
    if (known.size > forgottenPerCommand) return inSteps(rest);
    while (rest.next().done !== true);
    return undefined;
  }

  *#unroute(known: ReadonlyMap<string, Binding<Destination>>): Generator<void, undefined> {
    for (const binding of known.values()) {
      this.router.unbind(binding);
      yield;
    }
    return undefined;
  }

  #remove(binding: Binding<Destination>): void {
    this.router.unbind(binding);
    this.#bindingCount--;
    if (binding.destination instanceof Exchange) this.#exchangesBound--;
  }
}
