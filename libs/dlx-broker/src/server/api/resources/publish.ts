import { AmqpError, Outcome, type Settled } from '../../../engine/broker/index.js';
import { bytesOfBase64 } from '../../http/base64.js';
import { checkMemory } from '../../statistics/memory-check.js';
import type { Management } from '../../management.js';
import { propertiesOfJson } from '../properties-json.js';
import { badRequest, channelErrorOf, ok } from '../../http/reply.js';
import type { JsonObject } from '../../http/json-object.js';
import type { Handler, Resource } from '../../http/resource.js';
import { exchangeIn } from './exchanges.js';

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
