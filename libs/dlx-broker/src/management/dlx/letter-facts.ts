import { deathsOf, firstDeathOf, type Message, textAt } from '../../message/index.js';
import { errorHeaders, failingSince, retryHeaders } from '../../history/index.js';

/** Characters of an error's message that tell it from others. */
const longestKind = 200;

/** What varies from one failure to the next of the same kind: identifiers first, then every other number. */
const varying = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|0x[0-9a-f]+|\d+/gi;

/** Why a handler failed. */
export interface LetterError {
  readonly class: string;
  readonly message: string | undefined;
  /** The same for failures that differ in numbers and identifiers only: `TimeoutError: no answer after # ms`. */
  readonly kind: string;
}

/** Whether it failed of this: a class, or a kind. An empty text is meant for those that tell of no error. */
export function failedOf(message: Message, wanted: string): boolean {
  const name = textAt(message.own.headers, errorHeaders.class) ?? '';
  return name === wanted || (name !== '' && wanted.startsWith(name) && errorOf(message)?.kind === wanted);
}

/** Undefined when no handler said so. */
export function errorOf(message: Message): LetterError | undefined {
  const { headers } = message.own;
  const name = textAt(headers, errorHeaders.class);
  if (name === undefined) return undefined;
  const said = textAt(headers, errorHeaders.message);
  const kind = said ? `${name}: ${said.slice(0, longestKind).replace(varying, '#')}` : name;
  return { class: name, message: said, kind };
}

/** The reason of its latest death; undefined for a message that never died. */
export const reasonOf = (message: Message): string | undefined => deathsOf(message)[0]?.reason;

/** The queue of its latest death, or the work queue of a message that was parked. */
export function diedIn(message: Message): string | undefined {
  return deathsOf(message)[0]?.queue ?? textAt(message.own.headers, retryHeaders.queue);
}

/** The queue in which it failed at first, whichever queues it went through since; where none was recorded, as its headers tell. */
export function firstDiedIn(message: Message): string | undefined {
  if (message.origin?.queue !== undefined) return message.origin.queue;
  const queue = textAt(message.own.headers, retryHeaders.queue);
  return queue ?? firstDeathOf(message)?.queue ?? deathsOf(message).at(-1)?.queue;
}

/**
 * Since when it is dead, in milliseconds since 1970: since its latest death was first recorded, or since it began to fail
 * for one that was parked, or else since its publisher says it was sent.
 */
export function timeOf(message: Message): number | undefined {
  const { timestamp } = message.own;
  const death = deathsOf(message)[0];
  if (death !== undefined && death.time > 0) return death.time;
  return failingSince(message) ?? (timestamp === undefined ? undefined : Number(timestamp) * 1000);
}
