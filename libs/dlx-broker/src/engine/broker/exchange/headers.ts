import {
  emptyTable,
  type Field,
  type FieldTable,
  fieldTypeNames,
  isEmptyTable,
  type Message,
  PackedTable,
} from '../../message/index.js';
import { erlangTerm, latin1 } from '../erlang-terms.js';
import { preconditionFailed } from '../errors.js';
import { type Binding, bindingIdentity, Destinations, type Into, type Router } from './router.js';

/** A value by which headers are compared; equal values have the same key. */
type HeaderKey = string | number | bigint | boolean;

/**
 * RabbitMQ compares the bare values (rule P8): numbers of all types, timestamps among them, and text with bytes. A
 * structure never equals a plain value, so callers compare {@link isApart} as well. As terms, doubles are apart, too.
 */
function headerKey(field: Field, asTerms: boolean): HeaderKey {
  switch (field.type) {
    case 'f':
    case 'd':
      return asTerms ? `d${Object.is(field.value, -0) ? '-' : ''}${field.value}` : field.value;
    case 't':
    case 'S':
      return field.value;
    case 'x':
      return latin1(field.value);
    case 'T':
      return plainNumber(BigInt(field.value) * (asTerms ? 1000n : 1n)); // as terms, those of messages are in milliseconds
    case 'A':
    case 'F':
    case 'D':
    case 'V':
      return `${field.type}${erlangTerm(field)}`;
    default:
      return typeof field.value === 'bigint' ? plainNumber(field.value) : field.value;
  }
}

const isApart = ({ type }: Field, asTerms: boolean): boolean =>
  type === 'A' || type === 'F' || type === 'D' || type === 'V' || (asTerms && (type === 'f' || type === 'd'));

/** The number that a double may equal, if there is one. */
function plainNumber(value: bigint): number | bigint {
  const number = Number(value);
  return BigInt(number) === value ? number : value;
}

/** A header that a binding requires. Without a value the header only has to exist. */
interface Requirement {
  readonly name: string;
  readonly value: { readonly key: HeaderKey; readonly apart: boolean } | undefined;
}

interface HeaderBinding<Destination> {
  readonly destination: Destination;
  /** True if a message has to fulfil all requirements; false if any of them is enough. */
  readonly all: boolean;
  readonly requirements: readonly Requirement[];
  /** The requirements under which the index lists the binding. */
  readonly slots: Requirement[];
}

/** Packed headers are searched name by name while the bindings have at most this many header names. */
const maxNames = 4;
/** Packed headers are searched name by name while `all` bindings have at most this many requirements. */
const maxRequirements = 16;

type Bucket<Destination> = Set<HeaderBinding<Destination>>;

/** The bindings that name one header. */
class NamedHeader<Destination> {
  readonly present: Bucket<Destination> = new Set();
  readonly plain = new Map<HeaderKey, Bucket<Destination>>();
  readonly apart = new Map<HeaderKey, Bucket<Destination>>();

  get isEmpty(): boolean {
    return this.present.size === 0 && this.plain.size === 0 && this.apart.size === 0;
  }
}

/**
 * Finds bindings by a header's name and value, so that a publish only checks bindings that share a value with it. An `any` binding is
 * listed under each of its requirements, an `all` binding under the rarest.
 */
class HeaderIndex<Destination> {
  readonly #names = new Map<string, NamedHeader<Destination>>();
  /** The requirements of all `all` bindings that have several: one message may be checked for each of them. */
  #asked = 0;

  constructor(readonly asTerms: boolean) {}

  add(binding: HeaderBinding<Destination>): void {
    this.#asked += askedBy(binding);
    const slots = binding.all ? [this.#rarest(binding.requirements)] : binding.requirements;
    for (const slot of slots) {
      binding.slots.push(slot);
      this.#makeBucket(slot).add(binding);
    }
  }

  remove(binding: HeaderBinding<Destination>): void {
    this.#asked -= askedBy(binding);
    for (const slot of binding.slots) {
      const named = this.#names.get(slot.name);
      const bucket = this.#bucket(slot);
      if (named === undefined || bucket === undefined) continue;
      bucket.delete(binding);
      if (bucket.size === 0 && slot.value !== undefined) bucketsFor(named, slot.value.apart).delete(slot.value.key);
      if (named.isEmpty) this.#names.delete(slot.name);
    }
  }

  match(headers: FieldTable, into: Into<Destination>): void {
    if (this.#names.size === 0 || isEmptyTable(headers)) return;
    // A search for each name is cheap while there are few names; otherwise the whole table is decoded once.
    const readsAll = this.#names.size > maxNames || this.#asked > maxRequirements;
    if (readsAll && headers instanceof PackedTable) return this.match(new Map(headers), into);
    if (headers instanceof PackedTable || this.#names.size < headers.size) {
      for (const [name, named] of this.#names) {
        const field = headers.get(name);
        if (field !== undefined) this.#matchHeader(named, field, headers, into);
      }
    } else {
      for (const [name, field] of headers) {
        const named = this.#names.get(name);
        if (named !== undefined) this.#matchHeader(named, field, headers, into);
      }
    }
  }

  #matchHeader(named: NamedHeader<Destination>, field: Field, headers: FieldTable, into: Into<Destination>): void {
    this.#collect(named.present, headers, into);
    const buckets = bucketsFor(named, isApart(field, this.asTerms));
    if (buckets.size === 0) return;
    const bucket = buckets.get(headerKey(field, this.asTerms));
    if (bucket !== undefined) this.#collect(bucket, headers, into);
  }

  /** Adds the destinations of matching bindings. One requirement of each is fulfilled, which is enough for an `any` binding. */
  #collect(bucket: Bucket<Destination>, headers: FieldTable, into: Into<Destination>): void {
    for (const { all, requirements, destination } of bucket) {
      if (!all || requirements.length === 1 || fulfilsAll(headers, requirements, this.asTerms)) into.add(destination);
    }
  }

  #rarest(requirements: readonly Requirement[]): Requirement {
    let rarest = requirements[0]!;
    let fewest = Infinity;
    for (const requirement of requirements) {
      const count = this.#bucket(requirement)?.size ?? 0;
      // A requirement of presence only is the last choice: a header with any value leads to it.
      const cost = requirement.value === undefined ? count + 1_000_000 : count;
      if (cost >= fewest) continue;
      fewest = cost;
      rarest = requirement;
    }
    return rarest;
  }

  #bucket({ name, value }: Requirement): Bucket<Destination> | undefined {
    const named = this.#names.get(name);
    if (named === undefined) return undefined;
    return value === undefined ? named.present : bucketsFor(named, value.apart).get(value.key);
  }

  #makeBucket({ name, value }: Requirement): Bucket<Destination> {
    let named = this.#names.get(name);
    if (named === undefined) this.#names.set(name, (named = new NamedHeader()));
    if (value === undefined) return named.present;
    const buckets = bucketsFor(named, value.apart);
    let bucket = buckets.get(value.key);
    if (bucket === undefined) buckets.set(value.key, (bucket = new Set()));
    return bucket;
  }
}

const askedBy = <Destination>({ all, requirements: { length } }: HeaderBinding<Destination>): number =>
  all && length > 1 ? length : 0;

const bucketsFor = <Destination>(named: NamedHeader<Destination>, apart: boolean) =>
  apart ? named.apart : named.plain;

/** Compares like the keys of a Map: NaN equals NaN. */
const isSame = (one: HeaderKey, other: HeaderKey): boolean => one === other || (one !== one && other !== other);

function fulfilsAll(headers: FieldTable, requirements: readonly Requirement[], asTerms: boolean): boolean {
  for (const { name, value } of requirements) {
    const field = headers.get(name);
    if (field === undefined) return false;
    if (value === undefined) continue;
    if (isApart(field, asTerms) !== value.apart || !isSame(headerKey(field, asTerms), value.key)) return false;
  }
  return true;
}

/** Matches the message's headers with the binding's arguments; the routing key is ignored (rule P8). */
export class HeadersRouter<Destination> implements Router<Destination> {
  readonly ignoresKeys = true;
  readonly #bindings = new Map<Destination, Map<string, HeaderBinding<Destination>>>();
  readonly #index: HeaderIndex<Destination>;
  /** The destinations of `all` bindings without requirements: every message matches them. */
  readonly #always = new Destinations<Destination>();

  constructor(readonly asTerms: boolean) {
    this.#index = new HeaderIndex(asTerms);
  }

  bind({ destination, bindingKey, arguments: args }: Binding<Destination>): void {
    const binding: HeaderBinding<Destination> = { destination, ...requirementsOf(args, this.asTerms), slots: [] };
    let known = this.#bindings.get(destination);
    if (known === undefined) this.#bindings.set(destination, (known = new Map()));
    known.set(bindingIdentity(bindingKey, args), binding);
    if (binding.requirements.length > 0) this.#index.add(binding);
    else if (binding.all) this.#always.add(destination);
  }

  unbind({ destination, bindingKey, arguments: args }: Binding<Destination>): void {
    const known = this.#bindings.get(destination);
    const identity = bindingIdentity(bindingKey, args);
    const binding = known?.get(identity);
    if (known === undefined || binding === undefined) return;
    known.delete(identity);
    if (known.size === 0) this.#bindings.delete(destination);
    if (binding.requirements.length > 0) this.#index.remove(binding);
    else if (binding.all) this.#always.remove(destination);
  }

  route(message: Message, _routingKey: string, into: Into<Destination>): void {
    this.#always.addTo(into);
    this.#index.match(message.properties.headers ?? emptyTable, into);
  }
}

const modes: ReadonlyMap<string, { readonly all: boolean; readonly withX: boolean }> = new Map([
  ['all', { all: true, withX: false }],
  ['any', { all: false, withX: false }],
  ['all-with-x', { all: true, withX: true }],
  ['any-with-x', { all: false, withX: true }],
]);

/** Checks the arguments of a new binding to a headers exchange (rule P8). @throws 406 */
export function checkHeadersBinding(args: FieldTable): void {
  const match = args.get('x-match');
  if (match === undefined) return;
  if (match.type !== 'S') {
    const type = fieldTypeNames[match.type];
    throw preconditionFailed(`Invalid x-match field type ${type} (value ${erlangTerm(match)}); expected longstr`);
  }
  if (modes.has(match.value)) return;
  const expected = 'expected all, any, all-with-x, or any-with-x';
  throw preconditionFailed(`Invalid x-match field value ${erlangTerm(match)}; ${expected}`);
}

function requirementsOf(args: FieldTable, asTerms: boolean): { all: boolean; requirements: readonly Requirement[] } {
  const { all, withX } = modeOf(args.get('x-match'));
  const requirements: Requirement[] = [];
  for (const [name, field] of args) {
    if (name === 'x-match' || (!withX && name.startsWith('x-'))) continue;
    // A void value asks only that the header is there.
    const key = asTerms && field.type === 'T' ? plainNumber(BigInt(field.value)) : headerKey(field, asTerms);
    const value = field.type === 'V' ? undefined : { key, apart: isApart(field, asTerms) };
    requirements.push({ name, value });
  }
  return { all, requirements };
}

const modeOf = (match: Field | undefined) =>
  modes.get(match?.type === 'S' ? match.value : 'all') ?? { all: true, withX: false };
