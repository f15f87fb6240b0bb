import { Ctx, Payload } from '@nestjs/microservices';
import {
  Answer,
  Batch,
  Bind,
  Circuit,
  Consume,
  ConsumerPriority,
  DeadLetter,
  type DlxContext,
  Exchange,
  Expires,
  HandlerAsync,
  Idempotent,
  MaxLength,
  MaxLengthBytes,
  MaxPriority,
  On,
  OnDeadLetter,
  Ordered,
  Outbox,
  Prefetch,
  Queue,
  QueueArguments,
  Quorum,
  RateLimit,
  Retry,
  SingleActiveConsumer,
  Ttl,
} from 'dlx-broker';
import { expect, expectTypeOf, it } from 'vitest';
import { allDecorators } from '../harnesses/all-decorators.js';

interface Order {
  readonly id: string;
}

const all = {
  Batch,
  Bind,
  Circuit,
  Consume,
  ConsumerPriority,
  DeadLetter,
  Exchange,
  Expires,
  HandlerAsync,
  Idempotent,
  MaxLength,
  MaxLengthBytes,
  MaxPriority,
  OnDeadLetter,
  Ordered,
  Outbox,
  Prefetch,
  Queue,
  QueueArguments,
  Quorum,
  RateLimit,
  Retry,
  SingleActiveConsumer,
  Ttl,
};

/** They are for methods that take the payload of a contract: see contract-types.spec.ts. */
const typed = { Answer, On };

// What is wrong here fails the type check, which runs over the tests as well. Nothing of the functions below is run.

it('every decorator there is appears in this file, and is for methods', () => {
  const decorators = allDecorators.map(([name]) => name);
  expect(decorators.sort()).toEqual([...Object.keys(all), ...Object.keys(typed)].sort());
  expectTypeOf<ReturnType<(typeof all)[keyof typeof all]>>().toEqualTypeOf<MethodDecorator>();
});

it('they stand above methods of any signature, in any order and number', () => {
  const above = () => {
    abstract class Base {
      @Consume()
      @Queue('orders')
      none(): void {}

      @Queue({
        name: 'orders',
        durable: true,
        exclusive: false,
        autoDelete: false,
        declare: true,
        arguments: { 'x-a': 1 },
      })
      @Consume('orders')
      one(@Payload() order: Order): string {
        return order.id;
      }

      @Bind('shop')
      @Bind('shop', 'order.*')
      @Bind('shop', ['order.*', 'invoice.#'])
      @Bind('shop', 'order.*', { 'x-match': 'any', kind: 'invoice' })
      @Consume({ queue: 'orders', exchange: 'shop', routingKey: ['a', 'b'], broker: 'audit' })
      async two(@Payload() order: Order, @Ctx() context: DlxContext): Promise<string> {
        return order.id + context.queue;
      }

      @Exchange('shop')
      @Exchange('shop', {
        type: 'direct',
        durable: false,
        autoDelete: true,
        internal: false,
        alternateExchange: 'rest',
      })
      @Exchange('shop', { arguments: { 'x-delayed-type': 'topic' }, declare: false })
      @Consume({ exchange: { name: 'shop', type: 'fanout' } })
      protected *generator(): Generator<number> {
        yield 1;
      }

      @DeadLetter('dlx')
      @DeadLetter('', 'dead')
      @DeadLetter({ exchange: 'dlx', routingKey: 'key', strategy: 'at-least-once' })
      @DeadLetter(false)
      @Ttl(5)
      @Ttl('5s')
      @Expires('1h')
      @MaxLength(5)
      @MaxLength(5, { overflow: 'reject-publish-dlx' })
      @MaxLengthBytes(5, { overflow: 'drop-head' })
      @MaxPriority(5)
      @Quorum()
      @Quorum({ deliveryLimit: 5 })
      @Prefetch(0)
      @ConsumerPriority(-1)
      @SingleActiveConsumer()
      @QueueArguments({ 'x-queue-mode': 'lazy' })
      @Retry({ attempts: 3 })
      @Retry(false)
      @Circuit('bank')
      @Circuit({ share: 0.5, atLeast: 5, within: '1m', on: TypeError })
      @Outbox()
      @Outbox(false)
      @Outbox({ messages: 10, bytes: '1mb' })
      @OnDeadLetter()
      @OnDeadLetter({ queue: /^orders/, kinds: ['parked'], broker: 'audit' })
      @Ordered<Order>({ key: ({ id }) => id, window: 10 })
      @Idempotent()
      @Idempotent<Order>({ key: (order, context) => order.id + context.queue, ttl: '1d', lease: 5_000 })
      @Idempotent<{ readonly number: number | null }>({ key: (invoice) => invoice.number })
      [Symbol.iterator](): void {}
    }
    return Base;
  };
  expectTypeOf(above).toBeFunction();
});

it('they take no nonsense', () => {
  const wrong = (): readonly MethodDecorator[] => [
    // @ts-expect-error -- a queue is a text or options
    Consume(5),
    // @ts-expect-error -- misspelt
    Consume({ queu: 'orders' }),
    // @ts-expect-error -- an exchange has a name
    Consume({ exchange: { type: 'topic' } }),
    // @ts-expect-error -- one argument
    Consume('orders', 'order.*'),
    // @ts-expect-error -- which queue
    Queue(),
    // @ts-expect-error -- misspelt
    Queue({ name: 'orders', durabel: true }),
    // @ts-expect-error -- which exchange
    Exchange(),
    // @ts-expect-error -- the type is an option
    Exchange('shop', 'topic'),
    // @ts-expect-error -- misspelt
    Exchange('shop', { typ: 'topic' }),
    // @ts-expect-error -- which exchange
    Bind(),
    // @ts-expect-error -- a key is a text
    Bind('shop', 5),
    // @ts-expect-error -- headers are a table
    Bind('shop', 'key', 'any'),
    // @ts-expect-error -- where to, or false
    DeadLetter(),
    // @ts-expect-error -- true says nothing
    DeadLetter(true),
    // @ts-expect-error -- which exchange
    DeadLetter({ routingKey: 'key' }),
    // @ts-expect-error -- one of two strategies
    DeadLetter({ exchange: 'dlx', strategy: 'exactly-once' }),
    // @ts-expect-error -- how long
    Ttl(),
    // @ts-expect-error -- a number or a text
    Ttl({ seconds: 5 }),
    // @ts-expect-error -- how long
    Expires(),
    // @ts-expect-error -- a number
    MaxLength('5'),
    // @ts-expect-error -- one of three policies
    MaxLength(5, { overflow: 'drop' }),
    // @ts-expect-error -- a number
    MaxLengthBytes('5MB'),
    // @ts-expect-error -- how many
    MaxPriority(),
    // @ts-expect-error -- misspelt
    Quorum({ deliveryLimt: 5 }),
    // @ts-expect-error -- a number
    Prefetch('10'),
    // @ts-expect-error -- a number
    ConsumerPriority('high'),
    // @ts-expect-error -- it takes nothing
    SingleActiveConsumer(false),
    // @ts-expect-error -- a table
    QueueArguments('x-queue-mode'),
    // @ts-expect-error -- how often
    Retry({ backoff: '1s' }),
    // @ts-expect-error -- false, or a policy
    Retry(true),
    // @ts-expect-error -- misspelt
    Retry({ attempts: 3, backof: '1s' }),
    // @ts-expect-error -- a key is a text
    Idempotent<Order>({ key: ({ id }) => ({ id }) }),
    // @ts-expect-error -- which circuit
    Circuit(),
    // @ts-expect-error -- misspelt
    Circuit({ shar: 0.5 }),
    // @ts-expect-error -- a number
    Outbox({ messages: 'many' }),
    // @ts-expect-error -- one of three kinds
    OnDeadLetter({ kinds: ['dropped'] }),
    // @ts-expect-error -- which key
    Ordered({}),
    // @ts-expect-error -- a store has methods
    Idempotent({ store: new Map() }),
  ];
  expectTypeOf(wrong).returns.toEqualTypeOf<readonly MethodDecorator[]>();
});

it('they stand above methods only', () => {
  const above = () => {
    // @ts-expect-error -- a class
    @Consume('orders')
    class OnClass {}

    class OnProperty {
      // @ts-expect-error -- a property
      @Retry({ attempts: 3 })
      readonly name = 'orders';
    }

    class OnParameter {
      // @ts-expect-error -- a parameter
      handle(@Queue('orders') data: unknown): unknown {
        return data;
      }
    }
    return [OnClass, OnProperty, OnParameter];
  };
  expectTypeOf(above).toBeFunction();
});
