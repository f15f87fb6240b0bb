import { isUtf8 } from 'node:buffer';
import { AmqpError, type Channel, type Got, type Queue } from '../../../broker/index.js';
import { integerIn } from '../../http/body.js';
import { inTurns } from '../../http/turns.js';
import { JsonSink, tooLarge, type WrittenJson } from '../../http/json.js';
import type { Management } from '../../management.js';
import { propertiesToJson } from '../properties-json.js';
import { badRequest, channelErrorOf, notAuthorised, ok, Problem } from '../../http/reply.js';
import type { JsonObject } from '../../http/json-object.js';
import type { ApiRequest, Handler, Resource } from '../../http/resource.js';

/** How the messages are settled. Unsettled messages return to the queue when the channel closes. */
const ackModes: ReadonlyMap<unknown, AckMode> = new Map([
  ['ack_requeue_true', { noAck: false }],
  ['ack_requeue_false', { noAck: true }],
  ['reject_requeue_true', { noAck: false, requeue: true }],
  ['reject_requeue_false', { noAck: false, requeue: false }],
]);

interface AckMode {
  readonly noAck: boolean;
  readonly requeue?: boolean;
}

/** Gets messages (rule U2). A long reply is made in turns: other clients get and publish meanwhile, as on RabbitMQ. */
const get: Handler = async (request, management) => {
  const json = await request.body('ackmode', 'count', 'encoding');
  const how = getRequestIn(json);
  const mode = ackModes.get(json['ackmode']);
  if (mode === undefined) throw badRequest(['unsupported_ackmode', json['ackmode']]);
  return ok(await withStatusOf(() => fetched(request, management, how, mode)));
};

interface GetRequest {
  /** The most messages; negative: no limit. */
  readonly count: number;
  readonly encoding: 'auto' | 'base64';
  /** The most bytes of a payload in the reply. */
  readonly truncate: number;
}

/** @throws Problem 400 */
function getRequestIn(json: JsonObject): GetRequest {
  const { encoding } = json;
  const count = integerIn(json, 'count') ?? 0;
  if (encoding !== 'auto' && encoding !== 'base64') {
    throw badRequest('Unsupported encoding. Please use auto or base64.');
  }
  const truncate = Math.max(0, integerIn(json, 'truncate') ?? Infinity);
  return { count, encoding, truncate };
}

async function fetched(
  { names, user, signal }: ApiRequest,
  management: Management,
  how: GetRequest,
  mode: AckMode,
): Promise<WrittenJson> {
  const { vhost = '', name = '' } = names;
  return management.during(user, vhost, (channel) => {
    channel.vhost.check(user, 'read', 'queue', name);
    return inTurns(taken(channel, name, how, mode, management.replyLimit), management.dlx.turns, signal);
  });
}

/**
 * Takes messages until there are enough, the queue is empty, or the reply is full. A message that does not fit stays in
 * the queue.
 * @throws Problem 413 when the first message does not fit
 */
function* taken(
  channel: Channel,
  name: string,
  how: GetRequest,
  { noAck, requeue }: AckMode,
  limit: number,
): Generator<void, WrittenJson, void> {
  const sink = new JsonSink(Infinity);
  const tags: number[] = [];
  let count = 0;
  for (; how.count < 0 || count < how.count; count++) {
    if (!hasRoom(channel.vhost.queues.get(name), how, limit - sink.bytes)) {
      if (count > 0) break;
      throw tooLarge(limit);
    }
    while (channel.expireSome(name)) yield;
    const got = nextOf(channel, name, noAck, count > 0);
    if (got === undefined) break;
    if (requeue !== undefined) tags.push(got.deliveryTag);
    sink.add((count === 0 ? '[' : ',') + JSON.stringify(shown(got, how)));
    yield;
  }
  sink.add(count === 0 ? '[]' : ']');
  // Messages return at the end: a message that returns at once would be fetched again.
  for (const tag of requeue === undefined ? [] : tags) {
    channel.reject(tag, requeue);
    yield;
  }
  return sink.end();
}

/**
 * Gets the next message. An error after the first message ends the answer, because the messages before may be settled.
 * @throws AmqpError
 */
function nextOf(channel: Channel, name: string, noAck: boolean, isEnough: boolean): Got | undefined {
  try {
    return channel.get(name, { noAck });
  } catch (error) {
    if (isEnough && isUnreadable(error)) return undefined;
    throw error;
  }
}

const isUnreadable = (error: unknown): boolean =>
  error instanceof AmqpError && error.reply === 'INTERNAL_ERROR' && error.closes === 'channel';

/** The bytes of a message in a reply without its body. */
const envelope = 512;

/**
 * True if the next message fits into the reply. Base64 is the longest form of a body, except for text of control
 * characters.
 */
function hasRoom(queue: Queue | undefined, { truncate }: GetRequest, room: number): boolean {
  const size = queue?.head?.size;
  return size === undefined || envelope + (Math.min(size, truncate) * 4) / 3 <= room;
}

function shown({ message, body, redelivered, messageCount }: Got, { encoding, truncate }: GetRequest): object {
  const { exchange, routingKey, properties } = message;
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

/**
 * An error closes the channel. As RabbitMQ, it answers 400 with the code of the error, unless HTTP has a status for it.
 */
async function withStatusOf<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof AmqpError) || error.reply === 'NOT_ALLOWED') throw error;
    if (isUnreadable(error)) throw new Problem(503, 'unavailable', channelErrorOf(error));
    if (error.reply === 'NOT_FOUND') throw new Problem(404, 'not_found', error.message);
    if (error.reply === 'ACCESS_REFUSED') throw notAuthorised(error.message);
    throw badRequest(channelErrorOf(error));
  }
}

export const queueGet: readonly Resource[] = [
  { path: '/queues/:vhost/:name/get', allows: 'management', readsMuch: true, POST: get },
];
