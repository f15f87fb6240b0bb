import type { Queue } from '../../engine/broker/index.js';
import { deathReasons, deathsOf, type Message, textAt } from '../../engine/message/index.js';
import type { DeadLetterGraph } from './graph/dead-letter-graph.js';
import { dateAt, deadSince, errorHeaders, errorKind, retryHeaders } from '../../platform/history/index.js';

/** The error of a handler, as the headers of a message describe it. */
interface LetterError {
  readonly class: string;
  readonly message: string | undefined;
  /**
   * The message without numbers and identifiers, the same for similar failures: `TimeoutError: no answer after # ms`.
   */
  readonly kind: string;
}

/** True if a message has an error of this class or kind. An empty text selects messages without an error. */
export function failedOf(message: Message, wanted: string): boolean {
  const name = textAt(message.own.headers, errorHeaders.class) ?? '';
  return name === wanted || (name !== '' && wanted.startsWith(name) && errorOf(message)?.kind === wanted);
}

/** The error in the headers of a message; undefined if no handler wrote one. */
export function errorOf(message: Message): LetterError | undefined {
  const { headers } = message.own;
  const name = textAt(headers, errorHeaders.class);
  if (name === undefined) return undefined;
  const text = textAt(headers, errorHeaders.message);
  return { class: name, message: text, kind: errorKind(name, text) };
}

/** The reasons of deaths, and of messages that a handler parked without a death. */
export const letterReasons = [...deathReasons, 'parked'] as const;

/** The reason of the latest death of a message, or `parked` if it never died; undefined if it is neither dead nor parked. */
export const reasonOf = (message: Message): string | undefined =>
  deathsOf(message)[0]?.reason ?? (isParked(message) ? 'parked' : undefined);

/** The queue of the latest death, or the work queue of a parked message. */
export function diedIn(message: Message): string | undefined {
  return deathsOf(message)[0]?.queue ?? textAt(message.own.headers, retryHeaders.queue);
}

/** True for a message that a handler parked after its last attempt. */
const isParked = ({ own }: Message): boolean => own.headers?.get(retryHeaders.parked)?.value === true;

/** Since when a message is dead, or else the time of its timestamp, in milliseconds since 1970. */
export function timeOf(message: Message): number | undefined {
  const { timestamp } = message.own;
  return deadSince(message) ?? dateAt(timestamp === undefined ? undefined : Number(timestamp) * 1000);
}

/**
 * What shows that a queue holds dead letters. `proven`: the topology, or what this broker recorded. `claimed`: only headers of the next
 * message, which its publisher may have written.
 */
export type DeadLetterSign = 'proven' | 'claimed';

/**
 * Whether a queue holds dead letters, and what shows it: a dead-letter edge reaches it, it has had dead letters, its next message died,
 * or its next message failed in another queue and was put aside here. Undefined for other queues. The work queue of a retry is no such
 * queue, although a wait queue returns messages to it.
 */
export function deadLetterSign(
  queue: Queue,
  { targets, returns }: Pick<DeadLetterGraph, 'targets' | 'returns'>,
): DeadLetterSign | undefined {
  if (targets.has(queue)) return 'proven';
  const { head, counters } = queue;
  const isReturn = returns.has(queue);
  if (!isReturn && counters.deadLettersIn > 0) return 'proven';
  if (head === undefined) return undefined;
  // The counter begins at 0 after a restart; the deaths of stored messages stay.
  if (head.hasDied) return isReturn ? undefined : 'proven';
  // It was published here. A handler parked it, or an operator, which is recorded, or its headers say so.
  if (!isParked(head) && deathsOf(head).length === 0) return undefined;
  return head.origin?.queue === undefined ? 'claimed' : 'proven';
}

/** Since when the next message of a queue is dead, in milliseconds since 1970. Dead letters come in order, so it is the oldest. */
export const oldestIn = ({ head }: Queue): number | undefined => head && deadSince(head);
