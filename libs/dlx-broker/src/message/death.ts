import { type Field, type FieldTable, integerOf } from './field-table.js';
import { DeadHeaders, nameDeath, Recorded, writeDeath } from './dead-headers.js';
import { mergeDeaths } from './death-merge.js';
import { compact } from './packed-table.js';

export { areSameHeaders } from './dead-headers.js';

/** Why a message was dead-lettered; these are the exact strings of the wire (rule A1). */
export type DeathReason = 'rejected' | 'expired' | 'maxlen' | 'delivery_limit';

/** One death, as its queue reports it. */
export interface Death {
  readonly queue: string;
  readonly reason: DeathReason;
  /** The exchange the message was published to before this death; empty for the default exchange. */
  readonly exchange: string;
  /** The publish key, then the CC keys in order; never BCC keys (rule H5). */
  readonly routingKeys: readonly string[];
  /** Seconds since 1970. */
  readonly time: number;
  /** The `expiration` property, if there was one: as it was sent, or the number it meant, which stands first (rule W4). */
  readonly originalExpiration?: string | number | undefined;
}

/** What RabbitMQ versions do differently about the history of deaths. */
export interface Dialect {
  /** Keep `x-last-death-reason`, `-queue` and `-exchange` up to date (rule W2). */
  readonly lastDeathHeaders: boolean;
  /** Go on counting in an `x-death` that a client published; otherwise it is replaced (rules H9, W3). */
  readonly trustsClientDeaths: boolean;
  /** Write `original-expiration` as the number it meant, before all else (rule W4). */
  readonly parsesExpiration: boolean;
}

/** RabbitMQ 3.10, the default. */
export const classicDialect: Dialect = {
  lastDeathHeaders: false,
  trustsClientDeaths: true,
  parsesExpiration: false,
};

/** RabbitMQ 4. */
export const modernDialect: Dialect = {
  lastDeathHeaders: true,
  trustsClientDeaths: false,
  parsesExpiration: true,
};

/**
 * Writes a death into the headers (rules H5 to H13).
 * @param headers the message's headers, left untouched; the result shares their values
 * @param brokerMade whether `x-death` in `headers` was written by this broker; false for a message as its client
 *   published it, which is checked for forged shapes, or ignored by a dialect that does not trust clients
 * @returns new headers, whose `x-death` begins with this death (rule H7)
 */
export function recordDeath(
  headers: FieldTable | undefined,
  death: Death,
  dialect: Dialect = classicDialect,
  brokerMade = false,
): FieldTable {
  const trusted = brokerMade || dialect.trustsClientDeaths;
  if (headers instanceof DeadHeaders && trusted) return headers.with(death, dialect);
  const known = trusted ? headers?.get('x-death') : undefined;
  if (known === undefined) return DeadHeaders.after(headers, death, dialect); // rule H8
  const recorded = new Map<string, Field>(headers);
  recorded.set('x-death', { type: 'A', value: withDeath(known, death) });
  if (dialect.lastDeathHeaders) nameDeath(recorded, 'x-last-death', death);
  return compact(recorded);
}

/**
 * Whether delivering to `queue` would close a cycle in which nobody ever rejected the message (rules I1 to I6).
 * @param headers what {@link recordDeath} returned: the death just recorded comes first
 */
export function closesCycle(headers: FieldTable, queue: string): boolean {
  if (headers instanceof DeadHeaders) {
    for (const { first } of headers.deaths) {
      if (first.reason === 'rejected') return false; // rule I2: a reject in the loop keeps it alive
      if (first.queue === queue) return true;
    }
    return false;
  }
  const deaths = headers.get('x-death');
  if (deaths?.type !== 'A') return false;
  for (const death of deaths.value) {
    if (death.type !== 'F') continue;
    if (death.value.get('reason')?.value === 'rejected') return false;
    if (death.value.get('queue')?.value === queue) return true;
  }
  return false;
}

function withDeath(known: Field, death: Death): readonly Field[] {
  if (known.type !== 'A') return [writeDeath(new Recorded(death, 1))]; // rule H11
  // Also beside a death that was recorded: an entry that stood alone has no count before (rule H10).
  const earlier = mergeDeaths(known.value);
  if (earlier === undefined) return [writeDeath(new Recorded(death, 1))]; // rule V5
  const index = indexOf(earlier, death);
  if (index < 0) return [writeDeath(new Recorded(death, 1)), ...earlier];
  const bumped = oneMore(earlier[index]!);
  if (bumped === undefined) return [writeDeath(new Recorded(death, 1))]; // rule V5: a count that is no integer
  const deaths = earlier.slice();
  deaths.copyWithin(1, 0, index);
  deaths[0] = bumped;
  return deaths;
}

/** A plain loop: histories are short as a rule, but a long one must not be slower than it has to be. */
function indexOf(entries: readonly Field[], death: Death): number {
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index]!;
    if (entry.type !== 'F' || entry.value.get('queue')?.value !== death.queue) continue;
    if (entry.value.get('reason')?.value === death.reason) return index;
  }
  return -1;
}

/** Rule H6: a repeated death only counts; everything else stays as it was the first time. */
function oneMore(entry: Field): Field | undefined {
  if (entry.type !== 'F') return undefined;
  const count = nextCount(entry.value.get('count'));
  if (count === undefined) return undefined;
  return { type: 'F', value: new Map(entry.value).set('count', count) };
}

function nextCount(count: Field | undefined): Field | undefined {
  if (count === undefined) return { type: 'l', value: 1 }; // rule H10
  const known = integerOf(count);
  if (known === undefined) return undefined;
  if (typeof known === 'bigint') return { type: 'l', value: BigInt.asIntN(64, known + 1n) };
  if (known === Number.MAX_SAFE_INTEGER) return { type: 'l', value: BigInt(known) + 1n };
  return { type: 'l', value: known + 1 }; // rule H9
}

/** Headers with more and fewer of the message's own; what the broker wrote about its deaths stays. */
export function changeHeaders(headers: FieldTable | undefined, change: (own: Map<string, Field>) => void): FieldTable {
  if (headers instanceof DeadHeaders) return headers.onto(change);
  const own = new Map(headers);
  change(own);
  return own;
}
