import { Injectable } from '@nestjs/common';
import { Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import { Controller } from '@nestjs/common';
import {
  Consume,
  DlxBroker,
  DlxClient,
  DlxContext,
  DlxRecordBuilder,
  Outbox,
  OutboxClosedError,
  Park,
  Retry,
} from 'dlx-broker';
import { firstValueFrom } from 'rxjs';
import { expect, it } from 'vitest';
import { contextApp, microservice } from './apps.js';
import { isEmbedded, until } from './places.js';

/* The outbox on all brokers. outbox.spec.ts has all of its cases, in virtual time. */

const toQueue = (data: unknown) => new DlxRecordBuilder(data).setExchange('').setMandatory(true).build();

/** A handler of queue `jobs`, and one that notes the events. */
async function start(work: (client: DlxClient, context: DlxContext) => unknown) {
  const seen: [unknown, string | undefined][] = [];
  @Injectable()
  class Handlers {
    constructor(private readonly client: DlxClient) {}
    @Consume({ queue: 'jobs', routingKey: 'job' })
    @Outbox()
    @Retry({ attempts: 2, backoff: ['20ms'] })
    run(@Ctx() context: DlxContext): unknown {
      return work(this.client, context);
    }
    @Consume({ queue: 'events', routingKey: 'out.#' })
    event(@Payload() data: unknown, @Ctx() { properties }: DlxContext): void {
      seen.push([data, properties.messageId]);
    }
  }
  const app = await contextApp({ providers: [Handlers] });
  const job = new DlxRecordBuilder(1).setMessageId('m').build();
  await firstValueFrom(app.get(DlxClient).emit('job', job), { defaultValue: undefined });
  return { app, seen, counts: () => app.get(DlxBroker).counts, data: () => seen.map(([data]) => data) };
}

it('events leave with the ack, delayed ones too, and the second attempt emits the same ids', async () => {
  const { seen, counts, data } = await start(async (client, { attempt }) => {
    await firstValueFrom(client.emit('out.a', 'a'), { defaultValue: undefined });
    await firstValueFrom(client.emit('out.late', 'late', { delay: 30 }), { defaultValue: undefined });
    client.emit('out.b', `b of attempt ${attempt}`);
    client.emit('out.now', 'now', { outbox: false });
    if (attempt === 1) throw new Error('no');
  });
  await until(() => expect(data()).toHaveLength(5));
  expect(data().filter((one) => one !== 'now')).toEqual(['a', 'b of attempt 2', 'late']);
  const ids = seen.filter(([one]) => one !== 'now').map(([, id]) => /^m\.[\w-]{6}\.(\d)$/.exec(id!)?.[1]);
  expect(ids).toEqual(['1', '3', '2']);
  expect(counts()).toMatchObject({ retried: 1, parked: 0 });
});

it('a commit that the broker refuses fails the attempt', async () => {
  const { app, counts, data } = await start((client) => {
    client.emit('out.a', 'a');
    client.emit('nowhere', toQueue(1));
  });
  await until(() => expect(counts().parked).toBe(1));
  const { backend } = app.get(DlxBroker);
  expect(await backend.status('jobs.parked')).toMatchObject({ messages: 1 });
  // What a server had confirmed is out, once for each attempt.
  if (isEmbedded) expect(data()).toEqual([]);
  else await until(() => expect(data()).toEqual(['a', 'a']));
});

it('ack() publishes what is there; what comes later fails', async () => {
  const late: unknown[] = [];
  const { counts, data } = await start((client, context) => {
    client.emit('out.a', 'a');
    client.emit('out.b', 'b');
    context.ack();
    client.emit('out.c', 'c').subscribe({ error: (error: unknown) => late.push(error) });
  });
  await until(() => expect([data(), counts().byHand]).toEqual([['a', 'b'], 1]));
  expect(late).toEqual([expect.any(OutboxClosedError)]);
});

it('an ack() that the broker refuses fails the attempt', async () => {
  const { counts } = await start((client, context) => {
    client.emit('nowhere', toQueue(1));
    client.emit('out.b', 'b');
    context.ack();
  });
  await until(() => expect(counts()).toMatchObject({ retried: 1, parked: 1, byHand: 0 }));
});

it('a parked message takes nothing with it', async () => {
  const { counts, data } = await start((client) => {
    client.emit('out.a', 'a');
    throw new Park('no');
  });
  await until(() => expect(counts().parked).toBe(1));
  expect(data()).toEqual([]);
});

it('a reply goes with the events', async () => {
  const seen: unknown[] = [];
  @Controller()
  class Prices {
    constructor(private readonly client: DlxClient) {}
    @MessagePattern('price')
    @Outbox()
    price(@Payload() item: string): string {
      this.client.emit('out.asked', item);
      return `${item} costs 3`;
    }
  }
  @Injectable()
  class Events {
    @Consume({ queue: 'events', routingKey: 'out.#' })
    event(@Payload() data: unknown): void {
      seen.push(data);
    }
  }
  const app = await microservice({ controllers: [Prices], providers: [Events] });
  expect(await firstValueFrom(app.get(DlxClient).send('price', 'tea'))).toBe('tea costs 3');
  await until(() => expect(seen).toEqual(['tea']));
});
