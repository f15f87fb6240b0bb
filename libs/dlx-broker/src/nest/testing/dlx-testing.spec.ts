import { Controller, Injectable, Module } from '@nestjs/common';
import { EventPattern, Payload } from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { Consume, DlxBrokerModule, getDlxToken, Retry } from '../index.js';
import { DeadLetters, retryWithBackoff } from '../streams/index.js';
import { DlxTesting, type DlxTestingOptions, UnsettledError } from './dlx-testing.js';

const running: DlxTesting[] = [];
const testing = (options: DlxTestingOptions = {}): DlxTesting => {
  const dlx = new DlxTesting({ logger: false, ...options });
  running.push(dlx);
  return dlx;
};

afterEach(async () => {
  for (const dlx of running.splice(0)) await dlx.close();
});

/** Fails on every message until it has failed often enough, and notes when it was called. */
@Injectable()
class Orders {
  readonly calls: [id: number, second: number][] = [];
  failures = Infinity;
  clock = { now: () => 0 };

  @Consume('orders')
  @Retry({ attempts: 4, backoff: { type: 'exponential', delay: '10s' } })
  async handle(@Payload() order: { id: number }): Promise<void> {
    await Promise.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    this.calls.push([order.id, this.clock.now() / 1_000]);
    if (this.failures-- > 0) throw new Error('not yet');
  }
}

@Controller()
class Events {
  readonly seen: unknown[] = [];

  @EventPattern<string>('order.created')
  created(@Payload() data: unknown): void {
    this.seen.push(data);
  }
}

@Injectable()
class Stuck {
  @Consume('stuck')
  handle(): Promise<void> {
    return new Promise(() => {});
  }
}

describe('a test of an application', () => {
  it('sees three steps of backoff and the parking lot, in no real time', async () => {
    const dlx = testing({ start: 0 });
    const app = await dlx.start({ providers: [Orders] });
    const orders = app.get(Orders);
    orders.clock = dlx.clock;
    await dlx.publish('orders', { id: 7 });
    const began = performance.now();
    await dlx.advance('30s');
    expect(orders.calls).toEqual([
      [7, 0],
      [7, 10],
      [7, 30],
    ]);
    await dlx.advance('1h');
    expect(orders.calls).toEqual([
      [7, 0],
      [7, 10],
      [7, 30],
      [7, 70],
    ]);
    expect(dlx.queue('orders.parked').payloads()).toEqual([{ id: 7 }]);
    expect(dlx.queue('orders')).toMatchObject({ ready: 0, unacknowledged: 0 });
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  it('sees a message that succeeds in the end and is gone', async () => {
    const dlx = testing();
    const orders = (await dlx.start({ providers: [Orders] })).get(Orders);
    orders.failures = 2;
    await dlx.publish('orders', { id: 1 });
    await dlx.advance('1h');
    expect(orders.calls).toHaveLength(3);
    for (const name of ['orders', 'orders.parked', 'wait.10000', 'wait.20000']) {
      expect(dlx.queue(name)).toMatchObject({ ready: 0, unacknowledged: 0 });
    }
  });

  it('lets many messages come and go at their own times, deterministically', async () => {
    const run = async (): Promise<Orders['calls']> => {
      const dlx = testing({ start: 0 });
      const orders = (await dlx.start({ providers: [Orders] })).get(Orders);
      orders.clock = dlx.clock;
      for (let id = 0; id < 5; id++) {
        await dlx.publish('orders', { id });
        await dlx.advance('3s');
      }
      await dlx.advance('10m');
      return orders.calls;
    };
    const calls = await run();
    expect(calls).toHaveLength(20);
    expect(calls.filter(([id]) => id === 3)).toEqual([
      [3, 9],
      [3, 19],
      [3, 39],
      [3, 79],
    ]);
    expect(calls.map(([, second]) => second)).toEqual(calls.map(([, second]) => second).sort((a, b) => a - b));
    expect(await run()).toEqual(calls);
  });

  it('reaches event patterns as well', async () => {
    const dlx = testing();
    const events = (await dlx.start({ controllers: [Events] })).get(Events);
    await dlx.publish({ exchange: 'dlx.events', routingKey: 'order.created' }, { id: 1 });
    await dlx.settled();
    expect(events.seen).toEqual([{ id: 1 }]);
  });

  it('moves streams of dead letters too', async () => {
    const dlx = testing();
    const app = await dlx.start({ providers: [Orders] });
    app.get(Orders).failures = 5;
    await dlx.publish('orders', { id: 1 });
    await dlx.advance('70s');
    const letters = app.get<DeadLetters>(getDlxToken(DeadLetters));
    const again = { attempts: 5, backoff: { type: 'fixed', delay: '1h' } } as const;
    const subscription = letters.from('orders.parked').pipe(retryWithBackoff(again)).subscribe();
    await dlx.settled();
    expect(dlx.queue('wait.3600000').ready).toBe(1);
    subscription.unsubscribe();
    await dlx.advance('1h');
    expect(app.get(Orders).calls).toHaveLength(5); // the fifth attempt is beyond the policy of the handler, and is the last
    expect(dlx.queue('orders.parked').payloads()).toEqual([{ id: 1 }]);
  });
});

@Module({ imports: [DlxBrokerModule.forRoot({ drainTimeout: 0 })], controllers: [Events], providers: [Stuck, Orders] })
class App {}

describe('a test of a whole application', () => {
  it('has no circuits and handlers before it is watched, and says so', () => {
    for (const early of [() => testing().circuit('bank'), () => testing().handler('Payments.pay')])
      expect(early).toThrow('no application is watched; call start(), or watch(app) first');
  });

  it('puts its broker in the place of the one the application brings along', async () => {
    const dlx = testing();
    const app = await dlx.startModule(
      Test.createTestingModule({ imports: [App] })
        .overrideProvider(Stuck)
        .useValue({}),
    );
    await dlx.publish({ exchange: 'dlx.events', routingKey: 'order.created' }, 'seen');
    await dlx.publish('orders', { id: 1 });
    await dlx.advance('10s');
    expect(app.get(Events).seen).toEqual(['seen']);
    expect(app.get(Orders).calls).toHaveLength(2);
    await expect(dlx.start({})).rejects.toThrow('running already');
  });
});

describe('waiting for handlers', () => {
  it('says how to start a module that imports DlxBrokerModule itself', async () => {
    @Module({ imports: [DlxBrokerModule.forRoot()], providers: [Orders] })
    class AppModule {}

    await expect(testing().start({ imports: [AppModule] })).rejects.toThrow(/DlxTesting adds one: .* startModule\(/);
  });

  it('fails with the names of the queues when one never settles', async () => {
    const dlx = testing({ timeout: 20 });
    await dlx.start({ providers: [Stuck] });
    await dlx.publish('stuck', 1);
    await expect(dlx.settled()).rejects.toThrow(UnsettledError);
    await expect(dlx.advance(1)).rejects.toThrow(/1 of 'stuck'/);
    await dlx.advance(1, { except: ['stuck'] });
  });
});

describe('looking into a queue', () => {
  it('shows what waits there and changes nothing', async () => {
    const dlx = testing({ start: 0 });
    await dlx.start({ providers: [Orders] });
    await dlx.publish('orders', { id: 1 }, { messageId: 'm' });
    await dlx.settled();
    const look = () => dlx.queue('wait.10000').messages();
    expect(look()).toMatchObject([
      { payload: { id: 1 }, exchange: 'wait.10000', routingKey: 'orders', redelivered: false, expiresAt: 10_000 },
    ]);
    expect(look()).toEqual(look());
    expect(look()[0]!.properties.messageId).toBe('m');
    expect(dlx.queue('no such queue').exists).toBe(false);
    expect(() => dlx.queue('no such queue').messages()).toThrow(/^there is no queue 'no such queue'$/);
    expect(() => dlx.queue('orders.prked').messages()).toThrow(
      "there is no queue 'orders.prked'; did you mean 'orders.parked'?",
    );
  });

  it('refuses to publish after its end, until an application is started again', async () => {
    const dlx = testing();
    await dlx.start({ providers: [Orders] });
    await dlx.close();
    await expect(dlx.publish('orders', 1)).rejects.toThrow(
      /^DlxTesting.publish: the application was closed by close\(\)/,
    );
    await dlx.start({ providers: [Orders] });
    await dlx.publish('orders', 1);
  });

  it('refuses to publish what no queue gets', async () => {
    const dlx = testing();
    await dlx.start({ providers: [Orders] });
    await expect(dlx.publish('nowhere', 1)).rejects.toThrow(/NO_ROUTE[^;]*$/);
    await expect(dlx.publish('ordres', 1)).rejects.toThrow(/NO_ROUTE.*; did you mean 'orders'\?$/);
    await expect(dlx.publish({ exchange: 'dlx.event', routingKey: 'a' }, 1)).rejects.toThrow(
      /NOT_FOUND.*; did you mean 'dlx.events'\?$/,
    );
  });
});
