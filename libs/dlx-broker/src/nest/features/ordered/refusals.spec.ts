import type { Type } from '@nestjs/common';
import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it, vi } from 'vitest';
import { classOf } from '../../../../../../test/harnesses/class-of.js';
import { planRetry, type RetryPolicy } from '../../retry/index.js';
import type { ConsumerTimeout, ServerInfo } from '../../../backends/index.js';
import { DlxTesting } from '../../../testing.js';
import { DlxBroker } from '../../module/broker.js';
import * as decorators from '../../decorators/index.js';
import { Idempotent, Ordered, type OrderedOptions } from '../index.js';
import { refuseTooLong, timeInHand } from './time-in-hand.js';

const { Consume, MaxLength, MaxPriority, Prefetch, Queue, QueueArguments, Retry } = decorators;

const key = (data: unknown): string => String(data);

/** A class whose method handles messages of the queue `work`. */
const work = (...all: readonly MethodDecorator[]): Type => classOf('Orders', { work: [Consume('work'), ...all] });

/** The same, and a second method that shares the queue. */
function sharing(first: readonly MethodDecorator[], second: readonly MethodDecorator[]): Type {
  const consume = (name: string) => Consume({ queue: 'work', exchange: 'shop', routingKey: `order.${name}` });
  return classOf('Orders', { created: [consume('created'), ...first], paid: [consume('paid'), ...second] });
}

const start = async (provider: Type): Promise<void> => {
  const dlx = await DlxTesting.create({ providers: [provider] }, { logger: false });
  await dlx.close();
};

const ordered = (options: Partial<OrderedOptions> = {}) => Ordered({ key, ...options });
const bad = (value: unknown): never => value as never;

describe('@Ordered refuses', () => {
  it.each<[string, Type, RegExp]>([
    ['no options', work(Ordered(bad(undefined))), /@Ordered on Orders\.work: undefined .* write \{ key/],
    ['no key', work(Ordered(bad({}))), /key of @Ordered .* undefined is not a function/],
    ['a key by name', work(Ordered(bad({ key: 'id' }))), /key of @Ordered .* 'id' is not a function/],
    ['a misspelt option', work(ordered(bad({ windows: 1 }))), /did you mean 'window'/],
    ['a window of 0', work(ordered({ window: 0 })), /window of @Ordered on Orders\.work: 0 /],
    ['a window above the prefetch of AMQP', work(ordered({ window: 65_536 })), /65536 /],
    ['half a message', work(ordered({ window: 1.5 })), /1\.5 /],
    ['holdAtMost of 0', work(ordered({ holdAtMost: 0 })), /holdAtMost of @Ordered .* 0 is no time at all/],
    ['holdAtMost without a unit', work(ordered({ holdAtMost: '30' })), /has no unit/],
    [
      'more than 25 minutes',
      work(ordered({ holdAtMost: '26m' })),
      /holdAtMost is 1560000 ms, .* after 30 minutes; lower it, to stay below 1500000 ms/,
    ],
    ['@MaxPriority', work(MaxPriority(3), ordered()), /@MaxPriority is beside it, and priorities change the order/],
    [
      'the argument of priorities',
      work(QueueArguments({ 'x-max-priority': 3 }), ordered()),
      /priorities change the order/,
    ],
    [
      'auto-delete',
      classOf('Orders', { work: [Queue({ name: 'work', autoDelete: true }), Consume(), ordered()] }),
      /its queue is 'autoDelete' and goes with its last/,
    ],
    [
      'an exclusive queue',
      classOf('Orders', { work: [Queue({ name: 'work', exclusive: true }), Consume(), ordered()] }),
      /its queue is 'exclusive'/,
    ],
    [
      'several active consumers',
      work(QueueArguments({ 'x-single-active-consumer': false }), ordered()),
      /x-single-active-consumer is true here and false in/,
    ],
    [
      'a prefetch above the window',
      work(Prefetch(20), ordered({ window: 10 })),
      /@Prefetch\(20\) is more than its window \(10\)/,
    ],
    ['twice', work(ordered(), ordered()), /it is there 2 times; write it once/],
    ['a neighbour without it', sharing([ordered()], []), /Orders\.created has @Ordered and Orders\.paid has not/],
    [
      'a neighbour with another window',
      sharing([ordered()], [ordered({ window: 7 })]),
      /differ in window of @Ordered: Orders\.created says 1000, Orders\.paid says 7/,
    ],
    [
      'a wait above holdAtMost',
      work(Retry({ attempts: 12 }), ordered()),
      /waits 1024000 ms before attempt 12, longer than holdAtMost \(300000 ms\)/,
    ],
    [
      'waits of more than 25 minutes together',
      work(Retry({ attempts: 7, backoff: '5m' }), ordered()),
      /the 7 attempts .* in hand for 1800000 ms or more.*x-consumer-timeout/,
    ],
    [
      'time limits of more than 25 minutes together',
      work(Retry({ attempts: 3, backoff: 1, timeout: '10m' }), ordered()),
      /the 3 attempts of a message/,
    ],
  ])('%s', async (_, provider, text) => {
    await expect(start(provider)).rejects.toMatchObject({
      name: 'DlxConfigurationError',
      message: expect.stringMatching(text),
    });
  });

  it('an existing queue without x-single-active-consumer, and shows the difference', async () => {
    const dlx = new DlxTesting({ logger: false });
    const queue = { name: 'work', durable: true, exclusive: false, autoDelete: false, arguments: new Map() };
    await dlx.backend.declare({ exchanges: [], queues: [queue], bindings: [] });
    await expect(dlx.start({ providers: [work(ordered())] })).rejects.toMatchObject({
      name: 'TopologyError',
      message: expect.stringMatching(/x-single-active-consumer/),
    });
    await dlx.close();
  });
});

describe('the time in hand', () => {
  const hour = 3_600_000;
  const of = (policy: RetryPolicy, consumerTimeout?: number) => {
    const retry = planRetry(policy, { queue: 'work', origin: 'here' });
    return timeInHand({ retry, holdAtMost: 300_000, consumerTimeout, origin: '@Ordered on Orders.work' });
  };

  it.each<[RetryPolicy, number]>([
    [{ attempts: 1 }, 0],
    [{ attempts: 4, backoff: '1m' }, 180_000],
    [{ attempts: 4, backoff: ['1s', '2s'] }, 5_000],
    [{ attempts: 5, backoff: { type: 'exponential', delay: 1_000 } }, 15_000],
    [{ attempts: 5, backoff: { type: 'exponential', delay: 1_000, jitter: 'full' } }, 15_000],
    [{ attempts: 1_000_000_000, immediate: 999_999_999, timeout: undefined as never }, 0],
    [{ attempts: 4, immediate: 2, backoff: 700, timeout: 50 }, 900],
    [{ attempts: 4, backoff: () => 1 }, 900_000], // a function may answer any wait up to holdAtMost
  ])('of %o is %d ms', (policy, time) => {
    expect(of(policy).time).toBe(time);
  });

  it('is added up in no time', () => {
    expect(of({ attempts: 1_000_000_000, backoff: 1 }).time).toBeGreaterThan(900_000_000);
  });

  const on = (server: ServerInfo, consumerTimeout?: ConsumerTimeout) => ({
    state: { kind: 'ready', server } as const,
    consumerTimeout,
  });
  const old = { product: 'RabbitMQ', version: '3.10.8' };

  it('may be longer where x-consumer-timeout leaves room for it', () => {
    const later = on({ product: 'RabbitMQ', version: '4.1.2' }, { limit: hour / 2, byQueue: true });
    expect(() => refuseTooLong(of({ attempts: 7, backoff: '5m' }, hour), later)).not.toThrow();
    expect(() => refuseTooLong(of({ attempts: 20, backoff: '5m' }, hour), later)).toThrow(
      /x-consumer-timeout is 3600000/,
    );
    expect(() => refuseTooLong(of({ attempts: 7, backoff: '5m' }), later)).toThrow(/back after 30 minutes/);
    expect(() => refuseTooLong(of({ attempts: 7, backoff: '5m' }, hour), on(old))).toThrow(
      /@Ordered on Orders\.work: RabbitMQ 3\.10\.8 does not know the argument x-consumer-timeout/,
    );
  });

  it.each<[string, number, number, boolean]>([
    ['two hours', 2 * hour, 20, true],
    ['two hours, which are too short', 2 * hour, 30, false],
    ['five minutes', 300_000, 1, false],
    ['no limit', Infinity, 1_000_000_000, true],
  ])('fits the consumer timeout of the server: %s', (_, limit, attempts, fits) => {
    const refuse = () => refuseTooLong(of({ attempts, backoff: '5m' }), on(old, { limit, byQueue: false }));
    if (fits) expect(refuse).not.toThrow();
    else expect(refuse).toThrow(`a server takes a message back after ${limit} ms`);
  });
});

it('the log warns of a queue that drops its first messages, and of one that is not declared here', async () => {
  const warn = vi.fn();
  const logger = { log: () => undefined, error: () => undefined, warn };
  const dlx = new DlxTesting({ logger });
  const queue = { name: 'mine', durable: true, exclusive: false, autoDelete: false, arguments: new Map() };
  await dlx.backend.declare({ exchanges: [], queues: [queue], bindings: [] });
  const Other = classOf('Other', { work: [Queue({ name: 'mine', declare: false }), Consume(), ordered()] });
  await dlx.start({ providers: [work(MaxLength(10), ordered()), Other] });
  const lines = warn.mock.calls.map(([line]) => String(line)).filter((line) => line.startsWith('@Ordered'));
  expect(lines).toEqual([
    expect.stringMatching(/queue 'work' drops its first messages when it is full/),
    expect.stringMatching(/queue 'mine' is not declared here/),
  ]);
  expect(dlx.app.get(DlxBroker).describeTopology()).toContain('work');
  await dlx.close();
});

it('key functions and handlers run in the async context of their own message', async () => {
  const storage = new AsyncLocalStorage<string>();
  const seen: [string, string | undefined][] = [];
  class Orders {
    async work(n: number): Promise<void> {
      seen.push([`handler ${n}`, storage.getStore()]);
      await Promise.resolve();
      storage.enterWith(`of the handler of ${n}`);
      if (n === 1 && seen.length < 6) throw new Error('again');
    }
  }
  const keyed = Ordered({
    key: (n: number) => {
      seen.push([`key ${n}`, storage.getStore()]);
      return 'a';
    },
  });
  const method = Object.getOwnPropertyDescriptor(Orders.prototype, 'work')!;
  for (const decorate of [Consume('work'), Retry({ attempts: 3, backoff: '1s' }), keyed, Idempotent()])
    decorate(Orders.prototype, 'work', method);
  const dlx = await DlxTesting.create({ providers: [Orders] }, { logger: false });
  await storage.run('of the test', async () => {
    for (const n of [1, 2]) await dlx.publish('work', n, { messageId: `${n}` });
    await dlx.advance('1m');
  });
  expect(seen.map(([what]) => what).toSorted()).toEqual([
    'handler 1',
    'handler 1',
    'handler 1',
    'handler 2',
    'key 1',
    'key 2',
  ]);
  expect(seen.filter(([, store]) => store !== undefined)).toEqual([]);
  await dlx.close();
});
