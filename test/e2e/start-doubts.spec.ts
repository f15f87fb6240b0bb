import { Controller, Injectable, Module, type Type } from '@nestjs/common';
import { EventPattern } from '@nestjs/microservices';
import {
  Consume,
  DeadLetter,
  MaxLength,
  MaxLengthBytes,
  Retry,
  sharedBroker,
  Ttl,
  type DlxBrokerOptions,
} from 'dlx-broker';
import { harness } from 'dlx-broker/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { tryApp } from '../docs/tried.js';
import { classOf } from '../harnesses/class-of.js';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const app of opened.splice(0)) await app.close();
});

/** A class `Orders` with a method `handle` under these decorators. */
function orders(...decorators: readonly MethodDecorator[]): Type {
  @Injectable()
  class Orders {
    handle(): void {}
  }
  const descriptor = Object.getOwnPropertyDescriptor(Orders.prototype, 'handle')!;
  for (const decorate of decorators) decorate(Orders.prototype, 'handle', descriptor);
  return Orders;
}

/** The lines of the start of an application that have this text. */
async function linesAbout(text: string, providers: Type[], options: DlxBrokerOptions = {}): Promise<readonly string[]> {
  const { lines } = await tryApp({ providers, options }, opened);
  return lines.filter((line) => line.includes(text));
}

describe('the log warns of dead letters that return to their queue at once', () => {
  const created = Consume({ queue: 'orders', routingKey: 'order.created' });
  const start = "WARN dead letters of queue 'orders' return to it at once and without an end: ";
  const end =
    ', so a message on which Orders.handle fails is handled again and again; write @Retry({ attempts: 3 }) instead of ' +
    '@DeadLetter, or lead the dead letters to another queue';

  it.each([
    ['', 'orders', "the default exchange routes them back by the routing key 'orders'"],
    ['dlx.events', 'order.created', "exchange 'dlx.events' routes them back by the routing key 'order.created'"],
    ['dlx.events', undefined, "exchange 'dlx.events' routes them back by the routing key of their message"],
  ] as const)('by @DeadLetter(%j, %j)', async (exchange, key, why) => {
    const deadLetter = key === undefined ? DeadLetter(exchange) : DeadLetter(exchange, key);
    expect(await linesAbout('return to it', [orders(created, deadLetter)])).toEqual([`${start}${why}${end}`]);
  });

  it('also if the queue has no binding, and keeps the key, which is its name', async () => {
    expect(await linesAbout('return to it', [orders(Consume('orders'), DeadLetter(''))])).toHaveLength(1);
  });

  it.each([
    ['another queue gets them', [created, DeadLetter('dlx.events', 'order.failed')], {}],
    ['a retry policy republishes them', [created, DeadLetter('', 'orders'), Retry({ attempts: 2 })], {}],
    ['the retry policy rejects into a wait queue', [created, Retry({ attempts: 2, backoff: '1s' })], {}],
    [
      'a queue with a time to live is between',
      [created, DeadLetter('', 'orders.wait')],
      { topology: { queues: [{ name: 'orders.wait', ttl: '5s', deadLetter: ['', 'orders'] }] } },
    ],
  ] as const)('and not if %s', async (_, decorators, options) => {
    expect(await linesAbout('return to it', [orders(...decorators)], options)).toEqual([]);
  });
});

describe('the line of a handler says which messages its queue deletes', () => {
  const noDeadLetter = DeadLetter(false);
  it.each([
    [[Ttl('1m'), noDeadLetter], 'failed and expired messages'],
    [[MaxLength(10), noDeadLetter], 'failed and dropped messages'],
    [[MaxLengthBytes(10), noDeadLetter], 'failed and dropped messages'],
    [[Ttl('1m'), MaxLength(10), Retry({ attempts: 2 })], 'expired and dropped messages'],
    [[MaxLength(10, { overflow: 'reject-publish' }), noDeadLetter], 'failed messages'],
    [[MaxLength(10, { overflow: 'reject-publish' }), Retry({ attempts: 2 })], undefined],
    [[Ttl('1m'), DeadLetter('amq.fanout')], undefined],
  ] as const)('case %#', async (decorators, what) => {
    const lines = await linesAbout('are deleted', [orders(Consume('orders'), ...decorators)]);
    expect(lines.map((line) => line.split('; ').at(-1))).toEqual(what === undefined ? [] : [`${what} are deleted`]);
  });

  it('but not if a policy of the broker dead-letters them', async () => {
    const { broker } = harness();
    const definition = { 'dead-letter-exchange': 'amq.fanout' };
    broker.virtualHost('/').setPolicy('dlx', { pattern: '.*', applyTo: 'all', priority: 0, definition });
    const options = { broker: sharedBroker(broker) };
    expect(await linesAbout('are deleted', [orders(Consume('orders'), Ttl('1m'))], options)).toEqual([]);
  });
});

describe('a class that is listed twice is refused', () => {
  @Controller()
  class Listed {
    @Consume('orders')
    @DeadLetter(false)
    handle(): void {}
  }
  @Module({ providers: [Listed] })
  class FirstModule {}
  @Module({ providers: [Listed] })
  class SecondModule {}
  @Module({ controllers: [Listed] })
  class ThirdModule {}
  @Module({ controllers: [Listed] })
  class FourthModule {}
  @Module({ controllers: [Listed], providers: [Listed] })
  class FifthModule {}
  @Module({ providers: [Listed, { provide: 'listed', useClass: Listed }] })
  class SixthModule {}

  it.each([
    [[FirstModule, SecondModule], 'a provider of FirstModule and of SecondModule', 'in one module and export it'],
    [[ThirdModule, FourthModule], 'a controller of ThirdModule and of FourthModule', 'once'],
    [[FirstModule, ThirdModule], 'a provider of FirstModule and a controller of ThirdModule', 'once'],
    [[FifthModule], 'a controller of FifthModule and a provider of FifthModule', 'once'],
    [[SixthModule], 'a provider of SixthModule twice', 'once'],
  ])('case %#', async (imports, places, remedy) => {
    await expect(tryApp({ imports }, opened)).rejects.toThrow(
      `class Listed is ${places}, and Listed.handle would be two handlers: list it ${remedy}`,
    );
  });

  it('also with a pattern of Nest', async () => {
    const Served = classOf(
      'Served',
      {
        handle: [EventPattern<string>('order.created'), DeadLetter(false)],
      },
      Controller(),
    );
    @Module({ controllers: [Served] })
    class OneModule {}
    @Module({ controllers: [Served] })
    class OtherModule {}
    await expect(tryApp({ imports: [OneModule, OtherModule], server: 'started' }, opened)).rejects.toThrow(
      'class Served is a controller of OneModule and of OtherModule, and Served.handle would be two handlers: list it once',
    );
  });
});

describe('a queue that an earlier @Retry has declared', () => {
  const orderQueue = Consume('orders');
  /** The error of a start with these decorators, on the broker of an earlier start with `@Retry`. */
  async function errorWith(...decorators: readonly MethodDecorator[]): Promise<string | undefined> {
    const earlier = orders(orderQueue, Retry({ attempts: 3, backoff: '1s' }));
    const { broker } = await tryApp({ providers: [earlier] }, opened);
    const parts = { providers: [orders(orderQueue, ...decorators)], options: { broker: sharedBroker(broker) } };
    return tryApp(parts, opened).then(
      () => undefined,
      (error: Error) => error.message,
    );
  }

  it.each([
    ['nothing', DeadLetter(false), 'none'],
    ['@DeadLetter', DeadLetter('orders.dlx', 'failed'), "'orders.dlx'"],
  ])('does not fit %s, and the error shows both dead-letter exchanges', async (_, decorator, asked) => {
    expect(await errorWith(decorator)).toContain(
      "queue 'orders' x-dead-letter-exchange: the existing one has 'wait.1000', the " +
        `declaration has ${asked} (Orders.handle)`,
    );
  });

  it('fits another @Retry', async () => {
    expect(await errorWith(Retry({ attempts: 1 }))).toBeUndefined();
  });
});
