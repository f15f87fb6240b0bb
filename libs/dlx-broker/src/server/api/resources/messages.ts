import { isUtf8 } from 'node:buffer';
import { AmqpError, type Channel, type Got, Outcome, type Settled } from '../../../engine/broker/index.js';
import { bytesOfBase64, integerIn, type JsonObject } from '../../http/body.js';
import { Rows } from '../../http/json.js';
import { badRequest, channelErrorOf, notAuthorised, ok, Problem } from '../../http/reply.js';
import type { ApiRequest, Handler, Resource } from '../../http/resource.js';
import { checkMemory, type Management } from '../../management.js';
import { propertiesOfJson, propertiesToJson } from '../field-json.js';
import { exchangeIn } from './objects.js';

/** Publishes a message (rule U1). It answers when a publisher would get the confirm. */
const publish: Handler = async ({ names, user, body }, management) => {
  checkMemory(management.host);
  const json = await body('routing_key', 'properties', 'payload', 'payload_encoding');
  const { vhost = '' } = names;
  const { routing_key: key } = json;
  if (typeof key !== 'string') throw badRequest(['not_string', 'routing_key']);
  const payload = payloadOf(json);
  const properties = propertiesOfJson(json['properties']);
  const { promise, settled } = awaitedConfirm();
  const outcome = attempted(() =>
    management.as(user, vhost, (channel) =>
      channel.publishNow(exchangeIn(names['name']), key, properties, payload, settled),
    ),
  );
  if ((outcome & Outcome.Refused) !== 0 || !(await promise)) {
    throw badRequest('rejected Unable to publish message. Check queue limits.');
  }
  return ok({ routed: (outcome & Outcome.Routed) !== 0 });
};

/** @throws Problem 400 */
function payloadOf({ payload, payload_encoding: encoding }: JsonObject): Uint8Array {
  if (typeof payload !== 'string') throw badRequest('payload_not_string');
  if (encoding === 'string') return Buffer.from(payload);
  if (encoding !== 'base64') throw badRequest(['unsupported_encoding', encoding]);
  const bytes = bytesOfBase64(payload);
  if (bytes === undefined) throw badRequest(['not_base64', payload]);
  return bytes;
}

/** Publishes. An error that closes the channel is a 400; an error that prevents its opening is not. */
function attempted(publish: () => ReturnType<Management['as']>): Outcome {
  try {
    return publish() as Outcome;
  } catch (error) {
    if (error instanceof AmqpError && error.reply !== 'NOT_ALLOWED') throw badRequest(channelErrorOf(error));
    throw error;
  }
}

/** A promise of the confirm: true for an ack, false for a nack. */
function awaitedConfirm(): { readonly promise: Promise<boolean>; readonly settled: Settled } {
  let settled: Settled = () => {};
  const promise = new Promise<boolean>((done) => (settled = (failure) => done(failure === undefined)));
  return { promise, settled };
}

export const publishing: readonly Resource[] = [
  { path: '/exchanges/:vhost/:name/publish', allows: 'management', POST: publish },
];

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

/** Gets messages (rule U2). */
const get: Handler = async (request, management) => {
  const json = await request.body('ackmode', 'count', 'encoding');
  const how = getRequestIn(json);
  const mode = ackModes.get(json['ackmode']);
  if (mode === undefined) throw badRequest(['unsupported_ackmode', json['ackmode']]);
  return ok(withStatusOf(() => fetched(request, management, how, mode)));
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

function fetched({ names, user }: ApiRequest, management: Management, how: GetRequest, mode: AckMode): Rows<Got> {
  const { vhost = '', name = '' } = names;
  return management.as(user, vhost, (channel) => {
    channel.vhost.check(user, 'read', 'queue', name);
    return new Rows(taken(channel, name, how.count, mode), (got) => shown(got, how));
  });
}

/** The bytes of bodies after which a reply has no further message. */
const mostBytes = 67_108_864;

/** Takes messages until there are enough, the queue is empty, or the reply is full. The other messages stay in the queue. */
function taken(channel: Channel, name: string, most: number, { noAck, requeue }: AckMode): readonly Got[] {
  const all: Got[] = [];
  for (let bytes = 0; (most < 0 || all.length < most) && bytes < mostBytes;) {
    while (channel.expireSome(name));
    const got = nextOf(channel, name, noAck, all.length > 0);
    if (got === undefined) break;
    all.push(got);
    bytes += got.body.length;
  }
  // Messages return at the end: a message that returns at once would be fetched again.
  if (requeue !== undefined) for (const { deliveryTag } of all) channel.reject(deliveryTag, requeue);
  return all;
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
function withStatusOf<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof AmqpError) || error.reply === 'NOT_ALLOWED') throw error;
    if (isUnreadable(error)) throw new Problem(503, 'unavailable', channelErrorOf(error));
    if (error.reply === 'NOT_FOUND') throw new Problem(404, 'not_found', error.message);
    if (error.reply === 'ACCESS_REFUSED') throw notAuthorised(error.message);
    throw badRequest(channelErrorOf(error));
  }
}

export const queueGet: readonly Resource[] = [{ path: '/queues/:vhost/:name/get', allows: 'management', POST: get }];
