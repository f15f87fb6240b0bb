import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import { afterEach, describe, expect, it } from 'vitest';
import {
  Consume,
  DlxBrokerModule,
  DlxClient,
  DlxContext,
  DlxRecordBuilder,
  Outbox,
  rabbitmq,
  Retry,
} from '../../libs/dlx-broker/src/index.js';
import { serve } from '../../libs/dlx-broker/src/server.js';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** An application on `serve` whose handler fails until it is repaired. */
async function arrange(attempts: number) {
  const server = await serve({ amqp: { host: '127.0.0.1', port: 0 }, http: { port: 0 } });
  closing.push(() => server.close());
  const handled: unknown[] = [];
  const state = { isBroken: true };
  @Injectable()
  class Handlers {
    @Consume({ queue: 'invoices', routingKey: 'invoice.created' })
    @Retry({ attempts, backoff: [10] })
    handle(invoice: unknown): void {
      if (state.isBroken) throw new Error('no connection');
      handled.push(invoice);
    }
  }
  const broker = rabbitmq({ urls: `amqp://guest:guest@127.0.0.1:${server.amqp.port}` });
  @Module({ imports: [DlxBrokerModule.forRoot({ broker })], providers: [Handlers] })
  class App {}
  const app = await NestFactory.createApplicationContext(App, { logger: false });
  closing.push(() => app.close());
  const client = app.get(DlxClient);
  await client.connect();
  const parked = (): number => server.broker.virtualHost('/').queues.get('invoices.parked')?.length ?? 0;
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Basic ${btoa('guest:guest')}`, 'content-type': 'application/json' };
    const given = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`http://127.0.0.1:${server.http?.port}/api${path}`, { method, headers, ...given });
    return (await response.json()) as Record<string, unknown>;
  };
  return { client, state, handled, parked, ask };
}

describe('a redrive over HTTP of what a handler of an application on serve has parked', () => {
  it.each([1, 3])('goes to where the event was published (attempts: %i)', async (attempts) => {
    const { client, state, handled, parked, ask } = await arrange(attempts);
    client.emit('invoice.created', { number: 1 });
    await expect.poll(parked).toBe(1);
    const origin = { exchange: 'dlx.events', routing_key: 'invoice.created', proven: true };
    expect(await ask('GET', '/dlx/queues/%2F/invoices.parked/messages')).toMatchObject({ items: [{ origin }] });
    state.isBroken = false;
    const { id } = await ask('POST', '/dlx/redrives', { vhost: '/', queue: 'invoices.parked', rate: 0, circuit: null });
    await expect.poll(() => ask('GET', `/dlx/redrives/${String(id)}`)).toMatchObject({ moved: 1, left: 0 });
    await expect.poll(() => handled).toEqual([{ number: 1 }]);
    expect(parked()).toBe(0);
  });
});

describe('an event in place of a delivery, with the headers of that', () => {
  it('has no recorded origin: it is no successor', async () => {
    const server = await serve({ amqp: { host: '127.0.0.1', port: 0 } });
    closing.push(() => server.close());
    let attempts = 0;
    @Injectable()
    class Handlers {
      constructor(private readonly client: DlxClient) {}

      @Consume({ queue: 'orders', routingKey: 'order.placed' })
      @Retry({ attempts: 2, backoff: [10] })
      @Outbox()
      handle(@Payload() order: object, @Ctx() context: DlxContext): void {
        if (++attempts === 1) throw new Error('no connection');
        const { headers } = context;
        this.client.emit('order.shipped', new DlxRecordBuilder(order).setOptions({ headers, mandatory: true }).build());
      }
    }
    const broker = rabbitmq({ urls: `amqp://guest:guest@127.0.0.1:${server.amqp.port}` });
    const topology = {
      queues: ['shipped'],
      bindings: [{ source: 'dlx.events', destination: 'shipped', routingKey: 'order.shipped' }],
    };
    @Module({ imports: [DlxBrokerModule.forRoot({ broker, topology })], providers: [Handlers] })
    class App {}
    const app = await NestFactory.createApplicationContext(App, { logger: false });
    closing.push(() => app.close());
    const client = app.get(DlxClient);
    await client.connect();
    client.emit('order.placed', { number: 1 });
    const shipped = () => server.broker.virtualHost('/').queues.get('shipped')?.browse({ limit: 1 }).entries ?? [];
    await expect.poll(() => shipped().length).toBe(1);
    const [{ message } = { message: undefined }] = shipped();
    expect(message?.own.headers?.has('dlx-first-exchange')).toBe(true);
    expect(message?.origin).toBeUndefined();
  });
});
