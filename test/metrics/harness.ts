import { listen, publishText } from '../harnesses/listener.js';
import { int32, longstr } from '../../libs/dlx-broker/src/engine/message/index.js';
import type { Broker } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { Meter, type MeteredBroker, type PageRequest, pageOf } from '../../libs/dlx-broker/src/server/metrics/index.js';
import { harness } from '../../libs/dlx-broker/src/nest/testing/harness.js';
import { type Exposition, readExposition } from './exposition.js';

/** A broker in virtual time with a meter, on a machine whose figures do not change. */
export function metered(more: Partial<MeteredBroker> = {}) {
  const ground = harness();
  ground.broker.measureSizes();
  const meter = new Meter({
    broker: ground.broker,
    nodeName: 'rabbit@localhost',
    machine: {
      memory: () => ({ used: 1_000, limit: 4_000 }),
      diskFree: 9_000,
      files: 20,
      filesLimit: 1_024,
      connections: 1,
    },
    diskLimit: 500,
    alarms: () => [],
    journal: undefined,
    ...more,
  });
  return { ...ground, meter, page: (request?: Partial<PageRequest>) => textOf(meter, request) };
}

/** A page as text. */
export async function textOf(meter: Meter, request: Partial<PageRequest> = {}): Promise<string> {
  let text = '';
  for (const part of await pageOf(meter, { endpoint: 'aggregated', ...request })) text += part ?? '';
  return text;
}

export const scraped = async (meter: Meter, request?: Partial<PageRequest>): Promise<Exposition> =>
  readExposition(await textOf(meter, request));

/** Traffic of every kind: confirms, returns, drops, gets, acks, deaths by each reason, in classic and quorum queues. */
export function traffic(broker: Broker): void {
  const { channel, deliveries } = listen(broker);
  const dlx = new Map([['x-dead-letter-exchange', longstr('dlx')]]);
  channel.declareExchange('dlx', { type: 'fanout' });
  channel.declareQueue('dead');
  channel.bindQueue('dead', 'dlx', '');
  channel.declareQueue('work', { arguments: dlx });
  channel.declareQueue('full', { arguments: new Map([['x-max-length', int32(1)]]) });
  channel.declareQueue('safe', {
    durable: true,
    arguments: new Map([
      ['x-queue-type', longstr('quorum')],
      ['x-dead-letter-exchange', longstr('dlx')],
      ['x-dead-letter-strategy', longstr('at-least-once')],
      ['x-overflow', longstr('reject-publish')],
    ]),
  });
  channel.confirmSelect();
  for (let count = 0; count < 4; count++) publishText(channel, '', 'work', 'm');
  for (let count = 0; count < 3; count++) publishText(channel, '', 'full', 'm'); // two die: no dead-letter exchange
  for (let count = 0; count < 3; count++) publishText(channel, '', 'safe', 'x'.repeat(150));
  publishText(channel, '', 'nowhere', 'm');
  channel.publish('', 'nowhere', {}, new Uint8Array(), { mandatory: true });
  const tag = (queue: string): number => channel.get(queue)!.deliveryTag;
  channel.ack(tag('work'));
  channel.nack(tag('work'), false, false);
  channel.nack(tag('work')); // returns
  channel.get('work', { noAck: true }); // redelivered
  channel.nack(tag('safe'), false, false);
  channel.get('safe', { noAck: true });
  channel.declareQueue('empty');
  channel.get('empty');
  channel.consume('safe');
  channel.ack(deliveries.at(-1)!.deliveryTag);
}
