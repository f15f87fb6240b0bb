import { isUtf8 } from 'node:buffer';
import { AmqpError, type Channel, type Got } from '../../broker/index.js';
import { integerIn } from '../body.js';
import { propertiesToJson } from '../properties-json.js';
import { badRequest, channelErrorOf, notAuthorised, ok, Problem } from '../reply.js';
import type { Handler, JsonObject, Resource } from '../resource.js';

/** What becomes of the messages afterwards. Those that nobody settles go back when the channel closes. */
const ackModes: ReadonlyMap<unknown, { readonly noAck: boolean; readonly requeue?: boolean }> = new Map([
  ['ack_requeue_true', { noAck: false }],
  ['ack_requeue_false', { noAck: true }],
  ['reject_requeue_true', { noAck: false, requeue: true }],
  ['reject_requeue_false', { noAck: false, requeue: false }],
]);

/** Rule U2. */
const get: Handler = async ({ names, user, body }, management) => {
  const json = await body('ackmode', 'count', 'encoding');
  const { vhost = '', name = '' } = names;
  const how = askedFor(json);
  const mode = ackModes.get(json['ackmode']);
  if (mode === undefined) throw badRequest(['unsupported_ackmode', json['ackmode']]);
  return ok(
    closing(() =>
      management.as(user, vhost, (channel) => {
        const got = fetched(channel, name, how.count, mode.noAck);
        const { requeue } = mode;
        // Only now: a message that went back at once would be fetched again.
        if (requeue !== undefined) for (const { deliveryTag } of got) channel.reject(deliveryTag, requeue);
        return got.map((each) => shown(each, how));
      }),
    ),
  );
};

interface Asked {
  readonly count: number;
  readonly encoding: 'auto' | 'base64';
  /** Bytes of a payload that are shown. */
  readonly truncate: number;
}

/** @throws Problem 400 */
function askedFor(json: JsonObject): Asked {
  const { encoding } = json;
  const count = integerIn(json, 'count') ?? 0;
  if (encoding !== 'auto' && encoding !== 'base64') {
    throw badRequest('Unsupported encoding. Please use auto or base64.');
  }
  const truncate = Math.max(0, integerIn(json, 'truncate') ?? Infinity);
  return { count, encoding, truncate };
}

/** A negative count is no limit. */
function fetched(channel: Channel, queue: string, count: number, noAck: boolean): readonly Got[] {
  const all: Got[] = [];
  while (count < 0 || all.length < count) {
    const got = channel.get(queue, { noAck });
    if (got === undefined) break;
    all.push(got);
  }
  return all;
}

function shown({ message, redelivered, messageCount }: Got, { encoding, truncate }: Asked): object {
  const { body, exchange, routingKey, properties } = message;
  const part = Buffer.from(body.subarray(0, truncate));
  const isText = encoding === 'auto' && isUtf8(part);
  return {
    payload_bytes: body.length,
    redelivered,
    exchange,
    routing_key: routingKey,
    message_count: messageCount,
    properties: propertiesToJson(properties),
    payload: part.toString(isText ? 'utf8' : 'base64'),
    payload_encoding: isText ? 'string' : 'base64',
  };
}

/** An error closes the channel: RabbitMQ tells it with its code, unless it is one that HTTP has a status for. */
function closing<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof AmqpError) || error.reply === 'NOT_ALLOWED') throw error;
    if (error.reply === 'NOT_FOUND') throw new Problem(404, 'not_found', error.message);
    if (error.reply === 'ACCESS_REFUSED') throw notAuthorised(error.message);
    throw badRequest(channelErrorOf(error));
  }
}

export const queueGet: readonly Resource[] = [{ path: '/queues/:vhost/:name/get', allows: 'management', POST: get }];
