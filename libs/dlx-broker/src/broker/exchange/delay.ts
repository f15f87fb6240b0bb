import { DeadHeaders, DeadLetteredMessage, type Field, int32, int64, integerOf } from '../../message/index.js';
import { compact, type Message, messageOf, WrittenTable } from '../../message/index.js';
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
 * The headers of a message whose delay is over: it is negated, so that it is never held back again. A million messages
 * wait with them, and somebody looks at them when they are through.
 */
class DelayedHeaders extends WrittenTable {
  constructor(
    /** As they were published; undefined when the delay was all there is. */
    readonly published: FieldTable | undefined,
    readonly delay: number,
  ) {
    super();
  }

  get(name: string): Field | undefined {
    return name === delayHeader ? negated(this.delay) : this.published?.get(name);
  }

  protected table(): Map<string, Field> {
    return new Map(this.published).set(delayHeader, negated(this.delay));
  }
}

/**
 * How long an exchange of this type holds a message back, in milliseconds; 0 for one that is routed at once: without a
 * delay, with none above 0, with one that is too long or no number.
 */
export function delayOf({ properties: { headers } }: Message): number {
  if (headers === undefined || headers instanceof DelayedHeaders) return 0;
  const field = headers.get(delayHeader);
  if (field === undefined) return 0;
  const delay = numberIn(field);
  return delay !== undefined && delay > 0 && delay <= longestDelay ? delay : 0;
}

/** The message as it goes on when its time has come. */
export function withDelayOver(message: Message, delay: number): Message {
  const { exchange, routingKey, carbonCopies, origin } = message;
  const properties = { ...message.properties, headers: headersAfter(message.properties.headers, delay) };
  if (message.hasDied) return new DeadLetteredMessage(exchange, routingKey, properties, message, carbonCopies, origin);
  return messageOf(exchange, routingKey, properties, message, carbonCopies, origin);
}

function headersAfter(headers: FieldTable | undefined, delay: number): FieldTable {
  if (headers instanceof DeadHeaders) return headers.onto((own) => void own.set(delayHeader, negated(delay)));
  return new DelayedHeaders(headers?.size === 1 ? undefined : headers && compact(headers), delay);
}

const negated = (delay: number): Field => (-delay < -2_147_483_648 ? int64(-delay) : int32(-delay));

/** The type by which an exchange routes that was declared so. @throws 406 when it is delayed, and does not say by which */
export const routingTypeOf = (declared: { readonly type: string; readonly arguments: FieldTable }): string =>
  declared.type === delayedType ? delayedTypeOf(declared.arguments) : declared.type;

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
