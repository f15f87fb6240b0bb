import { createServer, type AddressInfo, type Server } from 'node:net';
import { Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Consume, DlxBroker, DlxBrokerModule, rabbitmq, Retry } from 'dlx-broker';
import { describe, expect, it, vi } from 'vitest';
import type { RabbitMqOptions } from '../../libs/dlx-broker/src/backends/index.js';
import { openRabbitMq } from '../../libs/dlx-broker/src/backends/rabbitmq/open.js';
import { int32, longstr, type Field, type Message } from '../../libs/dlx-broker/src/engine/message/index.js';
import { serverKinds } from './worlds.js';
import { endsAfterEach } from '../harnesses/ends.js';
import { queueNamed, topologyOf } from '../harnesses/declared.js';
import { foreignClient } from './foreign-client.js';
import { classOf } from '../harnesses/class-of.js';

const log = { warn: () => undefined, fault: () => undefined };
const ends = endsAfterEach();

/** How a start fails. */
async function startOf(options: RabbitMqOptions): Promise<Error> {
  const backend = openRabbitMq({ startAttempts: 2, longestPause: 20, connectTimeout: 2_000, ...options }, log);
  ends.push(() => backend.close());
  const failure = await backend.connect().then(
    () => new Error('it is connected'),
    (error: Error) => error,
  );
  expect(backend.state).toMatchObject({ kind: 'closed', failure });
  await expect(backend.ready).rejects.toBe(failure);
  return failure;
}

/** A port on which no broker listens. @param speak called for each connection, with a function that writes to it */
async function listening(speak: (text: (bytes: string) => void) => void): Promise<number> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    speak((bytes) => socket.write(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(async () => server.close());
  return (server.address() as AddressInfo).port;
}

describe('a start that cannot succeed fails after bounded attempts, and names host, virtual host and reason', () => {
  it('nothing listens there', async () => {
    const port = await listening(() => undefined);
    await ends.pop()!();
    const failure = await startOf({ urls: `amqp://me:secret@127.0.0.1:${port}/shop` });
    expect(failure).toMatchObject({ name: 'ConnectError', retry: 'later', mayBeTaken: false });
    expect(failure.message).toContain('was not reached in 2 attempts');
    expect(failure.message).toContain(`127.0.0.1:${port} (virtual host 'shop')`);
    expect(failure.message).toMatch(/ECONNREFUSED .*; start the server there, or correct option 'urls'$/);
    expect(failure.message).not.toContain('secret');
  });

  it('the name is unknown, and each of several servers is named', async () => {
    const failure = await startOf({ urls: ['amqp://no-such-host.invalid', 'amqp://other.invalid:7'] });
    expect(failure.message).toContain('no-such-host.invalid:5672');
    expect(failure.message).toContain('other.invalid:7');
  });

  it('something else listens, or says nothing', async () => {
    const http = await listening((say) => say('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect((await startOf({ urls: `amqp://127.0.0.1:${http}` })).message).toMatch(/AMQP/);
    const silent = await listening(() => undefined);
    const failure = await startOf({ urls: `amqp://127.0.0.1:${silent}`, startAttempts: 1, connectTimeout: 200 });
    expect(failure.message).toMatch(/200 ms/);
  });

  it('a function that supplies credentials or urls fails', async () => {
    const broken = (): never => {
      throw new Error('the vault is sealed');
    };
    const failure = await startOf({ urls: 'amqp://127.0.0.1:1', credentials: broken });
    expect(failure.message).toContain("option 'credentials' of rabbitmq() failed: the vault is sealed");
    expect((await startOf({ urls: broken })).message).toContain('the vault is sealed');
    const username = (): never => ({ username: 'ada', password: 'geheim' }) as never;
    const { message } = await startOf({ urls: 'amqp://127.0.0.1:1', credentials: username });
    expect(message).toContain('gave no { user, password } of two strings; return both');
    expect(message).not.toContain('geheim');
    expect((await startOf({ urls: async () => 'nonsense' })).message).toContain(
      "option 'urls' of rabbitmq() is no URL",
    );
  });
});

describe('options of rabbitmq() that are wrong are refused at once', () => {
  it.each<[Partial<Record<string, unknown>>, string]>([
    [{}, "option 'urls' of rabbitmq()"],
    [{ urls: 'localhost:5672' }, "option 'urls' of rabbitmq() has no scheme; write 'amqp://host:5672/vhost'"],
    [{ url: 'amqp://h' }, "did you mean 'urls'?"],
    [{ urls: 'amqp://h', credentials: { user: 'a', pass: 'secret' } }, "option 'credentials.password'"],
    [
      { urls: 'amqp://h', credentials: { username: 'a', password: 'secret' } },
      "'credentials.user' of rabbitmq() is missing; write { user",
    ],
    [{ urls: 'amqp://h', heartbeat: -1 }, "option 'heartbeat' of rabbitmq()"],
    [{ urls: 'amqp://h', heartbeat: '10' }, "'heartbeat' of rabbitmq(): '10' is a string; write the number 10"],
    [{ urls: 'amqp://h', publishTimeout: '10' }, 'has no unit'],
    [{ urls: 'amqp://h', management: 'localhost' }, "option 'management' of rabbitmq() is no URL"],
    [{ urls: 'amqp://h', policies: [] }, "option 'policies' of rabbitmq() needs option 'management'"],
    [{ urls: 'amqp://h', strictPolicies: true }, "option 'strictPolicies' of rabbitmq() needs option 'management'"],
    [{ urls: 'amqp://h', policies: [{ name: 'p', pattern: 'q' }] }, "definition of policy 1 of option 'policies'"],
    [{ urls: 'amqp://h', policies: [{ names: 'p' }] }, "did you mean 'name'?"],
    [{ urls: 'amqp://h', publishBuffer: { message: 1 } }, "did you mean 'messages'?"],
    [{ urls: 'amqp://h', prefetch: 10 }, "'prefetch' is an option of forRoot()"],
  ])('%j', (options, text) => {
    const make = (): unknown => rabbitmq(options as unknown as RabbitMqOptions);
    expect(make).toThrow(text);
    expect(make).not.toThrow('secret');
  });
});

for (const kind of serverKinds) {
  const unavailable = await kind.unavailable();
  if (unavailable !== undefined) console.warn(`SKIPPED: refusals by ${kind.name}: ${unavailable}`);

  describe.skipIf(unavailable !== undefined)(`${kind.name} refuses`, () => {
    const open = async () => {
      const world = await kind.open();
      ends.push(() => world.close());
      return { world, url: new URL(world.url!) };
    };

    it('a wrong password, a user or a virtual host that is not there: without further attempts', async () => {
      const { url } = await open();
      const credentials = { user: 'nobody-we-know', password: 'secret' };
      const login = await startOf({ urls: url.href, credentials, startAttempts: 100 });
      expect(login).toMatchObject({ name: 'ConnectError', retry: 'never' });
      expect(login.message).toMatch(/ACCESS_REFUSED|refused/);
      expect(login.message).toContain('in 1 attempt ');
      expect(login.message).toMatch(/; correct the user and the password in option 'urls' or 'credentials'$/);
      expect(login.message).not.toContain('secret');
      url.pathname = '/no-such-vhost';
      const vhost = await startOf({ urls: url.href, startAttempts: 100 });
      expect(vhost).toMatchObject({ name: 'ConnectError', retry: 'never' });
      expect(vhost.message).toMatch(
        /; create the virtual host, give the user permissions in it, or correct option 'urls'$/,
      );
      expect(vhost.message).toContain("virtual host 'no-such-vhost'");
      expect(vhost.message).toContain('in 1 attempt ');
    });

    it('TLS at a port that speaks none', async () => {
      const { url } = await open();
      const failure = await startOf({ urls: url.href.replace('amqp:', 'amqps:') });
      expect(failure.message).toMatch(/TLS|SSL|closed|wrong version/i);
    });

    it('messages of other clients are taken as they come', async () => {
      const { world } = await open();
      await world.backend.connect();
      await world.backend.declare(topologyOf(queueNamed('q')));
      const foreign = await foreignClient(world.url!);
      ends.push(() => foreign.close());
      const channel = await foreign.openChannel();
      let deep: Field = int32(1);
      for (let level = 0; level < 60; level++) deep = { type: 'F', value: new Map([['n', deep]]) };
      const headers = new Map<string, Field>([
        ['__proto__', longstr('forged')],
        ['small', { type: 's', value: 5 }],
        ['deep', deep],
      ]);
      channel.publish(
        { exchange: '', key: 'q', mandatory: false },
        { headers, type: 't' },
        Buffer.from([0xff, 0, 0xfe]),
      );
      const message = await new Promise<{ properties: { headers?: ReadonlyMap<string, Field> }; body: Uint8Array }>(
        (resolve) =>
          world.backend.consume('q', { prefetch: 1 }, (delivery) => {
            resolve(delivery.message);
            delivery.ack();
          }),
      );
      expect(message.properties.headers?.get('__proto__')).toEqual(longstr('forged'));
      expect(message.properties.headers?.get('small')).toEqual({ type: 's', value: 5 });
      expect([...message.body]).toEqual([0xff, 0, 0xfe]);
    });
  });
}

const [real] = serverKinds;
const missing = await real!.unavailable();

describe.skipIf(missing !== undefined)('headers that cannot be decoded', () => {
  it('end nothing: the message is delivered without them, and its successor has their bytes', async () => {
    const world = await real!.open();
    ends.push(() => world.close());
    const { backend } = world;
    await backend.connect();
    await backend.declare(topologyOf(queueNamed('q'), queueNamed('parked')));
    const foreign = await foreignClient(world.url!);
    ends.push(() => foreign.close());
    const channel = await foreign.openChannel();
    let deep: Field = longstr('at the bottom');
    for (let level = 0; level < 1_000; level++) deep = { type: 'F', value: new Map([['n', deep]]) };
    const properties = { headers: new Map([['deep', deep]]), messageId: 'm' };
    channel.publish({ exchange: '', key: 'q', mandatory: false }, properties, Buffer.from('body'));
    const replaced = await new Promise<unknown>((resolve) =>
      backend.consume('q', { prefetch: 1 }, (delivery) => {
        expect(delivery.message.properties.headers).toBeUndefined();
        expect(delivery.message.properties.messageId).toBe('m');
        const { body } = delivery.message;
        const headers = new Map([['dlx-parked', longstr('yes')]]);
        delivery.replaceBy(
          { exchange: '', routingKey: 'parked', properties: { headers }, body, mandatory: true },
          resolve,
        );
      }),
    );
    expect(replaced).toBeUndefined();
    const parked = await new Promise<Message>((resolve) =>
      backend.consume('parked', { prefetch: 1 }, (delivery) => {
        resolve(delivery.message);
        delivery.ack();
      }),
    );
    expect([...parked.properties.headers!.keys()].toSorted()).toEqual(['dlx-parked', 'dlx-raw-properties']);
    const raw = parked.properties.headers!.get('dlx-raw-properties')!.value as Buffer;
    expect(raw.includes('at the bottom')).toBe(true);
  });

  it('use up the attempts of a retry with one fixed delay, and are parked', async () => {
    const world = await real!.open();
    ends.push(() => world.close());
    let calls = 0;
    @Injectable()
    class Orders {
      @Consume({ queue: 'deep', routingKey: 'deep' })
      @Retry({ attempts: 2, backoff: [50] })
      created(): void {
        calls++;
        throw new Error('no');
      }
    }
    const app = await NestFactory.createApplicationContext(
      {
        module: class {},
        imports: [DlxBrokerModule.forRoot({ broker: rabbitmq({ urls: world.url! }) })],
        providers: [Orders],
      },
      { logger: false, abortOnError: false },
    );
    ends.push(() => app.close());
    const foreign = await foreignClient(world.url!);
    ends.push(() => foreign.close());
    const channel = await foreign.openChannel();
    let deep: Field = longstr('at the bottom');
    for (let level = 0; level < 1_000; level++) deep = { type: 'F', value: new Map([['n', deep]]) };
    const properties = { headers: new Map([['deep', deep]]), contentType: 'application/json' };
    channel.publish({ exchange: '', key: 'deep', mandatory: false }, properties, Buffer.from('1'));
    await vi.waitFor(() => expect(app.get(DlxBroker).counts.parked).toBe(1), { timeout: 3_000, interval: 20 });
    expect(calls).toBe(2);
  });
});

describe.skipIf(missing !== undefined)('an application on RabbitMQ', () => {
  const Orders = classOf('Orders', { created: [Consume({ queue: 'orders', routingKey: 'order.created' })] });

  const start = (options: RabbitMqOptions) =>
    NestFactory.createApplicationContext(
      {
        module: class {},
        imports: [DlxBrokerModule.forRoot({ broker: rabbitmq(options) })],
        providers: [Orders],
      },
      { logger: false, abortOnError: false },
    );

  it('does not start without the right to declare: the error names the exchange, the handler and the remedy', async () => {
    const world = await real!.open();
    ends.push(() => world.close());
    const user = `limited-${process.pid}`;
    await world.permit!(user, 'pw', { configure: '^$', write: '.*', read: '.*' });
    const failure = await start({ urls: world.url!, credentials: { user, password: 'pw' } }).then(
      () => new Error('it started'),
      (error: Error) => error,
    );
    expect(failure.name).toBe('TopologyError');
    expect(failure.message).toContain("cannot declare exchange 'dlx.events'");
    expect(failure.message).toContain('ACCESS_REFUSED');
    expect(failure.message).toContain('give the user of rabbitmq() the right to configure it');
  });

  it('does not start where no server is, and leaves nothing open', async () => {
    const options = { urls: 'amqp://127.0.0.1:1', startAttempts: 2, longestPause: 20 };
    await expect(start(options)).rejects.toMatchObject({ name: 'ConnectError' });
  });
});

describe('an application that is closed while it starts', () => {
  const Orders = classOf('Orders', { created: [Consume({ queue: 'orders', routingKey: 'order.created' })] });

  it.each([
    ['while a server does not answer', async () => `amqp://127.0.0.1:${await listening(() => undefined)}`],
    ['between two attempts', async () => 'amqp://127.0.0.1:1'],
  ])('ends at once %s, and its start fails with the reason', async (_, urlOf) => {
    const broker = rabbitmq({ urls: await urlOf(), startAttempts: 1_000, longestPause: '30s' });
    const root = {
      module: class {},
      imports: [DlxBrokerModule.forRoot({ broker, drainTimeout: '1h' })],
      providers: [Orders],
    };
    const app = await NestFactory.create(root, { logger: false, abortOnError: false });
    const starting = app.init().then(
      () => 'it started',
      (error: Error) => `${error.name}: ${error.message}`,
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    await app.close(); // drainTimeout is an hour
    expect(await starting).toBe('ConnectionLostError: the application was closed while it started');
  });
});
