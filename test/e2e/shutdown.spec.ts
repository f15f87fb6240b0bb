import { Controller, Injectable, type INestApplicationContext, type Type } from '@nestjs/common';
import { EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import {
  Consume,
  DlxBrokerModule,
  DlxClient,
  Queue,
  Retry,
  type DlxBrokerOptions,
  customBackend,
  sharedBroker,
} from 'dlx-broker';
import { EmbeddedBackend } from 'dlx-broker/engine';
import { createBroker, type Broker } from 'dlx-broker/engine';
import { firstValueFrom, retry, tap } from 'rxjs';
import { setImmediate as soon, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { contextApp, hybrid, microservice, type Parts } from './apps.js';

const amount = 3_000;

/** What handlers of all deployments did, by the number of the message. */
class Ledger {
  readonly begun = new Map<number, number>();
  readonly ended = new Map<number, number>();

  readonly handle = async (id: number): Promise<void> => {
    this.begun.set(id, (this.begun.get(id) ?? 0) + 1);
    for (let turn = id % 7; turn > 0; turn--) await soon();
    if (id % 50 === 0) await sleep(5);
    this.ended.set(id, (this.ended.get(id) ?? 0) + 1);
  };

  get lost(): number {
    return amount - this.ended.size;
  }

  get duplicates(): number {
    return [...this.begun.values()].filter((times) => times > 1).length;
  }
}

function controllerOf({ handle }: Ledger): Type {
  @Controller()
  class Orders {
    @EventPattern('order.created')
    @Queue('orders')
    created(@Payload() id: number): Promise<void> {
      return handle(id);
    }
  }
  return Orders;
}

const kinds: readonly [string, (broker: Broker, ledger: Ledger) => Promise<INestApplicationContext>][] = [
  ['a pure microservice', (broker, ledger) => microservice(parts(broker, { controllers: [controllerOf(ledger)] }))],
  ['a hybrid application', (broker, ledger) => hybrid(parts(broker, { controllers: [controllerOf(ledger)] }))],
  [
    'an application of providers',
    (broker, { handle }) => {
      @Injectable()
      class Orders {
        @Consume({ queue: 'orders', routingKey: 'order.created' })
        @Retry({ attempts: 3, backoff: 10 })
        created(@Payload() id: number): Promise<void> {
          return handle(id);
        }
      }
      return contextApp(parts(broker, { providers: [Orders] }));
    },
  ],
];

const parts = (broker: Broker, own: Parts): Parts => ({
  ...own,
  imports: [DlxBrokerModule.forRoot({ broker: sharedBroker(broker), drainTimeout: '5s', prefetch: 50 })],
});

describe.each(kinds)('%s that is shut down under load', (_, deploy) => {
  it('loses nothing and handles nothing twice', { timeout: 30_000 }, async () => {
    const broker = createBroker();
    const ledger = new Ledger();
    await (await deploy(broker, ledger)).close(); // declares
    let next = 0;
    const load = (async () => {
      const client = new DlxClient({ backend: new EmbeddedBackend(broker) });
      await client.connect();
      while (next < amount) {
        for (let burst = 0; burst < 20 && next < amount; burst++) client.emit('order.created', next++);
        await soon();
      }
    })();
    for (let deployments = 0; ledger.ended.size < amount; deployments++) {
      if (deployments > 500) throw new Error(`stuck: ${ledger.ended.size} of ${amount} are done`);
      const app = await deploy(broker, ledger);
      await sleep(20);
      await app.close();
      // Running handlers have finished, and none begins any more.
      expect([...ledger.begun.keys()].filter((id) => !ledger.ended.has(id))).toEqual([]);
      expect(broker.virtualHost('/').queues.get('orders')?.unacked).toBe(0);
    }
    await load;
    expect([ledger.lost, ledger.duplicates]).toEqual([0, 0]);
    broker.close();
  });
});

describe('a shutdown that does not wait long enough', () => {
  it.each<[string, (broker: Broker) => DlxBrokerOptions]>([
    ['of its own connection', (broker) => ({ broker: sharedBroker(broker) })],
    [
      'of a backend that was lent to it and stays open',
      (broker) => ({ broker: customBackend(new EmbeddedBackend(broker)) }),
    ],
  ])('gives back what was at work, and only that: %s', async (_, where) => {
    const broker = createBroker();
    const begun: number[] = [];
    @Injectable()
    class Slow {
      @Consume({ queue: 'orders', routingKey: 'order.created' })
      created(@Payload() id: number): Promise<void> {
        begun.push(id);
        return new Promise(() => undefined);
      }
    }
    const options = { ...where(broker), drainTimeout: 20, prefetch: 2 };
    const app = await contextApp({ providers: [Slow], imports: [DlxBrokerModule.forRoot(options)] });
    for (const id of [1, 2, 3]) app.get(DlxClient).emit('order.created', id);
    await vi.waitFor(() => expect(begun).toEqual([1, 2]), { timeout: 8_000 });
    await app.close();
    const bodies: unknown[] = [];
    broker
      .virtualHost('/')
      .queues.get('orders')
      ?.peek(({ message, returns }) => {
        bodies.push([Number(Buffer.from(message.body).toString()), returns]);
      });
    expect(bodies).toEqual([
      [1, 1],
      [2, 1],
      [3, 0],
    ]);
    broker.close();
  });
});

it.each([
  ['once', 1],
  ['for ever', Infinity],
])('a request that is sent again %s when it fails ends with its client', async (_, count) => {
  const broker = createBroker();
  let asked = 0;
  @Controller()
  class Slow {
    @MessagePattern('sum')
    @Queue('sums')
    sum(): Promise<number> {
      asked++;
      return new Promise(() => undefined);
    }
  }
  const options = { broker: sharedBroker(broker), drainTimeout: 20 };
  const app = await microservice({ controllers: [Slow], imports: [DlxBrokerModule.forRoot(options)] });
  const client = app.get(DlxClient);
  const failures: unknown[] = [];
  const asking = [client, client.to({ queue: 'sums', envelope: 'nest' })].map((each) =>
    each
      .send('sum', 1)
      .pipe(tap({ error: (error: Error) => failures.push(error.name) }), retry(count))
      .subscribe({ error: () => undefined }),
  );
  await vi.waitFor(() => expect(asked).toBe(2), { timeout: 8_000 });
  await app.close();
  await vi.waitFor(() => expect(failures.filter((name) => name === 'ClientClosedError').length).toBeGreaterThan(1), {
    timeout: 8_000,
  });
  for (const each of asking) each.unsubscribe();
  expect(asked).toBe(2);
  broker.close();
});

it('a request that waits for its answer fails when its client is closed', async () => {
  const broker = createBroker();
  let asked = false;
  @Controller()
  class Slow {
    @MessagePattern('sum')
    sum(): Promise<number> {
      asked = true;
      return new Promise(() => undefined);
    }
  }
  const options = { broker: sharedBroker(broker), drainTimeout: 20 };
  const app = await microservice({ controllers: [Slow], imports: [DlxBrokerModule.forRoot(options)] });
  const answer = firstValueFrom(app.get(DlxClient).send('sum', [1, 2]));
  const failed = expect(answer).rejects.toThrow('the client was closed');
  await vi.waitFor(() => expect(asked).toBe(true), { timeout: 8_000 });
  await app.close();
  await failed;
  broker.close();
});
