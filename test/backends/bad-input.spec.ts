import { Injectable, Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Payload } from '@nestjs/microservices';
import { Consume, DlxBroker, DlxBrokerModule, DlxClient, rabbitmq, Retry, type DlxBrokerOptions } from 'dlx-broker';
import { firstValueFrom } from 'rxjs';
import { afterAll, describe, expect, it } from 'vitest';
import type { RabbitMqOptions } from '../../libs/dlx-broker/src/backends/index.js';
import { longstr, type Field } from '../../libs/dlx-broker/src/engine/message/index.js';
import { serve } from '../../libs/dlx-broker/src/server/serve/serve.js';
import { TestAuthority } from '../amqp/certificates.js';
import { writeFrame } from '../contract/wire/frames.js';
import { serverKinds, type World } from './worlds.js';
import { endsAfterEach } from '../harnesses/ends.js';
import { foreignClient } from './foreign-client.js';

/* What an operator or another client gets wrong, as an application sees it. `refusals.spec.ts` has more of it. */

Logger.overrideLogger(false);
const ends = endsAfterEach();

const handled: unknown[] = [];

@Injectable()
class Orders {
  @Consume({ queue: 'orders', routingKey: 'order.created' })
  @Retry({ attempts: 1 })
  created(@Payload() order: unknown): void {
    handled.push(order);
  }
}

/** An application with {@link Orders}. Failures come soon. */
async function start(options: RabbitMqOptions, more: DlxBrokerOptions = {}) {
  const broker = rabbitmq({
    startAttempts: 2,
    longestPause: 20,
    connectTimeout: 2_000,
    declareTimeout: 500,
    ...options,
  });
  const app = await NestFactory.createApplicationContext(
    { module: class {}, imports: [DlxBrokerModule.forRoot({ broker, ...more })], providers: [Orders] },
    { logger: false, abortOnError: false },
  );
  ends.push(() => app.close());
  return app;
}

/** How a start fails. */
const failureOf = (...start_: Parameters<typeof start>): Promise<Error> =>
  start(...start_).then(
    () => new Error('it started'),
    (error: Error) => error,
  );

const [real] = serverKinds;
const missing = await real!.unavailable();
if (missing !== undefined) console.warn(`SKIPPED: bad input on ${real!.name}: ${missing}`);

describe.skipIf(missing !== undefined)('a user of RabbitMQ without the right', () => {
  let users = 0;
  /** A user with these rights; the topology is there already. */
  const limited = async (rights: Readonly<Record<string, string>>): Promise<[World, RabbitMqOptions]> => {
    const world = await real!.open();
    ends.push(() => world.close());
    await (await start({ urls: world.url! })).close();
    const credentials = { user: `bad-input-${process.pid}-${++users}`, password: 'secret' };
    await world.permit!(credentials.user, credentials.password, rights);
    return [world, { urls: world.url!, credentials }];
  };

  it('to consume does not start: the error names queue, handler, reason and remedy', async () => {
    const [, options] = await limited({ configure: '.*', write: '.*', read: '^dlx\\.' });
    const failure = await failureOf(options, { declare: false });
    expect(failure).toMatchObject({ name: 'ServerError', code: 403, retry: 'never' });
    expect(failure.message).toContain("queue 'orders' cannot be consumed: ACCESS_REFUSED");
    expect(failure.message).toContain('Orders.created: queue');
    expect(failure.message).toContain('give the user of rabbitmq() the right to read it');
    expect(failure.message).not.toContain('secret');
  });

  it('to publish gets an error for each message, which names exchange and remedy; others go on', async () => {
    const [, options] = await limited({ configure: '.*', write: '^orders$', read: '.*' });
    const app = await start(options, { declare: false });
    const client = app.get(DlxClient);
    const failure = await firstValueFrom(client.emit('order.created', 1)).catch((error: Error) => error);
    expect(failure).toMatchObject({ name: 'ServerError', code: 403, retry: 'never', mayBeTaken: false });
    expect((failure as Error).message).toMatch(
      /to exchange 'dlx\.events' with routing key 'order\.created': ACCESS_REFUSED/,
    );
    expect((failure as Error).message).toContain('give the user of rabbitmq() the right to write to it');
    expect(app.get(DlxBroker).backend.state.kind).toBe('ready');
  });

  it('to enter the virtual host fails at once, with its name', async () => {
    const world = await real!.open();
    ends.push(() => world.close());
    const other = await real!.open();
    ends.push(() => other.close());
    const user = `bad-input-${process.pid}-${++users}`;
    await other.permit!(user, 'secret', { configure: '.*', write: '.*', read: '.*' });
    const failure = await failureOf({
      urls: world.url!,
      credentials: { user, password: 'secret' },
      startAttempts: 100,
    });
    expect(failure).toMatchObject({ name: 'ConnectError', retry: 'never' });
    expect(failure.message).toContain(`virtual host '${new URL(world.url!).pathname.slice(1)}'`);
    expect(failure.message).toMatch(/NOT_ALLOWED.*refused/);
  });
});

describe.skipIf(missing !== undefined)('a queue type that RabbitMQ does not have', () => {
  it('stops the start: the error names queue, reason and remedy', async () => {
    const world = await real!.open();
    ends.push(() => world.close());
    const queues = [{ name: 'q', arguments: { 'x-queue-type': 'quorums' } }];
    const failure = await failureOf({ urls: world.url! }, { topology: { queues } });
    expect(failure.name).toBe('TopologyError');
    expect(failure.message).toMatch(/cannot declare queue 'q' \(.*option 'topology'.*\): PRECONDITION_FAILED/);
    expect(failure.message).toContain("; the server has no queues of type 'quorums': ");
  });
});

describe('TLS', () => {
  const authority = new TestAuthority('bad input CA');
  const identity = authority.issue('/CN=elsewhere.example');
  afterAll(() => authority.forget());
  const secure = async (): Promise<number> => {
    const server = await serve({ amqp: { host: '127.0.0.1', port: 0 }, tls: identity });
    ends.push(() => server.close());
    return server.amqp.port;
  };

  it('with the certificate of another host: the error names both', async () => {
    const port = await secure();
    const failure = await failureOf({ urls: `amqps://localhost:${port}`, tls: { ca: authority.ca } });
    expect(failure.name).toBe('ConnectError');
    expect(failure.message).toContain(`localhost:${port} (virtual host '/')`);
    expect(failure.message).toMatch(/certificate.*localhost.*elsewhere\.example/s);
  });

  it('of an unknown authority: the error names the host and option tls', async () => {
    const failure = await failureOf({ urls: `amqps://localhost:${await secure()}` });
    expect(failure.message).toMatch(/localhost:\d+ .*(certificate|self-signed)/);
    expect(failure.message).toContain("option 'tls'");
  });

  it('at a port that is called without it: the error asks for TLS', async () => {
    const failure = await failureOf({ urls: `amqp://localhost:${await secure()}` });
    expect(failure.name).toBe('ConnectError');
    expect(failure.message).toContain('with TLS or without?');
  });
});

/** The content header of a message whose headers nest tables so deep that a recursive encoder would not get to their end. */
function deepHeader(levels: number, bodySize: number): Buffer {
  const parts: Buffer[] = [];
  let length = 0;
  for (let level = 0; level < levels; level++) {
    const head = Buffer.from([1, 0x6e, 0x46, 0, 0, 0, 0]); // a field `n` of type F
    head.writeUInt32BE(length, 3);
    parts.push(head);
    length += head.length;
  }
  const size = Buffer.alloc(4);
  size.writeUInt32BE(length);
  const fixed = Buffer.alloc(14);
  fixed.writeUInt16BE(60, 0);
  fixed.writeBigUInt64BE(BigInt(bodySize), 4);
  fixed.writeUInt16BE(0x2000, 12); // headers only
  return Buffer.concat([fixed, size, ...parts.reverse()]);
}

for (const kind of serverKinds) {
  const unavailable = await kind.unavailable();
  describe.skipIf(unavailable !== undefined)(`messages of other clients on ${kind.name}`, () => {
    it('with a forged prototype, 5,000 nested tables or a body that is no JSON stop nothing, and none is lost', async () => {
      const world = await kind.open();
      ends.push(() => world.close());
      const app = await start({ urls: world.url! });
      handled.splice(0);
      const foreign = await foreignClient(world.url!);
      ends.push(() => foreign.close());
      const channel = await foreign.openChannel();
      const publish = (headers: ReadonlyMap<string, Field>, body: string): void =>
        channel.publish(
          { exchange: 'dlx.events', key: 'order.created', mandatory: false },
          { headers: new Map(headers), contentType: 'application/json' },
          Buffer.from(body),
        );
      publish(new Map([['__proto__', { type: 'F', value: new Map([['polluted', longstr('yes')]]) }]]), '"forged"');
      publish(new Map(), '{');
      publish(new Map(), '"last"');
      await expect
        .poll(() => [handled, app.get(DlxBroker).counts.parked], { timeout: 5_000 })
        .toEqual([['forged', 'last'], 1]);
      expect(({} as { polluted?: string }).polluted).toBeUndefined();
      const body = Buffer.from('"deep"');
      const to = { exchange: 'dlx.events', key: 'order.created', mandatory: false, immediate: false };
      foreign.send(channel.number, 'basic.publish', to);
      foreign.write(writeFrame(2, channel.number, deepHeader(5_000, body.length)));
      foreign.write(writeFrame(3, channel.number, body));
      // RabbitMQ passes it on; serve refuses it, and closes the connection of the client that sent it.
      if (kind.name.includes('serve')) expect(await foreign.ended).toBeDefined();
      else await expect.poll(() => handled, { timeout: 5_000 }).toEqual(['forged', 'last', 'deep']);
      expect(app.get(DlxBroker).backend.state.kind).toBe('ready');
    });
  });
}
