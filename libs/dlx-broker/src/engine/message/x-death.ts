import type { DeathEntry, FirstDeath } from './death.js';
import { type Field, type FieldTable, int64, longstr, textAt, timestamp } from './field-table.js';

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
