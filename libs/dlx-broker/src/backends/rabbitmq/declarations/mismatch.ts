import type { Field } from '../../../engine/message/index.js';

/** The difference between a declaration and an existing object, as the text of a 406 names it. */
export interface Mismatch {
  /** `durable`, `type` or an argument such as `x-message-ttl`. */
  readonly property: string;
  /** The existing value as text; undefined: it is not set. */
  readonly existing: string | undefined;
  /** RabbitMQ's name of its type, where the text has it: `longstr`, `signedint` ... */
  readonly type: string | undefined;
}

/**
 * Reads `inequivalent arg 'N' for queue 'Q' in vhost 'V': received '6' but current is '5'`, and `invalid arg 'N' ... of
 * queue type ...`, which says that the existing queue cannot have the argument. The end is read from the last
 * ` but current is `, because a value may hold quotes.
 * @returns undefined for another text
 */
export function mismatchIn(text: string): Mismatch | undefined {
  const property = /^(?:PRECONDITION_FAILED - )?(?:inequivalent|invalid) arg '([^']*)'/.exec(text)?.[1];
  if (property === undefined) return undefined;
  const mark = ' but current is ';
  const at = text.lastIndexOf(mark);
  const end = at < 0 ? 'none' : text.slice(at + mark.length);
  const typed = /^the value '(.*)' of type '(\w+)'$/s.exec(end);
  if (typed !== null) return { property, existing: typed[1], type: typed[2] };
  return { property, existing: /^'(.*)'$/s.exec(end)?.[1], type: undefined };
}

/**
 * The existing value of an argument as a field, to declare with it.
 * @param asked the declared value, whose type is used where the server's text has none
 */
export function existingField({ existing, type }: Mismatch, asked: Field | undefined): Field | undefined {
  if (existing === undefined) return undefined;
  if (type === 'longstr' || (type === undefined && asked?.type === 'S')) return { type: 'S', value: existing };
  if (existing === 'true' || existing === 'false') return { type: 't', value: existing === 'true' };
  const number = Number(existing);
  return Number.isSafeInteger(number) ? { type: 'l', value: number } : { type: 'S', value: existing };
}

/** An existing value as errors show it: texts in quotes, all else as it is. */
export function shownExisting(mismatch: Mismatch, asked: Field | undefined): string {
  const field = existingField(mismatch, asked);
  if (field === undefined) return 'none';
  return field.type === 'S' ? `'${field.value}'` : String(field.value);
}
