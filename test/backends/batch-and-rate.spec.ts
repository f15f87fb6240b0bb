import { Injectable, type INestApplicationContext, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import {
  Batch,
  Consume,
  customBackend,
  type DlxBatchContext,
  DlxBroker,
  DlxBrokerModule,
  Park,
  RateLimit,
  Retry,
} from 'dlx-broker';
import { describe, expect, it, vi } from 'vitest';
import type { Backend } from '../../libs/dlx-broker/src/backends/index.js';
import { endsAfterEach } from '../harnesses/ends.js';
import { connectedTo, worldKinds } from './worlds.js';

const soon = { timeout: 15_000, interval: 20 } as const;

for (const kind of worldKinds) {
  const unavailable = await kind.unavailable();
  if (unavailable !== undefined) console.warn(`SKIPPED: batches and rate limits on ${kind.name}: ${unavailable}`);

  describe.skipIf(unavailable !== undefined)(`on ${kind.name}`, () => {
    const ends = endsAfterEach();

    async function arrange(backend: Backend, provider: Type) {
      const module = {
        module: class {},
        imports: [DlxBrokerModule.forRoot({ prefetch: 2, broker: customBackend(backend) })],
        providers: [provider],
      };
      const app: INestApplicationContext = await NestFactory.createApplicationContext(module, {
        logger: false,
        abortOnError: false,
      });
      ends.push(() => app.close());
      const publish = async (ids: readonly number[]): Promise<void> => {
        const properties = { deliveryMode: 2, contentType: 'application/json' } as const;
        for (const id of ids) {
          const body = Buffer.from(JSON.stringify({ id }));
          await new Promise<void>((resolve, reject) =>
            backend.publish({ exchange: '', routingKey: 'work', properties, body }, (failure) =>
              failure === undefined ? resolve() : reject(failure),
            ),
          );
        }
      };
      return { app, publish, counts: () => app.get(DlxBroker).counts };
    }

    it('a batch is larger than the prefetch of the module, and each of its messages has its own end', async () => {
      const backend = await connectedTo(kind, ends);
      const batches: string[][] = [];
      @Injectable()
      class Worker {
        @Consume('work')
        @Batch({ size: 4, within: '1m' })
        @Retry({ attempts: 2, backoff: '50ms' })
        work(@Payload() data: { id: number }[], @Ctx() { messages }: DlxBatchContext): unknown {
          batches.push(data.map(({ id }, place) => `${id}:${messages[place]!.attempt}`));
          const each = async ({ id }: { id: number }): Promise<void> => {
            if (id === 2) throw new Park('why', { headers: { ticket: 'A-2' } });
            if (id === 3) throw new Error('no');
          };
          return Promise.allSettled(data.map(each));
        }
      }
      const { app, publish, counts } = await arrange(backend, Worker);
      await publish([1, 2, 3, 4]);
      await vi.waitFor(() => expect(counts()).toMatchObject({ acked: 2, parked: 1, retried: 1 }), soon);
      expect(batches).toEqual([['1:1', '2:1', '3:1', '4:1']]);
      await publish([5, 6]);
      await vi.waitFor(async () => expect(await backend.status('work')).toMatchObject({ messages: 0 }), soon);
      await vi.waitFor(async () => expect(await backend.status('wait.50')).toMatchObject({ messages: 0 }), soon);
      await new Promise((resolve) => setImmediate(resolve));
      const before = Date.now();
      await app.get(DlxBroker).drain(); // the batch is not full, and starts without the minute
      expect(Date.now() - before).toBeLessThan(20_000);
      expect(counts().acked).toBe(4);
    });

    it('a rate limit holds, uses no attempt and follows a change', async () => {
      const backend = await connectedTo(kind, ends);
      const begun: number[] = [];
      @Injectable()
      class Worker {
        @Consume('work')
        @RateLimit({ limit: 2, per: '150ms' })
        @Retry({ attempts: 1 })
        work(): void {
          begun.push(performance.now());
        }
      }
      const { app, publish, counts } = await arrange(backend, Worker);
      const ids = Array.from({ length: 8 }, (_, id) => id);
      await publish(ids);
      await vi.waitFor(() => expect(counts().acked).toBe(8), soon);
      // A millisecond for the clock of the broker, which has whole ones.
      for (let place = 2; place < 8; place++) expect(begun[place]! - begun[place - 2]!).toBeGreaterThan(140);
      app.get(DlxBroker).handler('Worker.work').setRateLimit({ limit: 1_000, per: '1s' });
      await publish(ids);
      await vi.waitFor(() => expect(counts().acked).toBe(16), soon);
      app.get(DlxBroker).handler('Worker.work').setRateLimit({ limit: 1, per: '1h' });
      await publish(ids);
      await vi.waitFor(
        async () => expect(await backend.status('work')).toMatchObject({ messages: 8, consumers: 0 }),
        soon,
      );
      app.get(DlxBroker).handler('Worker.work').setRateLimit({ limit: 1_000, per: '1s' });
      await vi.waitFor(() => expect(counts()).toMatchObject({ acked: 24, parked: 0, held: 0, retried: 0 }), soon);
    });
  });
}
