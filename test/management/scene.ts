import type { Socket } from 'node:net';
import { type Channel, type ChannelModel, connect, type Message } from 'amqplib';

/** Where a broker is: its AMQP port and its management API, for the user guest. */
export interface Ground {
  readonly amqp: string;
  readonly http: string;
}

/** A scene: a virtual host with a bit of everything, and clients that keep it busy. */
export interface Scene {
  readonly vhost: string;
  /** What the broker calls the connections, and itself. */
  readonly names: { readonly consumer: string; readonly publisher: string; readonly node: string };
  /** One more turn of everything that counts: publishes, deliveries, acks, rejects, gets, returns. */
  turn(): Promise<void>;
  close(): Promise<void>;
}

export type Answer = { readonly status: number; readonly headers: Headers; readonly text: string };

/** One request as guest, whatever the answer. @param path below the port, `/api/...` */
export async function request(ground: Ground, method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(`${ground.http}${path}`, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from('guest:guest').toString('base64')}`,
      'content-type': 'application/json',
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** Declared in this order. */
const declarations = (v: string): readonly (readonly [method: string, path: string, body: object])[] => [
  ['PUT', `/api/vhosts/${v}`, { description: 'a scene', tags: 'test' }],
  ['PUT', `/api/permissions/${v}/guest`, { configure: '.*', write: '.*', read: '.*' }],
  ['PUT', `/api/exchanges/${v}/work`, { type: 'direct', durable: true }],
  ['PUT', `/api/exchanges/${v}/dead`, { type: 'fanout', durable: true }],
  ['PUT', `/api/exchanges/${v}/side`, { type: 'topic', arguments: { 'alternate-exchange': 'dead' } }],
  ['PUT', `/api/queues/${v}/plain`, { durable: true }],
  ['PUT', `/api/queues/${v}/full`, { durable: true, arguments: fullArguments }],
  ['PUT', `/api/queues/${v}/quorum`, { durable: true, arguments: quorumArguments }],
  ['PUT', `/api/queues/${v}/single`, { durable: true, arguments: { 'x-single-active-consumer': true } }],
  ['PUT', `/api/queues/${v}/dead`, { durable: true }],
  ['PUT', `/api/queues/${v}/idle`, { auto_delete: true, durable: false }],
  ['POST', `/api/bindings/${v}/e/work/q/plain`, { routing_key: 'plain' }],
  ['POST', `/api/bindings/${v}/e/work/q/full`, { routing_key: 'full', arguments: { region: 'north', weight: 3 } }],
  ['POST', `/api/bindings/${v}/e/work/q/quorum`, { routing_key: 'quorum' }],
  ['POST', `/api/bindings/${v}/e/work/q/single`, { routing_key: 'single' }],
  ['POST', `/api/bindings/${v}/e/dead/q/dead`, { routing_key: '' }],
  ['POST', `/api/bindings/${v}/e/side/e/dead`, { routing_key: 'a.*' }],
  ['PUT', `/api/policies/${v}/plain`, { pattern: '^plain$', definition: { 'max-length': 100 }, 'apply-to': 'queues' }],
  ['PUT', `/api/operator-policies/${v}/bound`, { pattern: '^(plain|full)$', definition: { 'max-length': 1000 } }],
];

const fullArguments = {
  'x-message-ttl': 3_600_000,
  'x-dead-letter-exchange': 'dead',
  'x-dead-letter-routing-key': 'gone',
  'x-max-length': 500,
  'x-max-priority': 5,
  'x-expires': 3_600_000,
};

const quorumArguments = {
  'x-queue-type': 'quorum',
  'x-delivery-limit': 2,
  'x-dead-letter-exchange': 'dead',
  'x-overflow': 'reject-publish',
  'x-dead-letter-strategy': 'at-least-once',
};

export async function scene(ground: Ground, vhost: string): Promise<Scene> {
  for (const [method, path, body] of declarations(vhost)) {
    const { status, text } = await request(ground, method, path, body);
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
  }
  const url = `${ground.amqp}/${encodeURIComponent(vhost)}`;
  const consuming = await connect(url, { clientProperties: { connection_name: 'the consumer' } });
  const publishing = await connect(url, { clientProperties: { connection_name: 'the publisher' } });
  await consume(consuming);
  const plain = await publishing.createChannel();
  const confirming = await publishing.createConfirmChannel();
  confirming.on('return', () => {});
  await plain.assertQueue('mine', { exclusive: true });
  const { node } = JSON.parse((await request(ground, 'GET', '/api/overview')).text) as { readonly node: string };
  const turn = async (): Promise<void> => {
    for (const key of ['plain', 'full', 'quorum', 'single']) {
      for (let n = 0; n < 3; n++) plain.publish('work', key, Buffer.from(`message ${n}`), { persistent: n > 0 });
    }
    plain.publish('side', 'b', Buffer.from('by the alternate exchange'));
    plain.publish('work', 'nowhere', Buffer.from('dropped'));
    plain.sendToQueue('mine', Buffer.from('to my own queue'));
    confirming.publish('work', 'nowhere', Buffer.from('returned'), { mandatory: true });
    confirming.publish('', 'plain', Buffer.from('confirmed'));
    await confirming.waitForConfirms();
    await fetchSome(plain);
  };
  return {
    vhost,
    names: { consumer: nameOf(consuming), publisher: nameOf(publishing), node },
    turn,
    close: async () => {
      await Promise.all([consuming.close(), publishing.close()]);
      await request(ground, 'DELETE', `/api/vhosts/${vhost}`);
    },
  };
}

/** Both ends of its socket. */
function nameOf({ connection }: ChannelModel): string {
  const { localAddress, localPort, remoteAddress, remotePort } = (connection as unknown as { stream: Socket }).stream;
  return `${localAddress}:${localPort} -> ${remoteAddress}:${remotePort}`;
}

/** Holds some deliveries for ever, acks some, rejects some. */
async function consume(connection: ChannelModel): Promise<void> {
  const holding = await connection.createChannel();
  await holding.prefetch(2);
  await holding.consume('plain', () => {}, { consumerTag: 'holder', priority: 3 });
  await holding.consume('single', () => {}, { consumerTag: 'active' });
  await holding.consume('single', () => {}, { consumerTag: 'waiting' });
  const settling = await connection.createChannel();
  await settling.prefetch(10, true);
  let count = 0;
  const settle = (message: Message): void =>
    count++ % 2 === 0 ? settling.ack(message) : settling.reject(message, false);
  await settling.consume('full', (message) => message && settle(message), { consumerTag: 'settler' });
  const poisoned = await connection.createChannel();
  await poisoned.prefetch(1);
  await poisoned.consume('quorum', (message) => message && poisoned.nack(message), { consumerTag: 'poisoned' });
}

async function fetchSome(channel: Channel): Promise<void> {
  await channel.get('dead', { noAck: true });
  const one = await channel.get('dead');
  if (one !== false) channel.ack(one);
  await channel.get('idle');
}
