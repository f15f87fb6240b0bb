import { changeHeaders, DeadLetteredMessage, type Field, int32, int64, Message } from '../../message/index.js';
import { preconditionFailed } from '../errors.js';
import type { FieldTable } from '../../message/index.js';

// What follows is spelled as RabbitMQ's delayed-message plugin spells it.

/** An exchange that holds a message back for as long as its header `x-delay` says. */
export const delayedType = 'x-delayed-message';

/** Of a delayed exchange: the type it routes by. */
const delayedTypeArgument = 'x-delayed-type';

const delayHeader = 'x-delay';

/** What the plugin's timers take, in milliseconds: some 49 days. A longer delay is none. */
export const longestDelay = 4_294_967_295;

/**
 * How long an exchange of this type holds a message back, in milliseconds; 0 for one that is routed at once: without a
 * delay, with none above 0, with one that is too long or no number.
 */
export function delayOf({ properties: { headers } }: Message): number {
  const field = headers?.get(delayHeader);
  if (field === undefined) return 0;
  const delay = numberIn(field);
  return delay !== undefined && delay > 0 && delay <= longestDelay ? delay : 0;
}

/** The message as it goes on when its time has come: the delay is negated, so that it is never held back again. */
export function withDelayOver(message: Message, delay: number): Message {
  const over = -delay < -2_147_483_648 ? int64(-delay) : int32(-delay);
  const headers = changeHeaders(message.properties.headers, (own) => void own.set(delayHeader, over));
  const kind = message.hasDied ? DeadLetteredMessage : Message;
  const { exchange, routingKey, properties, carbonCopies } = message;
  return new kind(exchange, routingKey, { ...properties, headers }, message, carbonCopies);
}

/** The type a delayed exchange routes by. @throws 406 when it is not said, or is the type of delayed exchanges itself */
export function delayedTypeOf(args: FieldTable): string {
  const type = args.get(delayedTypeArgument);
  if (type?.type !== 'S') {
    throw preconditionFailed(`Invalid argument, '${delayedTypeArgument}' must be an existing exchange type`);
  }
  if (type.value !== delayedType) return type.value;
  throw preconditionFailed(`Invalid argument, '${delayedType}' can't be used for '${delayedTypeArgument}'`);
}

/** All integers, whole numbers as text, and what is before the point of a fraction. */
function numberIn(field: Field): number | undefined {
  switch (field.type) {
    case 'b':
    case 'B':
    case 's':
    case 'u':
    case 'I':
    case 'i':
    case 'l':
      return Number(field.value);
    case 'f':
    case 'd':
      return Math.trunc(field.value);
    case 'D':
      return Math.trunc(field.value.value / 10 ** field.value.scale);
    case 'S':
      return /^[+-]?[0-9]{1,20}$/.test(field.value) ? Number(field.value) : undefined;
    default:
      return undefined;
  }
}
