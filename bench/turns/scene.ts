import type { Broker, Channel, Connection } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { type Field, int32, longstr } from '../../libs/dlx-broker/src/engine/message/index.js';

/** The number of objects of each kind; a tenth of it with `--small`. */
export interface Size {
  readonly queues: number;
  readonly bindings: number;
  readonly messages: number;
}

export const table = (entries: Readonly<Record<string, Field>>): Map<string, Field> => new Map(Object.entries(entries));
export const nameOf = (prefix: string, n: number): string => `${prefix}.${String(n).padStart(6, '0')}`;

const none: Readonly<Record<string, Field>> = {};
const silent = { deliver() {}, returned() {}, confirmed() {}, cancelled() {}, closed() {} };
export const channelOf = (broker: Broker, vhost = '/'): Channel => broker.connect({ vhost }).openChannel(silent);

/** The objects of the broker during the measurements. */
export function furnish(broker: Broker, { queues, bindings, messages }: Size): void {
  topology(broker, '/', queues, bindings);
  const channel = channelOf(broker);
  channel.declareQueue('big', { durable: true });
  const toBig = table({ 'x-dead-letter-exchange': longstr(''), 'x-dead-letter-routing-key': longstr('big') });
  channel.declareQueue('dying', { durable: true, arguments: toBig });
  fill(channel, 'big', messages);
  died(channel);
  topicsAndHeaders(channel, bindings / 3);
  for (let n = 0; n < 200; n++) {
    const name = nameOf('user', n);
    broker.access.setUser(name, { tags: ['management'], passwordHash: undefined });
    broker.access.setPermissions(name, '/', { configure: `^${name}`, write: '(a+)+$', read: '.*' });
  }
  const connection = broker.connect({ user: 'guest' });
  for (let n = 0; n < 2_000; n++) consuming(connection, queues, n);
}

function consuming(connection: Connection, queues: number, n: number): void {
  const channel = connection.openChannel(silent);
  for (let c = 0; c < 5; c++) channel.consume(nameOf('q', (n * 5 + c) % queues), { consumerTag: `c${c}` });
}

/** Queues and bindings in one virtual host. */
export function topology(broker: Broker, vhost: string, queues: number, bindings: number): void {
  const channel = channelOf(broker, vhost);
  channel.declareExchange('x', { type: 'direct', durable: true });
  for (let n = 0; n < queues; n++) {
    const args = table(n % 10 === 0 ? { 'x-dead-letter-exchange': longstr('x') } : none);
    channel.declareQueue(nameOf('q', n), { durable: true, arguments: args });
  }
  for (let n = 0; n < bindings; n++) {
    channel.bindQueue(nameOf('q', n % queues), 'x', `key.${n}`, table(n % 3 === 0 ? { a: int32(n) } : none));
  }
  channel.connection.close();
}

export function fill(channel: Channel, queue: string, count: number): void {
  const body = Buffer.alloc(16, 'a');
  for (let n = 0; n < count; n++) channel.publish('', queue, { deliveryMode: 2 }, body);
}

/** Three hundred messages with the records of 550 deaths each. */
function died(channel: Channel): void {
  channel.declareQueue('died', { durable: true });
  const deaths = Array.from({ length: 550 }, (_, n): Field => ({
    type: 'F',
    value: table({
      count: { type: 'l', value: 1 },
      reason: longstr('rejected'),
      queue: longstr(nameOf('where', n)),
      time: { type: 'T', value: 1_700_000_000 },
      exchange: longstr('x'),
      'routing-keys': { type: 'A', value: [longstr('key')] },
    }),
  }));
  for (let n = 0; n < 300; n++) {
    channel.publish('', 'died', { headers: table({ 'x-death': { type: 'A', value: deaths } }) }, Buffer.from('x'));
  }
}

function topicsAndHeaders(channel: Channel, count: number): void {
  channel.declareExchange('topics', { type: 'topic', durable: true });
  channel.declareExchange('headers', { type: 'headers', durable: true });
  channel.declareQueue('caught', { durable: true });
  for (let n = 0; n < 200; n++) channel.bindQueue('caught', 'topics', `${'#.*.'.repeat(20)}${n}.#`);
  for (let n = 0; n < count; n++)
    channel.bindQueue('caught', 'headers', '', table({ same: longstr('same'), n: int32(n) }));
}

/** A queue with many bindings and messages, to be deleted. */
export function heavy(broker: Broker, { bindings, messages }: Size): void {
  const channel = channelOf(broker);
  channel.declareExchange('heavy', { type: 'topic', durable: true });
  channel.declareQueue('heavy', { durable: true });
  for (let n = 0; n < bindings; n++) channel.bindQueue('heavy', 'heavy', `key.${n}.#`);
  fill(channel, 'heavy', messages / 5);
  channel.connection.close();
}

/** Fills `big` again. */
export function refill(broker: Broker, { messages }: Size): void {
  const channel = channelOf(broker);
  channel.declareQueue('big', { durable: true });
  const queue = broker.virtualHost('/').queues.get('big');
  fill(channel, 'big', Math.max(0, messages - (queue?.length ?? 0)));
  channel.connection.close();
}

/** Fills `orders` with messages of JSON, a kilobyte each, to be edited. */
export function orders(broker: Broker, { messages }: Size): void {
  const channel = channelOf(broker);
  channel.declareQueue('orders', { durable: true });
  channel.purgeQueue('orders');
  const lines = Array.from({ length: 20 }, (_, n) => ({ sku: `sku-${n}`, name: 'an article of the shop', count: n }));
  for (let n = 0; n < messages / 10; n++) {
    const body = Buffer.from(JSON.stringify({ order: n, currency: 'USD', lines }));
    channel.publish('', 'orders', { deliveryMode: 2, contentType: 'application/json' }, body);
  }
  channel.connection.close();
}

/** A virtual host with many queues, to be deleted. */
export function doomed(broker: Broker, { queues, bindings }: Size): void {
  broker.addVirtualHost('doomed');
  topology(broker, 'doomed', queues, bindings);
}

/** A user with many connections, channels and consumers. */
export function crowd(broker: Broker, { queues }: Size): void {
  broker.access.setUser('crowd', { tags: ['administrator'], passwordHash: undefined });
  broker.access.setPermissions('crowd', '/', { configure: '.*', write: '.*', read: '.*' });
  for (let n = 0; n < 500; n++) {
    const connection = broker.connect({ user: 'crowd' });
    for (let c = 0; c < 4; c++) consuming(connection, queues, n * 4 + c);
  }
}

/** Definitions of the same number of queues and bindings, under other names. */
export function definitions({ queues, bindings }: Size): object {
  const names = Array.from({ length: queues }, (_, n) => nameOf('imported', n));
  return {
    vhosts: [{ name: 'imported' }],
    exchanges: [
      {
        name: 'x',
        vhost: 'imported',
        type: 'topic',
        durable: true,
        auto_delete: false,
        internal: false,
        arguments: {},
      },
    ],
    queues: names.map((name) => ({ name, vhost: 'imported', durable: true, auto_delete: false, arguments: {} })),
    bindings: Array.from({ length: bindings }, (_, n) => ({
      source: 'x',
      vhost: 'imported',
      destination: names[n % queues],
      destination_type: 'queue',
      routing_key: `key.${n}`,
      arguments: {},
    })),
  };
}
