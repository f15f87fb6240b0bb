import { type Field, type FieldTable, fieldTypeNames, integerOf } from '../../message/index.js';

/**
 * Returns what is wrong with a value in RabbitMQ's words (the REASON of rule F9); undefined if nothing is.
 * @param all the other arguments, for values that need another one
 */
export type Accepts = (value: Field, all: FieldTable) => string | undefined;

/** The longest TTL: ten years of 365 days, in milliseconds (rule B1). */
export const maxTtl = 315_360_000_000;

const unacceptableType = (value: Field): string => `{unacceptable_type,${fieldTypeNames[value.type]}}`;

/** Any integer; also what a consumer's `x-priority` must be (rule Q3). */
export const integer: Accepts = (value) =>
  integerOf(value) === undefined ? `"expected integer, got ${fieldTypeNames[value.type]}"` : undefined;

/** 0, 1, 2, ... */
export const natural: Accepts = (value, all) => {
  const wrong = integer(value, all);
  if (wrong !== undefined) return wrong;
  const number = integerOf(value)!;
  return number < 0 ? `{value_negative,${number}}` : undefined;
};

/** 1, 2, 3, ... */
export const positive: Accepts = (value, all) => (integerOf(value) == 0 ? '{value_zero,0}' : natural(value, all));

const atMost =
  (accepts: Accepts, limit: number, reason: string): Accepts =>
  (value, all) => {
    const number = integerOf(value);
    return number !== undefined && number > limit ? `{${reason},${number}}` : accepts(value, all);
  };

/** Milliseconds a message may live (rule B1). */
export const timeToLive = atMost(natural, maxTtl, 'value_too_large');

/** Milliseconds an idle queue may live (rule B12). */
export const timeToIdle = atMost(positive, maxTtl, 'value_too_large');

/** The highest priority of a queue (rule R1). */
export const priority = atMost(natural, 255, 'max_value_exceeded');

export const text: Accepts = (value) => (value.type === 'S' ? undefined : unacceptableType(value));

export const boolean: Accepts = (value) => (value.type === 't' ? undefined : unacceptableType(value));

/** Accepts every value. */
export const anything: Accepts = () => undefined;

/** Rule F5: only the queue's arguments count here, policies do not. */
export const deadLetterKey: Accepts = (value, all) =>
  text(value, all) ?? (all.has('x-dead-letter-exchange') ? undefined : 'routing_key_but_no_dlx_defined');

/** One of these words; otherwise the reason, which may quote the value. */
export const oneOf =
  (words: readonly string[], reason: (value: string) => string): Accepts =>
  (value) => {
    if (value.type !== 'S') return unacceptableType(value);
    return words.includes(value.value) ? undefined : reason(value.value);
  };

/** RabbitMQ's two formats on disk. Accepted without effect, so that declarations for RabbitMQ work here. */
export const queueVersion: Accepts = (value, all) => {
  const wrong = natural(value, all);
  if (wrong !== undefined) return wrong;
  const number = Number(integerOf(value));
  return number === 1 || number === 2 ? undefined : `"unsupported queue version '${number}'"`;
};
