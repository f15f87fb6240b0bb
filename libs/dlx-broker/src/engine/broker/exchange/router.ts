import type { Field, FieldTable, Message } from '../../message/index.js';

/** A text that two bindings share if they have the same key and arguments, in any order: they are one binding (rule P5). */
export function bindingIdentity(bindingKey: string, args: FieldTable): string {
  // The length comes first, because a key may contain any separator.
  return args.size === 0
    ? `${bindingKey.length}:${bindingKey}`
    : `${bindingKey.length}:${bindingKey}${tableIdentity(args)}`;
}

function tableIdentity(table: FieldTable): string {
  const names = [...table.keys()].sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${fieldIdentity(table.get(name) as Field)}`).join()}}`;
}

function fieldIdentity(field: Field): string {
  switch (field.type) {
    case 'A':
      return `A[${field.value.map(fieldIdentity).join()}]`;
    case 'F':
      return `F${tableIdentity(field.value)}`;
    case 'x':
      return `x${Array.from(field.value, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
    case 'D':
      return `D${field.value.value}e-${field.value.scale}`;
    default:
      return `${field.type}${JSON.stringify(String(field.value))}`;
  }
}

/** From this number of recipients on, a set is faster to search than a list. */
const minForSet = 16;

/** Collects the destinations that a router finds, such as a `Set`. */
export interface Into<Destination> {
  add(destination: Destination): unknown;
}

/**
 * The destinations of a message, each once. One list is used for all messages, and not a `Set`: in V8, a long-lived set that
 * is emptied often leaves a chain of obsolete hash tables, which only a full garbage collection frees.
 */
export class Recipients<Destination> implements Into<Destination> {
  readonly #list: Destination[] = [];
  #count = 0;
  /** The recipients as a set; undefined while they are few. */
  #set: Set<Destination> | undefined;

  /** Those that were added; valid until the next change. */
  get all(): readonly Destination[] {
    if (this.#list.length !== this.#count) this.#list.length = this.#count;
    return this.#list;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  clear(): void {
    this.#count = 0;
    this.#set = undefined;
  }

  add(destination: Destination): void {
    if (this.#count < minForSet ? this.#isListed(destination) : !this.#isNew(destination)) return;
    this.#list[this.#count++] = destination;
  }

  #isListed(destination: Destination): boolean {
    for (let index = 0; index < this.#count; index++) if (this.#list[index] === destination) return true;
    return false;
  }

  /** Adds a destination to the set. @returns false when the set had it */
  #isNew(destination: Destination): boolean {
    const set = (this.#set ??= new Set(this.all));
    const before = set.size;
    return set.add(destination).size > before;
  }
}

/** A binding of an exchange to a queue or to another exchange. */
export interface Binding<Destination> {
  readonly destination: Destination;
  readonly bindingKey: string;
  readonly arguments: FieldTable;
}

/**
 * Finds the destinations of a message by the bindings of an exchange. Every router has an index: a binding that does
 * not match costs nothing.
 */
export interface Router<Destination> {
  /** Called once for each binding: the exchange has the list of bindings, and ignores repetitions. */
  bind(binding: Binding<Destination>): void;
  unbind(binding: Binding<Destination>): void;
  /**
   * Adds the destinations to a set: a queue gets a message at most once, however many bindings match (rule G4).
   * @param routingKey one of the message's keys; called once per key (rule G2)
   */
  route(message: Message, routingKey: string, into: Into<Destination>): void;
  /** True when the result does not depend on the key: then `route` is called once for a message. */
  readonly ignoresKeys?: true;
}

/** A set of destinations, which counts the bindings to each. */
export class Destinations<Destination> {
  /** The number of bindings to each destination. */
  readonly #bindings = new Map<Destination, number>();
  /** The destinations as a list, which is faster to iterate; rebuilt when it is needed after a change. */
  #list: readonly Destination[] | undefined;

  get size(): number {
    return this.#bindings.size;
  }

  add(destination: Destination): void {
    const count = this.#bindings.get(destination) ?? 0;
    this.#bindings.set(destination, count + 1);
    if (count === 0) this.#list = undefined;
  }

  remove(destination: Destination): void {
    const count = this.#bindings.get(destination);
    if (count === undefined) return;
    if (count > 1) {
      this.#bindings.set(destination, count - 1);
    } else {
      this.#bindings.delete(destination);
      this.#list = undefined;
    }
  }

  addTo(into: Into<Destination>): void {
    const list = (this.#list ??= [...this.#bindings.keys()]);
    for (let index = 0; index < list.length; index++) into.add(list[index]!);
  }
}
