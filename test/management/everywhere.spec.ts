import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Payload } from '@nestjs/microservices';
import { connect } from 'amqplib';
import { policyPatterns, randomNames, SystemClock } from '../../libs/dlx-broker/src/platform/index.js';
import { Broker } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { addUsers } from '../../libs/dlx-broker/src/platform/logins/index.js';
import { Consume, DlxBroker, DlxBrokerModule, DlxClient, sharedBroker } from 'dlx-broker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lastValueFrom } from 'rxjs';

@Injectable()
class Orders {
  readonly seen: unknown[] = [];

  @Consume({ queue: 'orders', routingKey: 'order.created' })
  create(@Payload() order: unknown): void {
    this.seen.push(order);
  }
}

const everything = { configure: '.*', write: '.*', read: '.*' };

/** One application with both ports open; it is a user among others. */
async function start() {
  const users = [
    { name: 'root', password: 'secret', tags: ['administrator'], permissions: { '/': everything } },
    { name: 'app', password: 'secret', tags: ['management'], permissions: { '/': everything } },
  ];
  const broker = new Broker({ clock: new SystemClock(), names: randomNames, patterns: policyPatterns });
  addUsers(broker, users);
  @Module({
    imports: [
      DlxBrokerModule.forRoot({
        broker: sharedBroker(broker, { user: 'app', listen: { amqp: { port: 0 }, http: { port: 0 } } }),
      }),
    ],
    providers: [Orders],
  })
  class App {}
  const app = await NestFactory.createApplicationContext(App, { logger: false, abortOnError: false });
  const { amqp, http } = app.get(DlxBroker);
  const ask = async (as: string, method: string, path: string, body?: unknown) => {
    const response = await fetch(`http://127.0.0.1:${http?.port}/api${path}`, {
      method,
      headers: { authorization: `Basic ${btoa(`${as}:secret`)}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return { status: response.status, text: await response.text() };
  };
  const close = async (): Promise<void> => {
    await app.close();
    broker.close();
  };
  return { app, ask, close, amqp: `amqp://app:secret@127.0.0.1:${amqp?.port}` };
}

describe('the same users and permissions hold', () => {
  let harness: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => void (harness = await start()));
  afterAll(() => harness.close());

  const publish = (pattern: string) => lastValueFrom(harness.app.get(DlxClient).emit(pattern, { id: 1 }));

  it('inside the application, over AMQP and over HTTP, from the moment they are given', async () => {
    const { app, ask, amqp } = harness;
    const connection = await connect(amqp);
    connection.on('error', () => {});
    await publish('order.created');
    await expect.poll(() => app.get(Orders).seen).toEqual([{ id: 1 }]);
    const message = { properties: {}, routing_key: 'order.created', payload: '{}', payload_encoding: 'string' };
    expect((await ask('app', 'POST', '/exchanges/%2F/dlx.events/publish', message)).status).toBe(200);

    expect((await ask('root', 'PUT', '/permissions/%2F/app', { ...everything, write: '' })).status).toBe(204);

    await expect(publish('order.created')).rejects.toThrow(/access to exchange .* refused for user 'app'/);
    const channel = await connection.createChannel();
    const closed = new Promise<Error>((resolve) => channel.once('error', resolve));
    channel.publish('dlx.events', 'order.created', Buffer.from('{}'));
    expect((await closed).message).toMatch(/ACCESS_REFUSED - write access to exchange .* refused for user 'app'/);
    expect(await ask('app', 'POST', '/exchanges/%2F/dlx.events/publish', message)).toEqual({
      status: 400,
      text: expect.stringContaining("403 ACCESS_REFUSED - write access to exchange 'dlx.events' in vhost '/' refused"),
    });
    await ask('root', 'PUT', '/permissions/%2F/app', everything);
    await publish('order.created');
    await connection.close();
  });

  it('and tags hold for HTTP alone', async () => {
    const { ask, amqp } = harness;
    expect((await ask('app', 'GET', '/users')).status).toBe(401);
    expect((await ask('root', 'PUT', '/users/app', { password: 'secret', tags: '' })).status).toBe(204);
    expect((await ask('app', 'GET', '/whoami')).text).toContain('Not management user');
    await (await connect(amqp)).close();
  });
});

describe('a policy that is set over HTTP', () => {
  let harness: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => void (harness = await start()));
  afterAll(() => harness.close());

  it.each([
    ['max-length-bytes', { 'max-length-bytes': 0 }],
    ['max-length', { 'max-length': 0 }],
  ])('sends what waits to its dead-letter exchange within 50 ms (%s)', async (name, definition) => {
    const { ask, amqp } = harness;
    const connection = await connect(amqp);
    const channel = await connection.createConfirmChannel();
    await channel.assertQueue(name);
    await channel.assertQueue(`${name}.dead`);
    const letters: number[] = [];
    await channel.consume(`${name}.dead`, () => void letters.push(performance.now()), { noAck: true });
    for (let count = 0; count < 100; count += 1) channel.sendToQueue(name, Buffer.from('waits'), { persistent: true });
    await channel.waitForConfirms();
    const body = {
      pattern: `^${name}$`,
      definition: { ...definition, 'dead-letter-exchange': '', 'dead-letter-routing-key': `${name}.dead` },
    };
    const { status } = await ask('root', 'PUT', `/policies/%2F/${name}`, body);
    const answered = performance.now();
    expect(status).toBe(201);
    await expect.poll(() => letters.length, { interval: 5 }).toBe(100);
    expect((letters.at(-1) ?? Number.NaN) - answered).toBeLessThan(50);
    await connection.close();
  });
});
