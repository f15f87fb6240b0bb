import type { DeathEntry, FirstDeath } from './death.js';
import type { Field, FieldTable } from './field-table.js';
import { Message } from './message.js';

const noDeaths: readonly DeathEntry[] = [];

/**
 * The deaths of a message, newest first: as the broker recorded them, or, for a message of another broker, as its headers
 * have them. Elements of the header that are no deaths are left out. A missing text is empty, a missing count 1.
 * @param of the message, or the headers that a consumer got
 */
export function deathsOf(of: Message | FieldTable | undefined): readonly DeathEntry[] {
  if (!(of instanceof Message)) return readDeaths(of);
  return of.deaths?.entries(of.own.expiration) ?? readDeaths(of.own.headers);
}

/** The first death; undefined when the message never died, or when a client began its history (rules H9, H11). */
export function firstDeathOf(of: Message | FieldTable | undefined): FirstDeath | undefined {
  if (!(of instanceof Message)) return readFirstDeath(of);
  const first = of.deaths?.first;
  if (first === undefined) return readFirstDeath(of.own.headers);
  const { reason, queue, exchange } = first;
  return { reason, queue, exchange };
}

/** The deaths in a table of headers. */
export function readDeaths(headers: FieldTable | undefined): readonly DeathEntry[] {
  const header = headers?.get('x-death');
  if (header?.type !== 'A') return noDeaths;
  const deaths: DeathEntry[] = [];
  for (const entry of header.value) {
    const death = entry.type === 'F' ? readDeath(entry.value) : undefined;
    if (death !== undefined) deaths.push(death);
  }
  return deaths;
}

function readFirstDeath(headers: FieldTable | undefined): FirstDeath | undefined {
  const reason = text(headers?.get('x-first-death-reason'));
  const queue = text(headers?.get('x-first-death-queue'));
  if (reason === undefined || queue === undefined) return undefined;
  return { reason, queue, exchange: text(headers?.get('x-first-death-exchange')) ?? '' };
}

const deathHeaders: readonly string[] = [
  'x-death',
  'x-first-death-reason',
  'x-first-death-queue',
  'x-first-death-exchange',
  'x-last-death-reason',
  'x-last-death-queue',
  'x-last-death-exchange',
];

/** The headers without those of deaths, for a message that starts anew; the same table if it has none. */
export function stripDeaths(headers: FieldTable): FieldTable;
export function stripDeaths(headers: FieldTable | undefined): FieldTable | undefined;
export function stripDeaths(headers: FieldTable | undefined): FieldTable | undefined {
  if (headers === undefined || !deathHeaders.some((name) => headers.has(name))) return headers;
  const stripped = new Map(headers);
  for (const name of deathHeaders) stripped.delete(name);
  return stripped;
}

function readDeath(entry: FieldTable): DeathEntry | undefined {
  const queue = text(entry.get('queue'));
  const reason = text(entry.get('reason'));
  if (queue === undefined || reason === undefined) return undefined;
  const keys = entry.get('routing-keys');
  const routingKeys: string[] = [];
  if (keys?.type === 'A') for (const key of keys.value) if (key.type === 'S') routingKeys.push(key.value);
  const death = {
    queue,
    reason,
    exchange: text(entry.get('exchange')) ?? '',
    routingKeys,
    count: integer(entry.get('count')) ?? 1,
    time: (integer(entry.get('time')) ?? 0) * 1000,
  };
  const originalExpiration = text(entry.get('original-expiration'));
  return originalExpiration === undefined ? death : { ...death, originalExpiration };
}

const text = (field: Field | undefined): string | undefined => (field?.type === 'S' ? field.value : undefined);

function integer(field: Field | undefined): number | undefined {
  const value = field?.value;
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
}
