import { DeadHeaders, type Recorded } from './dead-headers.js';
import type { DeathReason } from './death.js';
import { emptyTable, type Field, type FieldTable } from './field-table.js';

/** One entry of a message's `x-death` header: all its deaths in one queue for one reason. */
export interface DeathEntry {
  readonly queue: string;
  /** One of the four reasons, unless a client made the header up. */
  readonly reason: DeathReason | (string & {});
  /** The exchange it was published to before its first death here; empty for the default exchange. */
  readonly exchange: string;
  readonly routingKeys: readonly string[];
  /** How often it died here for this reason. */
  readonly count: number;
  /** When it first died here for this reason: milliseconds since 1970, in steps of a second. */
  readonly time: number;
  /** The `expiration` it was published with, which dead-lettering took away (rule H3). */
  readonly originalExpiration?: string;
}

/** Where and why a message died the first time (rule H8). */
export interface FirstDeath {
  readonly reason: DeathReason | (string & {});
  readonly queue: string;
  readonly exchange: string;
}

const noDeaths: readonly DeathEntry[] = [];

/**
 * The deaths of a message, newest first. Whatever in a forged header is not a death is left out; missing details of one
 * are empty, its count 1.
 */
export function deathsOf(headers: FieldTable | undefined): readonly DeathEntry[] {
  // Read as they were recorded: to look through a million dead letters must not write a million headers.
  if (headers instanceof DeadHeaders) return headers.deaths.map(entryOf);
  const header = headers?.get('x-death');
  if (header?.type !== 'A') return noDeaths;
  const deaths: DeathEntry[] = [];
  for (const entry of header.value) {
    const death = entry.type === 'F' ? readDeath(entry.value) : undefined;
    if (death !== undefined) deaths.push(death);
  }
  return deaths;
}

/** Undefined when the message never died, or when a client took its place in the history (rules H9, H11). */
export function firstDeathOf(headers: FieldTable | undefined): FirstDeath | undefined {
  if (headers instanceof DeadHeaders) {
    const { reason, queue, exchange } = headers.first;
    return { reason, queue, exchange };
  }
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

/** The headers without any trace of deaths, for a message that shall start anew; the same table if there is none. */
export function stripDeaths(headers: FieldTable): FieldTable;
export function stripDeaths(headers: FieldTable | undefined): FieldTable | undefined;
export function stripDeaths(headers: FieldTable | undefined): FieldTable | undefined {
  if (headers instanceof DeadHeaders) return stripDeaths(headers.base ?? emptyTable);
  if (headers === undefined || !deathHeaders.some((name) => headers.has(name))) return headers;
  const stripped = new Map(headers);
  for (const name of deathHeaders) stripped.delete(name);
  return stripped;
}

function entryOf({ first, count }: Recorded): DeathEntry {
  const { queue, reason, exchange, routingKeys, originalExpiration } = first;
  const death = { queue, reason, exchange, routingKeys, count, time: first.time * 1000 };
  return originalExpiration === undefined ? death : { ...death, originalExpiration: String(originalExpiration) };
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
