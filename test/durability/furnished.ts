import { Broker, type Channel } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { type Field, int32, longstr, type Properties } from '../../libs/dlx-broker/src/engine/message/index.js';
import { type Data, type DataOptions, openData } from '../../libs/dlx-broker/src/store/index.js';
import { listen } from '../harnesses/listener.js';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { atLeastOnceTo } from './at-least-once.js';
import { lent } from './harness.js';

/** A broker on a data directory, at noon on the first of January 2026. */
export async function harness(
  directory: string,
  options: DataOptions = {},
): Promise<{ broker: Broker; data: Data; clock: ManualClock }> {
  const clock = new ManualClock();
  const data = await openData(directory, { ...options, now: () => clock.now() });
  const broker = new Broker({ ...lent(clock), journal: data.journal });
  data.journal.restore(broker);
  return { broker, data, clock };
}

/** Fills a harness with one record of each type, because later versions have to read them. */
export function furnish(broker: Broker, clock: ManualClock): void {
  broker.addVirtualHost('other');
  broker.access.setUser('ann', { tags: ['management'], passwordHash: 'hash' });
  broker.access.setPermissions('ann', 'other', { configure: '', write: '.*', read: '.*' });
  const vhost = broker.virtualHost('/');
  vhost.setPolicy('short', { pattern: 'work', definition: { 'max-length': 1_000 }, priority: 1 });
  const { channel } = listen(broker);
  channel.declareExchange('dlx', { type: 'topic', durable: true });
  channel.declareQueue('dead', { durable: true });
  channel.bindQueue('dead', 'dlx', '#', new Map([['n', int32(1)]]));
  channel.declareQueue('work', { durable: true, arguments: new Map([['x-dead-letter-exchange', longstr('dlx')]]) });
  channel.declareQueue('agreed', { durable: true, arguments: new Map([['x-queue-type', longstr('quorum')]]) });
  for (const [index, kind] of Object.keys(properties).entries()) publish(channel, 'work', kind, `body ${index}`);
  publish(channel, 'agreed', 'plain', 'counted');
  channel.publish('', 'work', { deliveryMode: 2, expiration: '60000' }, Buffer.from([0xff, 0xfe, 0x00]));
  // One is rejected, one is unacknowledged, one was returned.
  channel.get('work');
  channel.reject(1, false);
  channel.get('work');
  channel.get('agreed');
  channel.nack(3, false, true);
  clock.advance(0);
  const away = listen(broker, { vhost: 'other' }).channel;
  away.declareQueue('work', { durable: true });
  publish(away, 'work', 'plain', 'elsewhere');
}

/** Adds what format 2 introduced: an at-least-once dead letter without a destination. */
export function furnishRetained(broker: Broker, clock: ManualClock): void {
  const { channel } = listen(broker);
  channel.declareExchange('nowhere', { type: 'fanout', durable: true });
  channel.declareQueue('careful', { durable: true, arguments: atLeastOnceTo('nowhere') });
  publish(channel, 'careful', 'all', 'retained');
  publish(channel, 'careful', 'plain', 'ready');
  channel.get('careful');
  channel.reject(1, false, new Map([['why', longstr('because')]]));
  clock.advance(0);
}

/** Adds what format 3 introduced: origins that are not in the headers. */
export function furnishTraced(broker: Broker, clock: ManualClock): void {
  const { channel } = listen(broker);
  channel.declareQueue('traced', { durable: true, arguments: new Map([['x-dead-letter-exchange', longstr('dlx')]]) });
  const publishNow = (body: string, queue: string | undefined): unknown => {
    const origin = { exchange: 'shop', routingKey: 'order.created', queue };
    return channel.publishNow('', 'traced', { deliveryMode: 2 }, Buffer.from(body), undefined, origin);
  };
  publishNow('delayed', undefined);
  publishNow('retried', 'orders');
  const copies = new Map([['CC', { type: 'A', value: [longstr('dead')] } as const]]);
  channel.publish('', 'traced', { deliveryMode: 2, headers: copies }, Buffer.from('copied'));
  for (const claim of ['x-death', 'dlx-first-exchange']) {
    const headers = new Map<string, Field>([[claim, { type: 'A', value: [] }]]);
    channel.publish('', 'traced', { deliveryMode: 2, headers }, Buffer.from(claim));
  }
  for (const tag of [1, 2, 3, 4, 5]) {
    channel.get('traced');
    channel.reject(tag, false);
  }
  publishNow('delayed again', undefined);
  publishNow('retried again', 'orders');
  clock.advance(0);
}

/** Adds what format 4 introduced: deaths beside the properties, and delays that have ended. */
export function furnishNoted(broker: Broker, clock: ManualClock): void {
  const { channel } = listen(broker);
  const delayed = new Map<string, Field>([['x-delayed-type', longstr('fanout')]]);
  channel.declareExchange('later', { type: 'x-delayed-message', durable: true, arguments: delayed });
  channel.declareQueue('noted', { durable: true, arguments: new Map([['x-dead-letter-exchange', longstr('later')]]) });
  channel.declareQueue('buried', { durable: true });
  channel.bindQueue('buried', 'later', '');
  const forged = new Map<string, Field>([
    ['x-death', { type: 'A', value: [{ type: 'F', value: new Map([['queue', longstr('noted')]]) }] }],
  ]);
  const kinds: readonly Properties[] = [
    { expiration: '30000' },
    { expiration: '030001', messageId: 'other', headers: forged },
    { headers: new Map([['x-delay', int32(5)]]) },
    {
      headers: new Map([
        ['x-delay', { type: 'l', value: 3_000_000_000 }],
        ['mine', int32(1)],
      ]),
    },
  ];
  for (const [index, kind] of kinds.entries()) {
    channel.publish('', 'noted', { ...kind, deliveryMode: 2 }, Buffer.from(`noted ${index}`));
    channel.publish('later', '', { ...kind, expiration: undefined, deliveryMode: 2 }, Buffer.from(`later ${index}`));
  }
  for (let tag = 1; tag <= kinds.length; tag++) {
    channel.get('noted');
    channel.reject(tag, false);
  }
  clock.advance(0);
}

const properties = {
  plain: {},
  headers: {
    headers: new Map<string, Field>([
      ['short', { type: 's', value: -3 }],
      ['long', { type: 'l', value: 2n ** 60n }],
      ['__proto__', { type: 'F', value: new Map([['inner', { type: 'A', value: [{ type: 't', value: true }] }]]) }],
      ['bytes', { type: 'x', value: Buffer.from([1, 2]) }],
      ['nothing', { type: 'V', value: undefined }],
    ]),
  },
  all: {
    contentType: 'text/plain',
    contentEncoding: 'utf-8',
    priority: 3,
    correlationId: 'c',
    replyTo: 'r',
    messageId: 'm',
    timestamp: 1_767_268_800,
    type: 't',
    appId: 'a',
  },
} as const;

function publish(channel: Channel, queue: string, kind: keyof typeof properties | string, body: string): void {
  const chosen = properties[kind as keyof typeof properties];
  channel.publish('', queue, { ...chosen, deliveryMode: 2 }, Buffer.from(body));
}
