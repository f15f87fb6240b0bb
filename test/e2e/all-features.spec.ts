import { Injectable } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import {
  Consume,
  DeadLetters,
  DlxBroker,
  DlxBrokerModule,
  DlxClient,
  DlxContext,
  DlxRecordBuilder,
  Idempotent,
  queue,
  Redrives,
  Retry,
  type IdempotencyStore,
  type OutcomeEvent,
} from 'dlx-broker';
import { toFieldTable } from 'dlx-broker/engine';
import { retryWithBackoff } from 'dlx-broker/streams';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { contextApp, ParcelsModule } from './apps.js';
import { freshBroker, here, idle, until } from './places.js';

/* Features whose own specs run in virtual time, once in real time, so that they also run on servers. */

type App = Awaited<ReturnType<typeof contextApp>>;

const send = (app: App, queueName: string, data: unknown, messageId?: string): Promise<unknown> => {
  const record = new DlxRecordBuilder(data).setExchange('').setMandatory(true);
  if (messageId !== undefined) record.setMessageId(messageId);
  return firstValueFrom(app.get(DlxClient).emit(queueName, record.build()), { defaultValue: undefined });
};

/** Fails unless the queue exists with these arguments, no more and no fewer. */
async function expectQueue(
  app: App,
  name: string,
  args: Readonly<Record<string, string | number | boolean>>,
  more = {},
) {
  const { backend } = app.get(DlxBroker);
  expect(await backend.status(name)).toBeDefined();
  const asked = { name, durable: true, exclusive: false, autoDelete: false, arguments: toFieldTable(args), ...more };
  await backend.declare({ exchanges: [], bindings: [], queues: [asked] });
}

describe('@Idempotent', () => {
  it('handles a message id once; a retry is no duplicate; a key of its own holds as well', async () => {
    const paid: string[] = [];
    @Injectable()
    class Payments {
      @Consume('by-id')
      @Idempotent()
      @Retry({ attempts: 3, backoff: 20 })
      byId(@Payload() { id }: { id: string }): void {
        paid.push(id);
        if (paid.length === 1) throw new Error('down');
      }
      @Consume('by-key')
      @Idempotent<{ id: string }>({ key: ({ id }) => id })
      byKey(@Payload() { id }: { id: string }): void {
        paid.push(`key ${id}`);
      }
    }
    const app = await contextApp({ providers: [Payments] });
    const counts = () => app.get(DlxBroker).counts;
    await send(app, 'by-id', { id: 'a' }, 'm1');
    await until(() => expect(counts()).toMatchObject({ retried: 1, acked: 1 }));
    await send(app, 'by-id', { id: 'a' }, 'm1');
    await until(() => expect(counts()).toMatchObject({ duplicates: 1 }));
    for (const messageId of ['m2', 'm3']) await send(app, 'by-key', { id: 'b' }, messageId);
    await until(() => expect(counts()).toMatchObject({ acked: 2, duplicates: 2 }));
    expect(paid).toEqual(['a', 'a', 'key b']);
  });

  it('handles nothing while its store fails, and parks the message in the end', async () => {
    const down = (): never => {
      throw new Error('no connection');
    };
    const store: IdempotencyStore = { claim: down, done: down, release: down };
    let calls = 0;
    @Injectable()
    class Payments {
      @Consume('payments')
      @Idempotent({ store })
      @Retry({ attempts: 2, backoff: 20 })
      pay(): void {
        calls++;
      }
    }
    const app = await contextApp({ providers: [Payments] });
    await send(app, 'payments', {}, 'm1');
    await until(() => expect(app.get(DlxBroker).counts).toMatchObject({ retried: 1, parked: 1 }));
    expect(calls).toBe(0);
  });
});

describe('forFeature and topology', () => {
  it('declare queues with the arguments of their words, and bind them', async () => {
    const classic = { 'x-queue-type': 'classic' }; // others cannot have x-max-priority
    const topology = {
      queues: [
        queue('worded', { ttl: '30s', deadLetter: ['dlx', 'key'], maxLength: 1000, overflow: 'reject-publish' }),
        queue('safe', { quorum: { deliveryLimit: 3 }, deadLetter: { exchange: 'dlx', strategy: 'at-least-once' } }),
        {
          name: 'one',
          singleActiveConsumer: true,
          maxPriority: 5,
          expires: '1h',
          maxLengthBytes: 9,
          arguments: classic,
        },
      ],
    };
    const app = await contextApp({
      imports: [DlxBrokerModule.forRoot(here({ topology })), { module: ParcelsModule }],
    });
    await expectQueue(app, 'parcels.late', { 'x-message-ttl': 3_600_000 });
    await expectQueue(app, 'worded', {
      'x-message-ttl': 30_000,
      'x-max-length': 1000,
      'x-overflow': 'reject-publish',
      'x-dead-letter-exchange': 'dlx',
      'x-dead-letter-routing-key': 'key',
    });
    await expectQueue(app, 'safe', {
      'x-dead-letter-exchange': 'dlx',
      'x-dead-letter-strategy': 'at-least-once',
      'x-queue-type': 'quorum',
      'x-delivery-limit': 3,
      'x-overflow': 'reject-publish', // rule M1
    });
    await expectQueue(app, 'one', {
      ...classic,
      'x-single-active-consumer': true,
      'x-max-priority': 5,
      'x-expires': 3_600_000,
      'x-max-length-bytes': 9,
    });
    await expect(expectQueue(app, 'parcels.late', {})).rejects.toThrow(
      'x-message-ttl: the existing one has 3600000, the declaration has none',
    );
    const record = new DlxRecordBuilder(1).setExchange('parcels').build();
    await firstValueFrom(app.get(DlxClient).emit('any.key', record));
    await until(async () =>
      expect(await app.get(DlxBroker).backend.status('parcels.late')).toMatchObject({ messages: 1 }),
    );
  });
});

const created = Symbol('created');

describe('handlers', () => {
  it('by the name of a symbol and by inheritance know their attempts, and the events tell of each', async () => {
    abstract class Worker {
      readonly known: unknown[] = [];
      @Consume('inherited')
      @Retry({ attempts: 3, backoff: [20, 40] })
      handle(@Payload() data: unknown, @Ctx() { attempt, attempts, isLastAttempt, lastError }: DlxContext): void {
        this.known.push({ data, attempt, attempts, isLastAttempt, lastError });
        throw new TypeError('down');
      }
    }
    @Injectable()
    class Orders extends Worker {
      readonly seen: unknown[] = [];
      @Consume('symbol')
      [created](@Payload() data: unknown): void {
        this.seen.push(data);
      }
    }
    const app = await contextApp({ providers: [Orders] });
    const events: OutcomeEvent[] = [];
    app.get(DlxBroker).events.subscribe((event) => events.push(event));
    await send(app, 'symbol', 'a');
    await send(app, 'inherited', 'b', 'two');
    await until(() => expect(app.get(DlxBroker).counts).toMatchObject({ acked: 1, parked: 1 }));
    expect(app.get(Orders).seen).toEqual(['a']);
    const lastError = { name: 'TypeError', message: 'down' };
    expect(app.get(Orders).known).toEqual([
      { data: 'b', attempt: 1, attempts: 3, isLastAttempt: false, lastError: undefined },
      { data: 'b', attempt: 2, attempts: 3, isLastAttempt: false, lastError },
      { data: 'b', attempt: 3, attempts: 3, isLastAttempt: true, lastError },
    ]);
    const told = events.filter(({ messageId, kind }) => messageId === 'two' && kind !== 'expired');
    expect(told.map(({ kind, queue: of, attempt, delay, to }) => [kind, of, attempt, delay ?? to])).toEqual([
      ['delivered', 'inherited', 1, undefined],
      ['retried', 'inherited', 1, 20],
      ['delivered', 'inherited', 2, undefined],
      ['retried', 'inherited', 2, 40],
      ['delivered', 'inherited', 3, undefined],
      ['parked', 'inherited', 3, 'inherited.parked'],
    ]);
  });
});

describe('dead letters', () => {
  it('are grouped, retried and redriven through a pipeline, and leave nothing behind', async () => {
    const seen: unknown[] = [];
    let isFixed = false;
    @Injectable()
    class Orders {
      @Consume('orders')
      @Retry({ attempts: 1 })
      take(@Payload() data: unknown): void {
        if (!isFixed) throw new RangeError('down');
        seen.push(data);
      }
    }
    const broker = freshBroker();
    const app = await contextApp({ providers: [Orders], options: { broker } });
    const { backend } = app.get(DlxBroker);
    for (const id of [1, 2, 3, 4]) await send(app, 'orders', id);
    await until(() => expect(app.get(DlxBroker).counts.parked).toBe(4));
    isFixed = true;
    const task = app.get(Redrives).start({ from: 'orders.parked', where: ({ payload }) => (payload as number) < 3 });
    expect((await task.ended).redriven).toBe(2);
    await until(() => expect(seen).toHaveLength(2));
    app
      .get(DeadLetters)
      .run('orders.parked', (letters) => letters.pipe(retryWithBackoff({ attempts: 5, backoff: 20 })));
    await until(() => expect(seen.toSorted()).toEqual([1, 2, 3, 4]));
    for (const name of ['orders', 'orders.parked'])
      await until(async () => expect(await backend.status(name)).toMatchObject(idle));
  });
});
