import type { Death, Dialect } from './death.js';
import type { Field, FieldTable } from './field-table.js';
import { compact, PackedTable } from './packed-table.js';
import { WrittenTable } from './written-table.js';

/** All deaths of a message in one queue for one reason: the first of them, and how many there were (rule H6). */
export class Recorded {
  constructor(
    readonly first: Death,
    readonly count: number,
  ) {}
}

/** What the broker writes itself, over whatever a client sent under these names. */
const ours = /^x-(?:death|(?:first|last)-death-(?:reason|queue|exchange))$/;

/**
 * The headers of a dead letter whose whole history is the broker's own. The deaths are kept as records and become an
 * `x-death` header when somebody looks at it: most dead letters only wait or die again.
 */
export class DeadHeaders extends WrittenTable {
  #written: Map<string, Field> | undefined;

  constructor(
    /** The message's own. */
    readonly base: FieldTable | undefined,
    /** Newest first (rule H7). */
    readonly deaths: readonly Recorded[],
    readonly first: Death,
    /** Undefined where it is not told (rule W2). */
    readonly last: Death | undefined,
  ) {
    super();
  }

  /** The headers of a message that dies for the first time. */
  static after(base: FieldTable | undefined, death: Death, dialect: Dialect): DeadHeaders {
    return new DeadHeaders(base, [new Recorded(death, 1)], death, dialect.lastDeathHeaders ? death : undefined);
  }

  /** The headers after one more death (rules H6, H7). */
  with(death: Death, dialect: Dialect): DeadHeaders {
    const { deaths } = this;
    const index = deaths.findIndex(({ first }) => first.queue === death.queue && first.reason === death.reason);
    const known = deaths[index];
    const newest = known === undefined ? new Recorded(death, 1) : new Recorded(known.first, known.count + 1);
    const next = [newest];
    for (let at = 0; at < deaths.length; at++) if (at !== index) next.push(deaths[at] as Recorded);
    return new DeadHeaders(this.base, next, this.first, dialect.lastDeathHeaders ? death : undefined);
  }

  /** The same history on other headers: `change` gets a copy of the message's own. */
  onto(change: (own: Map<string, Field>) => void): DeadHeaders {
    const own = new Map(this.base);
    change(own);
    return new DeadHeaders(compact(own), this.deaths, this.first, this.last);
  }

  /** Whether the headers of another dead letter are the same, so that they need not be written again. */
  equals(other: DeadHeaders): boolean {
    if (this.base !== other.base || this.deaths.length !== other.deaths.length) return false;
    if (!isSameDeath(this.first, other.first) || !isSameDeath(this.last, other.last)) return false;
    return this.deaths.every(({ first, count }, index) => {
      const theirs = other.deaths[index] as Recorded;
      return count === theirs.count && isSameDeath(first, theirs.first);
    });
  }

  get(name: string): Field | undefined {
    return ours.test(name) ? this.#own(name) : this.base?.get(name);
  }

  /** One of ours, without reading what the client sent unless nothing of ours is there under this name. */
  #own(name: string): Field | undefined {
    if (this.#written !== undefined) return this.#written.get(name);
    if (name === 'x-death') return deathHeader(this.deaths);
    const named = new Map<string, Field>();
    this.#name(named);
    return named.get(name) ?? this.base?.get(name);
  }

  protected table(): Map<string, Field> {
    if (this.base instanceof PackedTable) return this.#write(); // large perhaps, and not to be kept
    return (this.#written ??= this.#write());
  }

  #write(): Map<string, Field> {
    const headers = new Map(this.base);
    headers.set('x-death', deathHeader(this.deaths));
    this.#name(headers);
    return headers;
  }

  #name(headers: Map<string, Field>): void {
    nameDeath(headers, 'x-first-death', this.first); // rule H8
    if (this.last !== undefined) nameDeath(headers, 'x-last-death', this.last); // rule W2
  }
}

const deathHeader = (deaths: readonly Recorded[]): Field => ({ type: 'A', value: deaths.map(writeDeath) });

/** Bytes of headers that are kept as bytes; the others are small. */
export const packedLength = (headers: FieldTable | undefined): number =>
  headers instanceof DeadHeaders ? packedLength(headers.base) : headers instanceof PackedTable ? headers.length : 0;

/** All that died in one queue within a second died the same death. */
function isSameDeath(one: Death | undefined, other: Death | undefined): boolean {
  if (one === other) return true;
  if (one === undefined || other === undefined) return false;
  return (
    one.time === other.time &&
    one.queue === other.queue &&
    one.reason === other.reason &&
    one.exchange === other.exchange &&
    one.originalExpiration === other.originalExpiration &&
    one.routingKeys.length === other.routingKeys.length &&
    one.routingKeys.every((key, index) => key === other.routingKeys[index])
  );
}

/** Whether two tables of headers are known to be the same; nothing is read for it. */
export const areSameHeaders = (one: FieldTable, other: FieldTable): boolean =>
  one === other || (one instanceof DeadHeaders && other instanceof DeadHeaders && one.equals(other));

/** Writes where and why a message died into headers of its own. */
export function nameDeath(headers: Map<string, Field>, prefix: 'x-first-death' | 'x-last-death', death: Death): void {
  headers.set(`${prefix}-reason`, { type: 'S', value: death.reason });
  headers.set(`${prefix}-queue`, { type: 'S', value: death.queue });
  headers.set(`${prefix}-exchange`, { type: 'S', value: death.exchange });
}

/** Rule H5, in wire order; rule W4 when the expiration was parsed. */
export function writeDeath({ first, count }: Recorded): Field {
  const entry = new Map<string, Field>();
  if (typeof first.originalExpiration === 'number') {
    entry.set('original-expiration', { type: 'S', value: String(first.originalExpiration) });
  }
  entry.set('count', { type: 'l', value: count });
  entry.set('reason', { type: 'S', value: first.reason });
  entry.set('queue', { type: 'S', value: first.queue });
  entry.set('time', { type: 'T', value: first.time });
  entry.set('exchange', { type: 'S', value: first.exchange });
  entry.set('routing-keys', { type: 'A', value: first.routingKeys.map((value) => ({ type: 'S', value })) });
  if (typeof first.originalExpiration === 'string') {
    entry.set('original-expiration', { type: 'S', value: first.originalExpiration });
  }
  return { type: 'F', value: entry };
}
