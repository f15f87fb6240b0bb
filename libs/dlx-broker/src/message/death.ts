import type { Field, FieldTable } from './field-table.js';
import { mergeDeaths } from './death-merge.js';

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
  /** The `expiration` property as it was sent, if there was one. */
  readonly originalExpiration?: string | undefined;
}

/** What RabbitMQ versions do differently about the history of deaths. */
export interface Dialect {
  /** Keep `x-last-death-reason`, `-queue` and `-exchange` up to date (rule W2). */
  readonly lastDeathHeaders: boolean;
  /** Go on counting in an `x-death` that a client published; otherwise it is replaced (rules H9, W3). */
  readonly trustsClientDeaths: boolean;
}

/** RabbitMQ 3.10, the default. */
export const classicDialect: Dialect = { lastDeathHeaders: false, trustsClientDeaths: true };

/** RabbitMQ 4. */
export const modernDialect: Dialect = { lastDeathHeaders: true, trustsClientDeaths: false };

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
  const recorded = new Map<string, Field>(headers);
  const known = dialect.trustsClientDeaths || brokerMade ? recorded.get('x-death') : undefined;
  recorded.set('x-death', { type: 'A', value: withDeath(known, death, brokerMade) });
  if (known === undefined) nameDeath(recorded, 'x-first-death', death); // rule H8; never changed afterwards
  if (dialect.lastDeathHeaders) nameDeath(recorded, 'x-last-death', death);
  return recorded;
}

/**
 * Whether delivering to `queue` would close a cycle in which nobody ever rejected the message (rules I1 to I6).
 * @param headers what {@link recordDeath} returned: the death just recorded comes first
 */
export function closesCycle(headers: FieldTable, queue: string): boolean {
  const deaths = headers.get('x-death');
  if (deaths?.type !== 'A') return false;
  for (const death of deaths.value) {
    if (death.type !== 'F') continue;
    if (death.value.get('reason')?.value === 'rejected') return false; // rule I2: a reject in the loop keeps it alive
    if (death.value.get('queue')?.value === queue) return true;
  }
  return false;
}

function withDeath(known: Field | undefined, death: Death, brokerMade: boolean): readonly Field[] {
  if (known?.type !== 'A') return [newEntry(death)]; // rule H11
  const earlier = brokerMade ? known.value : mergeDeaths(known.value);
  if (earlier === undefined) return [newEntry(death)]; // rule V5
  const index = indexOf(earlier, death);
  if (index < 0) return [newEntry(death), ...earlier];
  const bumped = oneMore(earlier[index]!);
  if (bumped === undefined) return [newEntry(death)]; // rule V5: a count that is no integer
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
  switch (count.type) {
    case 'l':
      if (typeof count.value === 'bigint') return { type: 'l', value: BigInt.asIntN(64, count.value + 1n) };
      if (count.value === Number.MAX_SAFE_INTEGER) return { type: 'l', value: BigInt(count.value) + 1n };
      return { type: 'l', value: count.value + 1 };
    case 'b':
    case 'B':
    case 's':
    case 'u':
    case 'I':
    case 'i':
      return { type: 'l', value: count.value + 1 }; // rule H9
    default:
      return undefined;
  }
}

/** Rule H5, in wire order. */
function newEntry(death: Death): Field {
  const entry = new Map<string, Field>();
  entry.set('count', { type: 'l', value: 1 });
  entry.set('reason', { type: 'S', value: death.reason });
  entry.set('queue', { type: 'S', value: death.queue });
  entry.set('time', { type: 'T', value: death.time });
  entry.set('exchange', { type: 'S', value: death.exchange });
  entry.set('routing-keys', { type: 'A', value: death.routingKeys.map((value) => ({ type: 'S', value })) });
  if (death.originalExpiration !== undefined) {
    entry.set('original-expiration', { type: 'S', value: death.originalExpiration });
  }
  return { type: 'F', value: entry };
}

function nameDeath(headers: Map<string, Field>, prefix: 'x-first-death' | 'x-last-death', death: Death): void {
  headers.set(`${prefix}-reason`, { type: 'S', value: death.reason });
  headers.set(`${prefix}-queue`, { type: 'S', value: death.queue });
  headers.set(`${prefix}-exchange`, { type: 'S', value: death.exchange });
}
