import {
  Injectable,
  type NestInterceptor,
  type PipeTransform,
  type Type,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { Ctx, EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { map } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { classOf } from '../../../../../../test/harnesses/class-of.js';
import { type BackendDelivery, ConnectionLostError } from '../../../backends/index.js';
import { longstr } from '../../../engine/message/index.js';
import { DeliveryTimers } from '../../core/delivery-timers.js';
import type { Handler } from '../../core/handler.js';
import type { TransportOptions } from '../../index.js';
import {
  Batch,
  type BatchOptions,
  Consume,
  DeadLetter,
  DlxBatchContext,
  DlxBroker,
  DlxContext,
  Drop,
  event,
  Idempotent,
  Ordered,
  Outbox,
  Park,
  Prefetch,
  Queue,
  Reject,
  Retry,
  RetryLater,
} from '../../index.js';
import { DlxTesting } from '../../testing/dlx-testing.js';
import { ManualClock } from '../../testing/manual-clock.js';
import { Gathering } from './gathering.js';

const running: DlxTesting[] = [];
afterEach(async () => {
  for (const dlx of running.splice(0)) await dlx.close();
});

interface Order {
  readonly id: number;
}

type Work = (ids: readonly number[], context: DlxBatchContext) => unknown;

/** An application whose handler of `work` does with a batch what the test says. */
async function arrange(
  work: Work = () => undefined,
  above: readonly MethodDecorator[] = [],
  { batch = Batch({ size: 3, within: '1s' }) as MethodDecorator, transport = {} as TransportOptions } = {},
) {
  const batches: (readonly number[])[] = [];
  @Injectable()
  class Worker {
    handle(@Payload() orders: readonly Order[], @Ctx() context: DlxBatchContext): unknown {
      const ids = orders.map(({ id }) => id);
      batches.push(ids);
      return work(ids, context);
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(Worker.prototype, 'handle')!;
  for (const decorate of [Consume('work') as MethodDecorator, batch, ...above]) {
    decorate(Worker.prototype, 'handle', descriptor);
  }
  const options = { logger: false, transport: { topology: { queues: ['dead'] }, ...transport } } as const;
  const dlx = await DlxTesting.create({ providers: [Worker] }, options);
  running.push(dlx);
  const publish = async (...ids: readonly number[]): Promise<void> => {
    for (const id of ids) await dlx.publish('work', { id });
    await dlx.settled();
  };
  return { dlx, batches, publish, counts: () => dlx.app.get(DlxBroker).counts };
}

/** The result of each message, by its id. */
const each = (of: (id: number) => unknown) => (ids: readonly number[]) =>
  Promise.allSettled(ids.map(async (id) => of(id)));

describe('a batch', () => {
  it('starts when it is full, or some time after its first message', async () => {
    const { dlx, batches, publish, counts } = await arrange();
    await publish(1, 2, 3, 4);
    expect(batches).toEqual([[1, 2, 3]]);
    await dlx.advance(600);
    await publish(5);
    await dlx.advance(399);
    expect(batches).toHaveLength(1);
    await dlx.advance(1);
    expect(batches).toEqual([
      [1, 2, 3],
      [4, 5],
    ]);
    expect(counts()).toMatchObject({ acked: 5 });
    expect(dlx.queue('work').unacknowledged).toBe(0);
  });

  it('may be larger than the prefetch of the module, which is raised', async () => {
    const { batches, publish } = await arrange(undefined, [], { transport: { prefetch: 2 } });
    await publish(1, 2, 3);
    expect(batches).toEqual([[1, 2, 3]]);
  });

  it('fails as one when its handler throws: each message has its attempts, its headers and its place', async () => {
    const { dlx, batches, publish } = await arrange(() => {
      throw new TypeError('none');
    }, [Retry({ attempts: 2, backoff: '1m' })]);
    await publish(1, 2, 3);
    await dlx.advance('5m');
    expect(batches).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ]);
    const letters = dlx.deadLetters<Order>('work.parked');
    expect(letters.map(({ payload, failures, error }) => [(payload as Order).id, failures, error?.name])).toEqual([
      [1, 2, 'TypeError'],
      [2, 2, 'TypeError'],
      [3, 2, 'TypeError'],
    ]);
  });

  it('ends each message by its own result, if it returns what Promise.allSettled returns', async () => {
    const calls: Record<number, () => unknown> = {
      1: () => 'fine',
      2: () => Promise.reject(new RetryLater('10s')),
      3: () => Promise.reject(new Park('why', { headers: { ticket: 'A-3' } })),
      4: () => Promise.reject(new Error('now and then')),
      5: () => Promise.reject(new Drop()),
      6: () => undefined,
    };
    const { dlx, batches, publish, counts } = await arrange(
      each((id) => calls[id]!()),
      [Retry({ attempts: 2, backoff: '1m' })],
      { batch: Batch({ size: 6, within: '1s' }) },
    );
    await publish(1, 2, 3, 4, 5, 6);
    expect(counts()).toMatchObject({ acked: 2, retried: 2, parked: 1, dropped: 1 });
    await dlx.advance('2m');
    expect(batches.slice(1)).toEqual([[2], [4]]);
    expect(dlx.deadLetters<Order>('work.parked').map(({ payload, headers }) => [payload, headers['ticket']])).toEqual([
      [{ id: 3 }, 'A-3'],
      [{ id: 2 }, undefined],
      [{ id: 4 }, undefined],
    ]);
  });

  it('waits for each of the promises that it returns', async () => {
    const one = async (id: number): Promise<void> => {
      await Promise.resolve();
      if (id === 2) throw new Park('not this one');
    };
    const { dlx, publish, counts } = await arrange((ids) => ids.map(one), [Retry({ attempts: 2 })]);
    await publish(1, 2, 3);
    expect(counts()).toMatchObject({ acked: 2, parked: 1 });
    dlx.expectQueue('work.parked').toHold([{ id: 2 }]);
  });

  it('dead-letters a message that it rejects', async () => {
    const reject = (id: number): unknown => (id === 2 ? Promise.reject(new Reject('no')) : undefined);
    const { dlx, publish } = await arrange(each(reject), [DeadLetter('', 'dead')]);
    await publish(1, 2, 3);
    dlx.expectQueue('dead').toHold([{ id: 2 }]);
  });

  it('succeeds with any other result, and fails with too few of them', async () => {
    const { publish, counts, dlx } = await arrange(
      (ids) => (ids[0] === 1 ? ['a', 'b'] : Promise.allSettled([1])),
      [Retry({ attempts: 1 })],
    );
    await publish(1, 2, 3);
    expect(counts()).toMatchObject({ acked: 3, parked: 0 });
    await publish(4, 5, 6);
    expect(counts()).toMatchObject({ acked: 3, parked: 3 });
    expect(dlx.deadLetters('work.parked')[0]?.error).toMatchObject({
      name: 'BatchResultError',
      message: '@Batch on Worker.handle: it returned 1 results for 3 messages; return one for each, in their order',
    });
  });

  it.each([
    [
      'an empty place',
      (failed: unknown) => Object.assign(new Array<unknown>(3), { 0: { status: 'fulfilled' }, 2: failed }),
    ],
    ['something else', (failed: unknown) => [failed, undefined, { status: 'fulfilled' }]],
  ])('loses no failure beside %s, and fails as a whole', async (_, results) => {
    const failed = { status: 'rejected', reason: new Error('lost') };
    const { dlx, publish } = await arrange(() => results(failed), [Retry({ attempts: 1 })]);
    await publish(1, 2, 3);
    const names = dlx.deadLetters('work.parked').map(({ error }) => error?.name);
    expect(names).toEqual(['BatchResultError', 'BatchResultError', 'BatchResultError']);
  });

  it('knows the context of each message, which settles it', async () => {
    const seen: unknown[] = [];
    const { dlx, publish, counts } = await arrange(
      (_, context) => {
        expect(context).toBeInstanceOf(DlxBatchContext);
        seen.push(context.messages.map(({ attempt, attempts, queue }) => [attempt, attempts, queue]));
        context.messages[1]?.ack();
        throw new Error('no');
      },
      [Retry({ attempts: 2, backoff: '1s' })],
    );
    await publish(1, 2, 3);
    expect(seen).toEqual([[1, 2, 3].map(() => [1, 2, 'work'])]);
    expect(counts()).toMatchObject({ byHand: 1, retried: 2 });
    await dlx.advance('1m');
    expect(counts()).toMatchObject({ byHand: 2, parked: 1 });
  });

  it('is settled as a whole by its own context', async () => {
    const { publish, counts, dlx } = await arrange(
      (ids, context) => {
        if (ids[0] === 1) context.ack();
        else context.reject();
        expect(context.isSettled).toBe(true);
      },
      [Retry({ attempts: 2 })],
    );
    await publish(1, 2, 3, 4, 5, 6);
    expect(counts()).toMatchObject({ byHand: 6 });
    dlx.expectQueue('work.parked').toHold([{ id: 4 }, { id: 5 }, { id: 6 }]);
  });

  it('has no duplicates with @Idempotent: they leave before it', async () => {
    const { dlx, batches, counts } = await arrange(undefined, [Idempotent()]);
    for (const [id, messageId] of [
      [1, 'a'],
      [2, 'b'],
    ] as const)
      await dlx.publish('work', { id }, { messageId });
    await dlx.advance('1s');
    for (const [id, messageId] of [
      [1, 'a'],
      [3, 'c'],
      [4, 'd'],
      [5, 'e'],
    ] as const) {
      await dlx.publish('work', { id }, { messageId });
    }
    await dlx.settled();
    expect(batches).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
    expect(counts()).toMatchObject({ acked: 5, duplicates: 1 });
  });

  it('takes the time limit of each message from its arrival, and aborts its signal', async () => {
    let signal: AbortSignal | undefined;
    const { dlx, publish, counts } = await arrange(
      (_, context) => {
        ({ signal } = context);
        return new Promise(() => {});
      },
      [Retry({ attempts: 1, timeout: '5s' })],
    );
    await publish(1);
    await dlx.advance('1s', { except: ['work'] });
    expect(signal?.aborted).toBe(false);
    await dlx.advance('4s', { except: ['work'] });
    expect(signal?.aborted).toBe(true);
    expect(counts()).toMatchObject({ parked: 1 });
  });

  it('starts at once when the application closes, or its handler is paused', async () => {
    const { dlx, batches, publish } = await arrange();
    await publish(1);
    await dlx.handler('Worker.handle').pause();
    expect(batches).toEqual([[1]]);
    dlx.handler('Worker.handle').resume();
    await publish(2, 3);
    expect(batches).toHaveLength(1);
    await dlx.close();
    expect(batches).toEqual([[1], [2, 3]]);
  });

  it('loses the messages that returned to their queue before it started', async () => {
    const clock = new ManualClock(0);
    const got: unknown[] = [];
    const invoke = async (data: unknown): Promise<void> => void got.push(data);
    const handler = { origin: 'Worker.handle', kind: 'consume', patterns: [], invoke } as unknown as Handler;
    const gathering = new Gathering('work', handler, { size: 9, within: 10 }, new DeliveryTimers(clock));
    const contexts = [false, true, false].map((settled) => new DlxContext({ settled } as BackendDelivery));
    const calls = Promise.allSettled(contexts.map((context, place) => gathering.call(place, context)));
    const lost = new Error('lost');
    contexts[2]!.abort(lost);
    clock.advance(10);
    expect(await calls).toEqual([
      { status: 'fulfilled', value: undefined },
      { status: 'rejected', reason: expect.any(ConnectionLostError) as unknown },
      { status: 'rejected', reason: lost },
    ]);
    expect(got).toEqual([[0]]);
  });

  it('goes through guards, interceptors and pipes once, as an array', async () => {
    const seen: string[] = [];
    class Seeing implements NestInterceptor {
      intercept: NestInterceptor['intercept'] = (_, next) => {
        seen.push('interceptor');
        return next.handle().pipe(map((result: unknown) => result));
      };
    }
    class Doubling implements PipeTransform {
      transform(ids: readonly number[]): readonly number[] {
        seen.push('pipe');
        return ids.map((id) => id * 2);
      }
    }
    class Guard {
      canActivate(): boolean {
        seen.push('guard');
        return true;
      }
    }
    const twoFails = (id: number): unknown => (id === 4 ? Promise.reject(new Park('no')) : id);
    @Injectable()
    class Worker {
      @Consume('work')
      @Batch({ size: 2, within: '1s' })
      @Retry({ attempts: 2 })
      @UseGuards(Guard)
      @UseInterceptors(Seeing)
      handle(@Payload(new Doubling()) ids: readonly number[]): unknown {
        seen.push(`handler ${ids.join()}`);
        return each(twoFails)(ids);
      }
    }
    const dlx = await DlxTesting.create({ providers: [Worker] }, { logger: false });
    running.push(dlx);
    for (const id of [1, 2]) await dlx.publish('work', id);
    await dlx.settled();
    expect(seen).toEqual(['guard', 'interceptor', 'pipe', 'handler 2,4']);
    dlx.expectQueue('work.parked').toHold([2]);
  });

  it('keeps the error of its handler as it was thrown, also behind filters of Nest', async () => {
    const { dlx, publish } = await arrange(async () => {
      throw new RangeError('as it was');
    }, [Retry({ attempts: 1 })]);
    await publish(1, 2, 3);
    expect(dlx.deadLetters('work.parked')[0]?.error).toMatchObject({ name: 'RangeError', message: 'as it was' });
  });

  it('has payloads that fit a contract, each checked by itself', async () => {
    const contract = event<Order>('order.placed', {
      schema: {
        '~standard': {
          version: 1,
          vendor: 'a test',
          validate: (value) =>
            (value as Order).id > 0 ? { value: value as Order } : { issues: [{ message: 'no id' }] },
        },
      },
    });
    const batches: (readonly Order[])[] = [];
    @Injectable()
    class Worker {
      @Consume('work')
      @Batch({ size: 2, within: '1s', of: contract })
      @Retry({ attempts: 2 })
      handle(@Payload() orders: Order[]): void {
        batches.push(orders);
      }
    }
    const dlx = await DlxTesting.create({ providers: [Worker] }, { logger: false });
    running.push(dlx);
    for (const id of [1, 0, 2]) await dlx.publish('work', { id });
    await dlx.settled();
    expect(batches).toEqual([[{ id: 1 }, { id: 2 }]]);
    dlx.expectQueue('work.parked').toHold([{ id: 0 }]);
  });
});

const worker = (...above: readonly MethodDecorator[]): Type => classOf('Orders', { work: [Consume('work'), ...above] });
const start = async (provider: Type, transport: TransportOptions = {}): Promise<void> => {
  const dlx = await DlxTesting.create({ providers: [provider] }, { logger: false, transport });
  await dlx.close();
};
const good = Batch({ size: 3, within: '1s' });

describe('@Batch refuses', () => {
  it.each<[string, Type, RegExp, TransportOptions?]>([
    [
      'no options',
      worker(Batch(undefined as unknown as BatchOptions)),
      /@Batch on Orders\.work: undefined .*write \{ size: 100/,
    ],
    ['a size of 0', worker(Batch({ size: 0, within: '1s' })), /size of @Batch on Orders\.work: 0/],
    ['no time', worker(Batch({ size: 1 } as BatchOptions)), /within of @Batch on Orders\.work/],
    ['a long time', worker(Batch({ size: 1, within: '6m' })), /'6m' is not between 1 ms and 5 minutes/],
    ['another option', worker(Batch({ size: 1, within: 1, sise: 2 } as BatchOptions)), /did you mean 'size'/],
    [
      'a smaller prefetch',
      worker(Prefetch(2), good),
      /@Prefetch\(2\) is less than its size \(3\).* raise the prefetch/,
    ],
    ['@Ordered', worker(Ordered({ key: String }), good), /@Batch on Orders\.work: @Ordered is beside it/],
    ['@Outbox', worker(Outbox(), good), /write @Outbox\(false\)/],
    ['the outbox of the module', worker(good), /write @Outbox\(false\)/, { outbox: true }],
    [
      'a shorter time limit',
      worker(Retry({ attempts: 2, timeout: '1s' }), good),
      /timeout of its retry policy \(1000 ms\) is over before a batch starts/,
    ],
  ])('%s', async (_, provider, error, transport) => {
    await expect(start(provider, transport)).rejects.toThrow(error);
  });

  it('requests', async () => {
    const prices = classOf('Prices', { get: [MessagePattern('price') as MethodDecorator, Queue('prices'), good] });
    const dlx = new DlxTesting({ logger: false });
    running.push(dlx);
    await expect(dlx.start({ controllers: [prices] })).rejects.toThrow(/each request wants its own answer/);
  });

  it('no handler whose outbox is switched off', async () => {
    await start(worker(Outbox(false), good), { outbox: true });
  });
});

it('handlers of Nest get batches, too', async () => {
  const seen: unknown[] = [];
  class Events {
    placed(orders: unknown): void {
      seen.push(orders);
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(Events.prototype, 'placed')!;
  for (const decorate of [EventPattern('placed') as MethodDecorator, good]) {
    decorate(Events.prototype, 'placed', descriptor);
  }
  const dlx = new DlxTesting({ logger: false });
  running.push(dlx);
  await dlx.start({ controllers: [Events] });
  const headers = new Map([['tenant', longstr('acme')]]);
  for (const id of [1, 2, 3]) {
    await dlx.publish({ exchange: 'dlx.events', routingKey: 'placed' }, { id }, { headers });
  }
  await dlx.settled();
  expect(seen).toEqual([[{ id: 1 }, { id: 2 }, { id: 3 }]]);
});
