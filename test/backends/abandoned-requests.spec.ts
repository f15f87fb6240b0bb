import { Controller } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { MessagePattern } from '@nestjs/microservices';
import { DlxBroker, DlxBrokerModule, DlxServer, rabbitmq } from 'dlx-broker';
import { interval, Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { endsAfterEach } from '../harnesses/ends.js';
import { serverKinds } from './worlds.js';

for (const kind of serverKinds) {
  const unavailable = await kind.unavailable();
  if (unavailable !== undefined) console.warn(`SKIPPED: abandoned requests on ${kind.name}: ${unavailable}`);

  describe.skipIf(unavailable !== undefined)(
    `a handler on ${kind.name} that answers by a stream without an end`,
    () => {
      const ends = endsAfterEach();

      async function arrange() {
        const world = await kind.open();
        ends.push(() => world.close());
        const streams = { running: 0 };
        @Controller()
        class Ticking {
          @MessagePattern('ticks')
          ticks(): Observable<number> {
            return new Observable((subscriber) => {
              streams.running++;
              return interval(5)
                .subscribe(subscriber)
                .add(() => streams.running--);
            });
          }
        }
        const app = await NestFactory.create(
          {
            module: class {},
            controllers: [Ticking],
            imports: [DlxBrokerModule.forRoot({ broker: rabbitmq({ urls: world.url! }) })],
          },
          { logger: false, abortOnError: false },
        );
        ends.push(() => app.close());
        app.connectMicroservice({ strategy: app.get(DlxServer) }, { inheritAppConfig: true });
        await app.startAllMicroservices();
        await app.init();
        const { backend } = world;
        await backend.connect();
        await backend.declare({
          exchanges: [],
          queues: [
            {
              name: 'answers',
              durable: true,
              exclusive: false,
              autoDelete: false,
              arguments: new Map(),
              origin: undefined,
            },
          ],
          bindings: [],
        });
        const properties = { replyTo: 'answers', correlationId: '1' };
        backend.publish({ exchange: 'dlx.requests', routingKey: 'ticks', properties, body: Buffer.from('{}') });
        await expect.poll(() => streams.running).toBe(1);
        await expect.poll(async () => (await backend.status('answers'))?.messages).toBeGreaterThan(1);
        return { world, streams, counts: () => app.get(DlxBroker).counts };
      }

      it('ends with the first answer that comes back, because its reply queue was deleted', async () => {
        const { world, streams, counts } = await arrange();
        await world.deleteQueue('answers');
        // Sooner than a look at the queue, which comes every five seconds.
        await expect.poll(() => streams.running, { timeout: 3_000, interval: 5 }).toBe(0);
        await expect.poll(counts).toMatchObject({ acked: 1, rejected: 0 });
      });
    },
  );
}
