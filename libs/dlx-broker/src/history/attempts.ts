import { type DeathEntry, deathsOf, type FieldTable, type Message, textAt } from '../message/index.js';
import { errorHeaders, retryHeaders } from './names.js';

/**
 * Which attempt it is when this message comes from that queue: 1 for the first. Counted in a header of ours, plus the
 * rejections since (rule E1), for a queue may also retry by dead-lettering into a wait queue.
 */
export function attemptOf(message: Message, queue: string): number {
  const rejected = deathsOf(message).find((death) => death.queue === queue && death.reason === 'rejected');
  return Math.min(largest, counted(message, queue) + (rejected === undefined ? 0 : timesOf(rejected)));
}

/**
 * The attempt that was granted when the message was sent to that queue, as its header counts: 1 for a first publish. A stream
 * may grant more attempts than the policy of the handler does; rejections since are not part of it.
 */
export const grantedAttempt = (message: Message, queue: string): number => counted(message, queue);

/**
 * How often this message failed in that queue, as seen from another one: the attempts counted, and every death there
 * since, for whatever reason. So a message that no handler accepts does not go round for ever either.
 */
export function failuresOf(message: Message, queue: string): number {
  let failures = counted(message, queue) - 1;
  for (const death of deathsOf(message)) if (death.queue === queue) failures += timesOf(death);
  return Math.min(largest, failures);
}

/** A broker never counts below 1. A lower count is a client's, and believing it would retry the message for ever. */
const timesOf = ({ count }: DeathEntry): number => (count < 0 ? largest : count);

function counted({ own: { headers } }: Message, queue: string): number {
  if (textAt(headers, retryHeaders.queue) !== queue) return 1;
  const attempt = natural(headers, retryHeaders.attempt);
  return headers?.get(retryHeaders.parked)?.value === true ? (attempt ?? 0) + 1 : Math.max(1, attempt ?? 1);
}

/** When it failed for the first time since it was published or redriven, in milliseconds since 1970. */
export function failingSince(message: Message): number | undefined {
  const value = message.own.headers?.get(retryHeaders.since)?.value;
  const time = typeof value === 'bigint' ? Number(value) : value;
  return typeof time === 'number' && Number.isSafeInteger(time) && time >= 0 ? time : undefined;
}

/** How often the message was sent back to its origin: a high number is a message that will never succeed. */
export const redrivesOf = (message: Message): number => natural(message.own.headers, retryHeaders.redrives) ?? 0;

/** An error as it was written on a message. */
export interface NotedError {
  /** Its class. */
  readonly name: string;
  readonly message: string;
}

/** What its handler failed with, as it was written on the message. */
export function notedErrorOf({ own: { headers } }: Message): NotedError | undefined {
  const name = textAt(headers, errorHeaders.class);
  return name === undefined ? undefined : { name, message: textAt(headers, errorHeaders.message) ?? '' };
}

/** The largest number an int32 header can carry, with room to add one. */
const largest = 2_147_483_646;

function natural(headers: FieldTable | undefined, name: string): number | undefined {
  const value = headers?.get(name)?.value;
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? Math.min(value, largest) : undefined;
}
