import { type Field, type FieldTable, int64, longstr, textAt, timestamp } from './field-table.js';

/** All reasons. Files of a store have the place of a reason in this list, so that only its end may change. */
export const deathReasons = ['rejected', 'expired', 'maxlen', 'delivery_limit'] as const;

/** Why a message was dead-lettered, in the words of `x-death` (rule A1). */
export type DeathReason = (typeof deathReasons)[number];

/** All deaths of a message in one queue for one reason: an entry of its `x-death` header (rules H5, H6). */
export interface DeathEntry {
  readonly queue: string;
  /** One of the four reasons, or any text in a header that a client wrote. */
  readonly reason: DeathReason | (string & {});
  /** The exchange to which the message was published before its first death here; empty for the default exchange. */
  readonly exchange: string;
  /** The publish key, then the CC keys in order; never BCC keys. */
  readonly routingKeys: readonly string[];
  /** How often the message died here for this reason. */
  readonly count: number;
  /** When the message first died here for this reason: milliseconds since 1970, in whole seconds. */
  readonly time: number;
  /** The `expiration` with which it was published. Dead-lettering removes that property (rule H3). */
  readonly originalExpiration?: string;
}

/** Where and why a message died the first time (rule H8). */
export type FirstDeath = Pick<DeathEntry, 'reason' | 'queue' | 'exchange'>;

/** The differences between RabbitMQ versions in the history of deaths. */
export interface Dialect {
  /** Keep `x-last-death-reason`, `-queue` and `-exchange` up to date (rule W2). */
  readonly lastDeathHeaders: boolean;
  /** Continue an `x-death` that a client published; otherwise it is replaced (rules H9, W3). */
  readonly trustsClientDeaths: boolean;
  /** Remove `CC` from a message that dies where a dead-letter key is configured; otherwise it stays, without effect (rule H2). */
  readonly removesCarbonCopies: boolean;
  /** Write `original-expiration` as a parsed number, and as the first field (rule W4). */
  readonly parsesExpiration: boolean;
}

/** The deaths of a message. Immutable: messages that died alike share one history. */
export interface Deaths {
  /**
   * The very first death (rule H8). Undefined for a history that a client began: it is in the headers of one message, which
   * shares it with no other (rule H9).
   */
  readonly first: DeathEntry | undefined;
  /**
   * The history after one more death.
   * @param death with a count of 1
   * @param own the headers of the message without its deaths
   */
  record(death: DeathEntry, own: FieldTable | undefined, dialect: Dialect): Deaths;
  /** Whether delivery to this queue would close a cycle in which no consumer rejected the message (rules I1 to I6). */
  closesCycle(queue: string): boolean;
  /** The message's own headers after the last recorded death. */
  own(headers: FieldTable | undefined): FieldTable | undefined;
  /**
   * The deaths, newest first (rule H7).
   * @param expiration the message's own, which its first death removed
   */
  entries(expiration: string | undefined): readonly DeathEntry[];
  /** The headers as consumers see them: the message's own, and the deaths. */
  headers(own: FieldTable | undefined, expiration: string | undefined): FieldTable | undefined;
}

/** The death of a message that had an expiration, with that expiration in it (rules H3, W4). */
export function withExpiration(death: DeathEntry, expiration: string, parsesExpiration: boolean): DeathEntry {
  const { queue, reason, exchange, routingKeys, count, time } = death;
  const originalExpiration = parsesExpiration ? String(Number(expiration)) : expiration;
  return { queue, reason, exchange, routingKeys, count, time, originalExpiration };
}

// How deaths are written into headers, and read from them (section H of the rules).

const named = (which: 'first' | 'last') =>
  ({
    reason: `x-${which}-death-reason`,
    queue: `x-${which}-death-queue`,
    exchange: `x-${which}-death-exchange`,
  }) as const;

const names = { first: named('first'), last: named('last') };

const allNames: readonly string[] = ['x-death', ...Object.values(names.first), ...Object.values(names.last)];

/** Writes the headers `x-first-death-*` or `x-last-death-*`. */
export function nameDeath(headers: Map<string, Field>, which: 'first' | 'last', death: FirstDeath): void {
  const { reason, queue, exchange } = names[which];
  headers.set(reason, longstr(death.reason));
  headers.set(queue, longstr(death.queue));
  headers.set(exchange, longstr(death.exchange));
}

/**
 * An entry of `x-death` with its fields in wire order (rule H5).
 * @param expirationFirst RabbitMQ 4 writes the expiration first (rule W4)
 */
export function writeDeath(death: DeathEntry, expirationFirst: boolean): Field {
  const entry = new Map<string, Field>();
  const { originalExpiration } = death;
  const expiration = originalExpiration === undefined ? undefined : longstr(originalExpiration);
  if (expiration !== undefined && expirationFirst) entry.set('original-expiration', expiration);
  entry.set('count', int64(death.count));
  entry.set('reason', longstr(death.reason));
  entry.set('queue', longstr(death.queue));
  entry.set('time', timestamp(death.time / 1000));
  entry.set('exchange', longstr(death.exchange));
  entry.set('routing-keys', { type: 'A', value: death.routingKeys.map(longstr) });
  if (expiration !== undefined && !expirationFirst) entry.set('original-expiration', expiration);
  return { type: 'F', value: entry };
}

const noDeaths: readonly DeathEntry[] = [];

/**
 * The deaths in a table of headers, newest first. Elements that are no deaths are left out. A missing text is empty, a
 * missing count 1.
 * @param name of the header, which may be one with the same format
 * @param most elements that are read
 */
export function readDeaths(headers: FieldTable | undefined, name = 'x-death', most = Infinity): readonly DeathEntry[] {
  const header = headers?.get(name);
  if (header?.type !== 'A') return noDeaths;
  const deaths: DeathEntry[] = [];
  for (const entry of header.value) {
    if (deaths.length === most) break;
    const death = entry.type === 'F' ? readDeath(entry.value) : undefined;
    if (death !== undefined) deaths.push(death);
  }
  return deaths;
}

/** The death that the headers `x-first-death-*` name. */
export function readFirstDeath(headers: FieldTable | undefined): FirstDeath | undefined {
  const reason = textAt(headers, names.first.reason);
  const queue = textAt(headers, names.first.queue);
  if (reason === undefined || queue === undefined) return undefined;
  return { reason, queue, exchange: textAt(headers, names.first.exchange) ?? '' };
}

/** The headers without those of deaths, for a message that starts anew; the same table if it has none. */
export function stripDeaths<Headers extends FieldTable | undefined>(headers: Headers): Headers | FieldTable {
  if (headers === undefined || !allNames.some((name) => headers.has(name))) return headers;
  const stripped = new Map(headers);
  for (const name of allNames) stripped.delete(name);
  return stripped;
}

function readDeath(entry: FieldTable): DeathEntry | undefined {
  const queue = textAt(entry, 'queue');
  const reason = textAt(entry, 'reason');
  if (queue === undefined || reason === undefined) return undefined;
  const keys = entry.get('routing-keys');
  const routingKeys: string[] = [];
  if (keys?.type === 'A') for (const key of keys.value) if (key.type === 'S') routingKeys.push(key.value);
  const exchange = textAt(entry, 'exchange') ?? '';
  const count = integerAt(entry, 'count') ?? 1;
  const time = (integerAt(entry, 'time') ?? 0) * 1000;
  const death = { queue, reason, exchange, routingKeys, count, time };
  const originalExpiration = textAt(entry, 'original-expiration');
  return originalExpiration === undefined ? death : { ...death, originalExpiration };
}

/** A whole number of any type, timestamps and fractions included. */
function integerAt(table: FieldTable, name: string): number | undefined {
  const value = table.get(name)?.value;
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
}
