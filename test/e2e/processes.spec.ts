import { Injectable, Logger, type Type } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import {
  Consume,
  DeadLetter,
  DlxBroker,
  DlxBrokerModule,
  type DlxBrokerOptions,
  DlxClient,
  Expires,
  HandlerAsync,
  Park,
  Queue,
  Retry,
} from 'dlx-broker';
import { firstValueFrom } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { contextApp, hybrid, handlerOf } from './apps.js';
import { freshBroker, here, until } from './places.js';

afterEach(() => vi.restoreAllMocks());

type App = Awaited<ReturnType<typeof contextApp>>;

const emit = (app: App, routingKey: string, data: unknown): Promise<unknown> =>
  firstValueFrom(app.get(DlxClient).emit(routingKey, data), { defaultValue: undefined });
const messagesIn = async (app: App, queue: string): Promise<number | undefined> =>
  (await app.get(DlxBroker).backend.status(queue))?.messages;

describe('@HandlerAsync', () => {
  it('names queue, keys and retries at the start', async () => {
    const handled: unknown[] = [];
    @Injectable()
    class Orders {
      @HandlerAsync({
        inject: ['QUEUE'],
        useFactory: async (queue: string) => [
          Consume({ queue, exchange: 'shop', routingKey: ['order.*', 'refund.*'] }),
          Retry({ attempts: 2, backoff: 20 }),
        ],
      })
      take(@Payload() order: unknown): void {
        handled.push(order);
        throw new Error('no stock');
      }
    }
    const settings = {
      module: class {},
      global: true,
      providers: [{ provide: 'QUEUE', useValue: 'orders' }],
      exports: ['QUEUE'],
    };
    const app = await contextApp({
      providers: [Orders],
      imports: [settings, DlxBrokerModule.forRoot(here({ events: { name: 'shop', type: 'topic' } }))],
    });
    await emit(app, 'refund.asked', 7);
    await until(async () => expect(await messagesIn(app, 'orders.parked')).toBe(1));
    expect(handled).toEqual([7, 7]);
  });
});

describe('registerHandlers: false', () => {
  const kept: unknown[] = [];
  @Injectable()
  class Worker {
    @Consume({ queue: 'orders', routingKey: 'order.*' })
    @Retry({ attempts: 2, backoff: 20 })
    take(@Payload() order: unknown): void {
      kept.push(order);
    }
    @Consume({ queue: 'mine', routingKey: 'order.*' })
    @Queue({ name: 'mine', autoDelete: true })
    @DeadLetter(false)
    own(): void {}
  }

  it('declares for handlers that are elsewhere, and gives them no messages here', async () => {
    const lines = vi.spyOn(Logger.prototype, 'log');
    const broker = freshBroker();
    const api = await contextApp({ providers: [Worker], options: { broker, registerHandlers: false } });
    await emit(api, 'order.placed', 1);
    expect(await messagesIn(api, 'orders')).toBe(1);
    expect(await messagesIn(api, 'orders.parked')).toBe(0);
    expect(await messagesIn(api, 'mine')).toBeUndefined();
    expect(api.get(DlxBroker).handlers).toEqual([]);
    expect(await api.get(DlxBroker).health()).toMatchObject({ isReady: true });
    const said = lines.mock.calls.map(([line]) => String(line)).filter((line) => line.includes('registerHandlers'));
    expect(said).toEqual(['handlers get no messages in this process, which only publishes (option registerHandlers)']);
    await contextApp({ providers: [Worker], options: { broker } });
    await until(() => expect(kept).toEqual([1]));
  });

  it("holds for handlers of Nest's transport", async () => {
    const handled: unknown[] = [];
    const controllers = [handlerOf('EventPattern', (data) => handled.push(data), [Queue('work'), DeadLetter(false)])];
    const broker = freshBroker();
    const api = await hybrid({ controllers, options: { broker, registerHandlers: false } });
    await emit(api, 'work', 1);
    expect(await messagesIn(api, 'work')).toBe(1);
    await hybrid({ controllers, options: { broker } });
    await until(() => expect(handled).toEqual([1]));
  });
});

describe('a queue for each replica', () => {
  let started = 0;
  function replica(above: (name: string) => readonly MethodDecorator[]) {
    const got: unknown[] = [];
    const name = `prices.${++started}`;
    const take = (price: unknown): void => {
      got.push(price);
      if (price === 0) throw new Error('free of charge');
      if (price === -1) throw new Park('a negative price');
    };
    const Prices: Type = handlerOf('Consume', take, above(name), { name: 'Prices', routingKey: 'price.*' });
    return { got, name, Prices };
  }
  async function replicas(above: (name: string) => readonly MethodDecorator[], options: DlxBrokerOptions = {}) {
    const broker = freshBroker();
    const all = [replica(above), replica(above)] as const;
    const apps: App[] = [];
    for (const { Prices } of all) apps.push(await contextApp({ providers: [Prices], options: { broker, ...options } }));
    return { all, apps: apps as [App, App] };
  }

  it.each<readonly [string, (name: string) => readonly MethodDecorator[]]>([
    ['that expires', (name) => [Queue(name), Expires('10m')]],
    ['that is auto-delete', (name) => [Queue({ name, autoDelete: true })]],
    ['that is exclusive', (name) => [Queue({ name, exclusive: true, durable: false })]],
  ])('gets each message there, and all park in one place: one %s', async (_, above) => {
    const { all, apps } = await replicas((name) => [...above(name), Retry({ attempts: 2, backoff: 20 })]);
    const [app] = apps;
    for (const price of [5, 0]) await emit(app, 'price.changed', price);
    await until(async () => expect(await messagesIn(app, 'Prices.work.parked')).toBe(2));
    for (const { got, name } of all) {
      expect(got).toEqual([5, 0, 0]);
      expect(await messagesIn(app, `${name}.parked`)).toBeUndefined();
    }
  });

  it('parks in one place without a policy', async () => {
    const { apps } = await replicas((name) => [Queue({ name, autoDelete: true }), DeadLetter(false)]);
    await emit(apps[0], 'price.changed', -1);
    await until(async () => expect(await messagesIn(apps[0], 'Prices.work.parked')).toBe(2));
  });

  it('goes with its replica, if it is auto-delete', async () => {
    const { all, apps } = await replicas((name) => [Queue({ name, autoDelete: true }), DeadLetter(false)]);
    await apps[1].close();
    await until(async () => expect(await messagesIn(apps[0], all[1].name)).toBeUndefined());
    await emit(apps[0], 'price.changed', 5);
    await until(() => expect(all[0].got).toEqual([5]));
  });

  it('holds up no retries of other queues when it goes, on a cluster', async () => {
    const broker = freshBroker();
    const options = { broker, clusterTopology: true };
    const policy = { attempts: 2, backoff: 500 };
    const { Prices } = replica((name) => [Queue({ name, autoDelete: true }), Retry(policy)]);
    const gone = await contextApp({ providers: [Prices], options });
    await Promise.all(Array.from({ length: 100 }, () => emit(gone, 'price.changed', 0)));
    await until(() => expect(gone.get(DlxBroker).counts.retried).toBe(100));
    await gone.close();
    let attempts = 0;
    const take = (): void => {
      if (++attempts === 1) throw new Error('no stock');
    };
    const Orders = handlerOf('Consume', take, [Queue('orders'), Retry(policy)], {
      name: 'Orders',
      routingKey: 'order',
    });
    const app = await contextApp({ providers: [Orders], options });
    await emit(app, 'order', 1);
    await until(() => expect(app.get(DlxBroker).counts).toMatchObject({ retried: 1, acked: 1 }));
  });
});
