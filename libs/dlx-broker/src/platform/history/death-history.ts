import {
  array,
  type DeathEntry,
  deathsOf,
  type Field,
  type Message,
  oneMoreDeath,
  readDeaths,
  writeDeath,
} from '../../engine/message/index.js';
import { dateAt } from './date-at.js';
import { retryHeaders } from './names.js';
import { largestCount } from './natural.js';

/** The most entries that `dlx-deaths` keeps: the latest ones. */
export const mostDeaths = 64;

/**
 * All deaths of a message since it was published or redriven: those of its header `dlx-deaths`, which a republish wrote, and those since,
 * which the broker recorded. One entry for each queue and reason, the latest death first (rules H6, H7). No header proves anything.
 */
export function historyOf(message: Message): readonly DeathEntry[] {
  const since = deathsOf(message);
  const { headers } = message.own;
  if (headers?.has(retryHeaders.deaths) !== true) return since;
  const before = readDeaths(headers, retryHeaders.deaths, mostDeaths);
  return [...since.slice(0, mostDeaths), ...before]
    .reduceRight(oneMoreDeath, noDeaths)
    .slice(0, mostDeaths)
    .map(bounded);
}

/** The history of a message after a death that no broker recorded. */
export const historyAfter = (message: Message, death: DeathEntry): readonly DeathEntry[] =>
  oneMoreDeath(historyOf(message), death);

/**
 * The death of a message that its consumer does not reject, but replaces or is about to reject.
 * @param at milliseconds since 1970
 */
export function deathIn(queue: string, reason: DeathEntry['reason'], message: Message, at: number): DeathEntry {
  const { exchange, routingKey } = message;
  const copies = message.own.headers?.get('CC');
  const routingKeys = [routingKey];
  if (copies?.type === 'A') for (const key of copies.value) if (key.type === 'S') routingKeys.push(key.value);
  return { queue, reason, exchange, routingKeys, count: 1, time: Math.floor(at / 1000) * 1000 };
}

/** Writes a history into headers. Without a death there is no such header. */
export function writeDeaths(headers: Map<string, Field>, deaths: readonly DeathEntry[]): void {
  if (deaths.length === 0) headers.delete(retryHeaders.deaths);
  else headers.set(retryHeaders.deaths, array(deaths.slice(0, mostDeaths).map(fieldOf)));
}

const fieldOf = (death: DeathEntry): Field => writeDeath(bounded(death), false);

/** A client may have written any count and any time. */
const bounded = (death: DeathEntry): DeathEntry => ({
  ...death,
  count: Math.min(Math.max(death.count, 0), largestCount),
  time: Math.max(0, dateAt(death.time) ?? 0),
});

const noDeaths: readonly DeathEntry[] = [];
