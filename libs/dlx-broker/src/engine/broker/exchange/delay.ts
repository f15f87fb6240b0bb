import { delayHeader, type Field, type FieldTable, integerOf, type Message } from '../../message/index.js';
import { NotedMessage, noProperties, Notes, type Properties, withHeaders } from '../../message/index.js';
import { preconditionFailed } from '../errors.js';

// The names are those of RabbitMQ's delayed-message plugin.

/** The type of an exchange that delays each message by the milliseconds of its header `x-delay`. */
export const delayedType = 'x-delayed-message';

/** The argument with the type by which a delayed exchange routes. */
const delayedTypeArgument = 'x-delayed-type';

/** The longest delay in milliseconds, as in the plugin: about 49 days. A message with a longer delay is routed at once. */
export const maxDelay = 4_294_967_295;

/**
 * How long a delayed exchange delays a message, in milliseconds. 0 for a message that is routed at once: its delay is missing,
 * not above 0, too long or no number.
 */
export function delayOf({ own: { headers }, notes }: Message): number {
  if (headers === undefined || (notes !== undefined && notes.delay !== 0)) return 0;
  const field = headers.get(delayHeader);
  if (field === undefined) return 0;
  const delay = numberIn(field);
  return delay !== undefined && delay > 0 && delay <= maxDelay ? delay : 0;
}

/**
 * The message that is routed when its delay is over. Its `x-delay` is negated, so it is never delayed again.
 */
export function withDelayOver(message: Message, delay: number): NotedMessage {
  const { exchange, routingKey, own, notes } = message;
  const after = Notes.of(notes?.copies, notes?.origin, notes?.deaths, delay);
  return new NotedMessage(exchange, routingKey, withoutDelay(own), message, after);
}

/**
 * The properties without the headers, if the delay is the only header: a million delayed messages then take less
 * memory.
 */
function withoutDelay(own: Properties): Properties {
  const { headers } = own;
  const isAll = headers === undefined || headers.size === 1;
  if (!isAll) return own;
  for (const name in own) {
    if (name !== 'headers' && own[name as keyof Properties] !== undefined)
      return withHeaders(own, undefined, own.expiration);
  }
  return noProperties;
}

/** The type by which an exchange routes. @throws 406 when a delayed exchange names no such type */
export const routingTypeOf = (declared: { readonly type: string; readonly arguments: FieldTable }): string =>
  declared.type === delayedType ? delayedTypeOf(declared.arguments) : declared.type;

/** The type by which a delayed exchange routes. @throws 406 when it is missing, or is itself the delayed type */
function delayedTypeOf(args: FieldTable): string {
  const type = args.get(delayedTypeArgument);
  if (type?.type !== 'S') {
    throw preconditionFailed(`Invalid argument, '${delayedTypeArgument}' must be an existing exchange type`);
  }
  if (type.value !== delayedType) return type.value;
  throw preconditionFailed(`Invalid argument, '${delayedType}' can't be used for '${delayedTypeArgument}'`);
}

/** The number in a field: an integer, a whole number as text, or the integer part of a fraction. */
function numberIn(field: Field): number | undefined {
  switch (field.type) {
    case 'f':
    case 'd':
      return Math.trunc(field.value);
    case 'D':
      return Math.trunc(field.value.value / 10 ** field.value.scale);
    case 'S':
      return /^[+-]?[0-9]{1,20}$/.test(field.value) ? Number(field.value) : undefined;
    default: {
      const integer = integerOf(field);
      return integer === undefined ? undefined : Number(integer);
    }
  }
}
