import { NestFactory } from '@nestjs/core';
import { Consume, DeadLetter, DlxBroker, DlxBrokerModule, rabbitmq } from 'dlx-broker';
import { describe, expect, it, vi } from 'vitest';
import { endsAfterEach } from '../harnesses/ends.js';
import { serve, type ServeOptions } from '../../libs/dlx-broker/src/server/serve/serve.js';
import { Proxy } from './proxy.js';
import { realServerIsMissing, realVhost } from './real-vhost.js';
import { classOf } from '../harnesses/class-of.js';

const ends = endsAfterEach();

const Orders = classOf('Orders', { handle: [Consume('orders'), DeadLetter(false)] });

/** An application on the server with this URL. */
async function application(url: string, health = {}) {
  const broker = rabbitmq({ urls: url, publishTimeout: 500, closeTimeout: 50 });
  const module = { module: class {}, imports: [DlxBrokerModule.forRoot({ broker, health })], providers: [Orders] };
  const app = await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
  ends.push(() => app.close());
  return { broker: app.get(DlxBroker), indicator: app.get(DlxBroker) };
}

const users = [
  { name: 'shop', password: 's3cret', permissions: { '/': { configure: '.*', write: '.*', read: '.*' } } },
];

async function served(options: Partial<ServeOptions> = {}) {
  const server = await serve({ amqp: { host: '127.0.0.1', port: 0 }, users, ...options } as ServeOptions);
  ends.push(() => server.close());
  return { url: `amqp://shop:s3cret@127.0.0.1:${server.amqp.port}`, server };
}

const soon = { timeout: 8_000, interval: 50 };

const servers: readonly (readonly [string, () => Promise<{ url: string }>, string | undefined])[] = [
  [
    'RabbitMQ',
    async () => {
      const { url, remove } = await realVhost();
      ends.push(remove);
      return { url };
    },
    await realServerIsMissing(),
  ],
  ['dlx-broker serve', served, undefined],
];

describe.each(servers)('the health of an application on %s', (name, open, missing) => {
  it.skipIf(missing !== undefined)('tells a server that is away, and that it is back', async () => {
    const { url } = await open();
    const proxy = await Proxy.open(url);
    ends.push(() => proxy.close());
    const { broker, indicator } = await application(proxy.url);
    expect(await broker.health()).toMatchObject({ isReady: true, connection: 'ready', consumers: 1 });
    expect((await broker.health()).server).toContain(name.split(' ')[0]);
    proxy.shut();
    await vi.waitFor(async () => expect((await broker.health()).isReady).toBe(false), soon);
    const { dlx } = await indicator.isHealthy('dlx');
    expect(dlx).toMatchObject({ status: 'down', connection: 'reconnecting', problems: [{ name: 'connection' }] });
    const { password } = new URL(proxy.url);
    expect(JSON.stringify(dlx)).not.toContain(`:${password}@`);
    expect(await indicator.isAlive('dlx')).toEqual({ dlx: { status: 'up', broker: 'default' } });
    proxy.reopen();
    await vi.waitFor(async () => expect((await broker.health()).isReady).toBe(true), soon);
  });
});

describe('the health of an application on a server', () => {
  it('tells an alarm of the server, and its end', async () => {
    let limit = 1_000_000_000;
    const memory = (): { used: number; limit: number } => ({ used: 1_000, limit });
    const amqp = { host: '127.0.0.1', port: 0, memory };
    const { url } = await served({ amqp } as Partial<ServeOptions>);
    const { broker, indicator } = await application(url);
    broker.backend.publish({ exchange: '', routingKey: 'orders', properties: {}, body: Buffer.from('{}') });
    limit = 1;
    await vi.waitFor(async () => {
      broker.backend.publish({ exchange: '', routingKey: 'orders', properties: {}, body: Buffer.from('{}') });
      expect(await broker.health()).toMatchObject({ isReady: false, connection: 'blocked' });
    }, soon);
    expect((await broker.health()).problems).toEqual([
      { name: 'alarm', reason: 'the server takes no publishes: low on memory' },
    ]);
    expect(await indicator.isAlive('dlx')).toMatchObject({ dlx: { status: 'up' } });
    limit = 1_000_000_000;
    await vi.waitFor(async () => expect((await broker.health()).isReady).toBe(true), soon);
  });

  it('says nothing of dead letters where the server cannot show them, and goes on', async () => {
    const { url } = await served();
    const { broker } = await application(url, { deadLetters: { maxAge: '1s', queues: ['orders'] } });
    expect(await broker.health()).toMatchObject({ isReady: true, oldestDeadLetter: undefined });
  });

  it('tells the age of dead letters by the HTTP API, after the answer that asked for it', async () => {
    const { server } = await served({ http: { port: 0 }, users: [{ ...users[0]!, tags: ['monitoring'] }] } as never);
    const url = `amqp://shop:s3cret@127.0.0.1:${server.amqp.port}`;
    const { broker } = await application(url, { deadLetters: { queues: ['old'] } });
    await broker.backend.declare({
      exchanges: [],
      bindings: [],
      queues: [{ name: 'old', durable: true, exclusive: false, autoDelete: false, arguments: new Map() }],
    });
    const since = { type: 'l', value: BigInt(Date.now() - 100_000) } as const;
    const properties = { headers: new Map([['dlx-failing-since', since]]) };
    broker.backend.publish({ exchange: '', routingKey: 'old', properties, body: Buffer.from('{}') });
    await vi.waitFor(async () => {
      const { oldestDeadLetter } = await broker.health();
      expect(oldestDeadLetter?.queue).toBe('old');
      expect(oldestDeadLetter?.age).toBeGreaterThanOrEqual(100);
    }, soon);
  });
});
