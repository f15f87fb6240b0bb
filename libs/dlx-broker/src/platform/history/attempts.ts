import {
  array,
  type DeathEntry,
  deathsOf,
  type Field,
  type FieldTable,
  type Message,
  oneMoreDeath,
  readDeaths,
  textAt,
  writeDeath,
} from '../../engine/message/index.js';
import { dateAt, errorHeaders, largestCount, naturalAt, retryHeaders } from './names.js';

/**
 * The number of the attempt when a consumer gets this message from that queue, from 1. It is the count in the header, plus the
 * rejections since (rule E1), because a queue may also retry by dead-lettering into a wait queue.
 */
export function attemptOf(message: Message, queue: string): number {
  const rejected = rejectionIn(message, queue);
  return Math.min(largestCount, grantedAttempt(message, queue) + (rejected === undefined ? 0 : timesOf(rejected)));
}

/**
 * The attempt that the headers of the message name for that queue: 1 for a first publish. A stream may grant more attempts than
 * the policy of the handler. Rejections since are not counted.
 */
export function grantedAttempt({ own: { headers } }: Message, queue: string): number {
  if (textAt(headers, retryHeaders.queue) !== queue) return 1;
  const attempt = naturalAt(headers, retryHeaders.attempt);
  return headers?.get(retryHeaders.parked)?.value === true ? (attempt ?? 0) + 1 : Math.max(1, attempt ?? 1);
}

/**
 * How often this message failed in that queue, for a consumer of another queue: the attempts, and every death there since, for
 * any reason. So a message that no handler accepts is not retried for ever.
 */
export function failuresOf(message: Message, queue: string): number {
  let failures = grantedAttempt(message, queue) - 1;
  for (const death of deathsOf(message)) if (death.queue === queue) failures += timesOf(death);
  return Math.min(largestCount, failures);
}

/** A count below 0, which no broker writes, is as good as the largest: otherwise the message would be retried for ever. */
const timesOf = ({ count }: DeathEntry): number => (count < 0 ? largestCount : count);

/**
 * When the message failed for the first time since it was published or redriven, in milliseconds since 1970; undefined if it never
 * failed. It is the time in the header.
 * @param queue without the header, the first rejection in this queue counts: a queue may retry by dead-lettering (rule E1)
 */
export function failingSince(message: Message, queue?: string): number | undefined {
  const time = timeAt(message.own.headers, retryHeaders.since);
  if (time !== undefined) return time;
  const rejected = queue === undefined ? undefined : rejectionIn(message, queue);
  return rejected !== undefined && rejected.time > 0 ? dateAt(rejected.time) : undefined;
}

const rejectionIn = (message: Message, queue: string): DeathEntry | undefined =>
  deathsOf(message).find((death) => death.queue === queue && death.reason === 'rejected');

/** How often the message was held while the circuit of its handler was closed. */
export const holdsOf = (message: Message): number => naturalAt(message.own.headers, retryHeaders.holds) ?? 0;

/** Until when the time of {@link failingSince} takes outages into account: milliseconds since 1970. */
export const heldUntil = (message: Message): number | undefined => timeAt(message.own.headers, retryHeaders.heldUntil);

/** What an earlier attempt of that queue left; undefined without it, and for what is no JSON. */
export function stateOf({ own: { headers } }: Message, queue: string): unknown {
  const json = textAt(headers, retryHeaders.state);
  if (json === undefined || textAt(headers, retryHeaders.queue) !== queue) return undefined;
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** How often the message was redriven to its origin. */
export const redrivesOf = (message: Message): number => naturalAt(message.own.headers, retryHeaders.redrives) ?? 0;

/** The error of a handler, as the headers of a message name it. */
export function notedErrorOf({
  own: { headers },
}: Message): { readonly name: string; readonly message: string } | undefined {
  const name = textAt(headers, errorHeaders.class);
  return name === undefined ? undefined : { name, message: textAt(headers, errorHeaders.message) ?? '' };
}

function timeAt(headers: FieldTable | undefined, name: string): number | undefined {
  const value = headers?.get(name)?.value;
  const time = typeof value === 'bigint' ? Number(value) : value;
  return typeof time === 'number' && Number.isSafeInteger(time) && time >= 0 ? dateAt(time) : undefined;
}

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
