import { Controller } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { Batch, Consume, DeadLetters, DlxBroker, DlxClient, sharedBroker } from 'dlx-broker';
import { EmbeddedBackend } from 'dlx-broker/engine';
import { type ConsumedLetter } from 'dlx-broker/streams';
import { AmqpError, createBroker, type Broker } from 'dlx-broker/engine';
import { lastValueFrom, tap } from 'rxjs';
import { expect, it, vi } from 'vitest';
import { microservice } from './apps.js';

const until = (check: () => unknown): Promise<void> =>
  vi.waitFor(async () => void (await check()), { interval: 1, timeout: 3_000 });

/** As `DELETE /api/connections/…` does it, and the deletion of the user of an application. */
function force(broker: Broker): void {
  const error = new AmqpError('CONNECTION_FORCED', 'by an operator');
  for (const connection of broker.virtualHost('/').connections) connection.force(error);
}

const start = async () => {
  const seen: unknown[] = [];
  @Controller()
  class Handlers {
    @Consume('work')
    work(data: unknown): void {
      seen.push(data);
    }

    @MessagePattern('twice')
    twice(data: number): number {
      return data * 2;
    }

    @MessagePattern('hang')
    hang(): Promise<void> {
      return new Promise(() => undefined);
    }
  }
  const broker = createBroker();
  const app = await microservice({
    controllers: [Handlers],
    options: { broker: sharedBroker(broker), drainTimeout: 1 },
  });
  return { seen, broker, app, client: app.get(DlxClient), backend: app.get(DlxBroker).backend };
};

it('an application whose connection was closed by an operator consumes again', async () => {
  const { seen, broker, backend } = await start();
  force(broker);
  backend.publish({ exchange: '', routingKey: 'work', properties: {}, body: Buffer.from('1') });
  await until(() => expect(seen).toEqual([1]));
});

it('a message that was at work returns to its queue, and is not counted as settled by hand', async () => {
  const ends: (() => void)[] = [];
  @Controller()
  class Slow {
    @Consume('slow')
    work(): Promise<void> {
      return new Promise((resolve) => ends.push(resolve));
    }
  }
  const broker = createBroker();
  const app = await microservice({ controllers: [Slow], options: { broker: sharedBroker(broker), drainTimeout: 1 } });
  const { backend } = app.get(DlxBroker);
  backend.publish({ exchange: '', routingKey: 'slow', properties: {}, body: Buffer.from('1') });
  await until(() => expect(ends).toHaveLength(1));
  force(broker);
  await until(() => expect(ends).toHaveLength(2));
  for (const end of ends) end();
  await until(() => expect(app.get(DlxBroker).counts).toMatchObject({ acked: 1, byHand: 0 }));
});

it('messages that waited for a batch take no place beside those that come again', async () => {
  const batches: (readonly unknown[])[] = [];
  @Controller()
  class Gathers {
    @Consume('many')
    @Batch({ size: 3, within: '1m' })
    work(@Payload() data: readonly unknown[]): void {
      batches.push(data);
    }
  }
  const broker = createBroker();
  const app = await microservice({
    controllers: [Gathers],
    options: { broker: sharedBroker(broker), drainTimeout: 1 },
  });
  const publish = (id: number): void =>
    app
      .get(DlxBroker)
      .backend.publish({ exchange: '', routingKey: 'many', properties: {}, body: Buffer.from(`${id}`) });
  publish(1);
  publish(2);
  force(broker);
  publish(3);
  await until(() => expect(batches).toEqual([[1, 2, 3]]));
});

it('its requests in flight fail, and later ones are answered', async () => {
  const { broker, client } = await start();
  expect(await lastValueFrom(client.send('twice', 2))).toBe(4);
  const failed = expect(lastValueFrom(client.send('hang', {}))).rejects.toThrow(/by an operator/);
  force(broker);
  await failed;
  expect(await lastValueFrom(client.send('twice', 3))).toBe(6);
});

it('its streams fail, as when their queue is deleted, and what runs begins anew', async () => {
  const { broker, app, backend } = await start();
  const lying = { durable: true, exclusive: false, autoDelete: false, arguments: new Map() };
  await backend.declare({ exchanges: [], bindings: [], queues: [{ ...lying, name: 'dead' }] });
  const failures: unknown[] = [];
  app
    .get(DeadLetters)
    .from('dead')
    .subscribe({ error: (error: unknown) => failures.push(error) });
  const taken: unknown[] = [];
  const settle = tap((letter: ConsumedLetter) => {
    taken.push(letter.payload);
    letter.ack();
  });
  app.get(DeadLetters).run('dead', (letters) => letters.pipe(settle), { pause: 1 });
  force(broker);
  expect(String(failures)).toContain('ConsumerCancelledError');
  backend.publish({ exchange: '', routingKey: 'dead', properties: {}, body: Buffer.from('1') });
  await until(() => expect(taken).toEqual([1]));
});

it('a backend that is closed by its application says nothing', async () => {
  const backend = new EmbeddedBackend(createBroker());
  const lying = { durable: true, exclusive: false, autoDelete: false, arguments: new Map() };
  await backend.declare({ exchanges: [], bindings: [], queues: [{ ...lying, name: 'dead' }] });
  let cancels = 0;
  backend.consume('dead', { prefetch: 1, onCancel: () => void cancels++ }, () => undefined);
  await backend.close();
  expect(cancels).toBe(0);
});
