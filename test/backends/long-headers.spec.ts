import { NestFactory } from '@nestjs/core';
import { Ctx } from '@nestjs/microservices';
import { Consume, DeadLetters, DlxBrokerModule, DlxContext, rabbitmq, Retry, RetryLater } from 'dlx-broker';
import { retryWithBackoff } from 'dlx-broker/streams';
import { describe, expect, it } from 'vitest';
import { type FieldTable, longstr } from '../../libs/dlx-broker/src/engine/message/index.js';
import { endsAfterEach } from '../harnesses/ends.js';
import { serverKinds } from './worlds.js';
import { classOf } from '../harnesses/class-of.js';

/** Bytes of the properties that fit into one frame of these servers. */
const room = 131_072 - 8 - 12;
/** Flags, delivery mode, length of the table, and the name, type and length of one header. */
const fixed = 2 + 1 + 4 + 2 + 1 + 4;

const filling = (free: number): FieldTable => new Map([['h', longstr('x'.repeat(room - fixed - free))]]);

for (const kind of serverKinds) {
  const unavailable = await kind.unavailable();
  if (unavailable !== undefined) console.warn(`SKIPPED: long headers on ${kind.name}: ${unavailable}`);

  describe.skipIf(unavailable !== undefined)(`a message on ${kind.name} whose headers nearly fill a frame`, () => {
    const ends = endsAfterEach();

    async function arrange(...providers: readonly (new () => object)[]) {
      const world = await kind.open();
      ends.push(() => world.close());
      const seen: number[] = [];
      const lots: FieldTable[] = [];
      class Failing {
        @Consume({ queue: 'work' })
        // Of two lengths, so that it is republished and not rejected.
        @Retry({ attempts: 3, backoff: [1, 50] })
        work(@Ctx() context: DlxContext): void {
          seen.push(context.attempt);
          throw new Error('refused '.repeat(50));
        }
      }
      const log: string[] = [];
      const noted = (text: unknown): void => void log.push(String(text));
      const none = (): void => undefined;
      const app = await NestFactory.createApplicationContext(
        {
          module: class {},
          providers: providers.length > 0 ? [...providers] : [Failing],
          imports: [
            DlxBrokerModule.forRoot({
              broker: rabbitmq({ urls: world.url! }),
              topology: { queues: [{ name: 'work' }, { name: 'work.parked' }] },
            }),
          ],
        },
        { logger: { log: none, warn: noted, error: none }, abortOnError: false },
      );
      ends.push(() => app.close());
      const { backend } = world;
      await backend.connect();
      backend.consume('work.parked', { prefetch: 10 }, (delivery) => {
        lots.push(delivery.message.own.headers!);
        delivery.ack();
      });
      const publish = (free: number): Promise<void> =>
        new Promise((resolve, reject) => {
          const properties = { deliveryMode: 2, headers: filling(free) } as const;
          const done = (failure?: Error): void => (failure === undefined ? resolve() : reject(failure));
          backend.publish(
            { exchange: '', routingKey: 'work', properties, body: Buffer.from('{}'), mandatory: true },
            done,
          );
        });
      return { app, seen, lots, log, publish };
    }

    it.each([
      // Headers of more than 64 KB have no history of errors; the others fit.
      [4_000, [1, 2, 3], 'dlx-error-message', 'without the history of its errors'],
      [200, [1, 2, 3], 'dlx-first-routing-key', 'without the texts of its error'],
      [100, [1, 2, 3], 'dlx-attempt', 'without its error and its origin'],
      [0, [1], 'h', 'without all headers about its attempts'],
    ])('and leave %d bytes is parked', async (free, attempts, header, warning) => {
      const { seen, lots, log, publish } = await arrange();
      await publish(free);
      await expect.poll(() => lots.length, { timeout: 6_000 }).toBe(1);
      expect(seen).toEqual(attempts);
      const names = [...lots[0]!.keys()];
      expect(names).toContain(header);
      expect(lots[0]!.get('h')).toEqual(filling(free).get('h'));
      const about = log.filter((line) => line.includes("a message of queue 'work'"));
      expect(about.at(-1)).toContain(warning);
      await expect(publish(-1)).rejects.toThrow('do not fit into a frame');
    });

    it('and leave no byte is parked by a RetryLater without a policy', async () => {
      class Later {
        @Consume({ queue: 'work' })
        work(): void {
          throw new RetryLater('1ms');
        }
      }
      const { lots, publish } = await arrange(Later);
      await publish(0);
      await expect.poll(() => lots.length, { timeout: 6_000 }).toBe(1);
      expect(lots[0]!.get('h')).toEqual(filling(0).get('h'));
    });

    it('and leave no byte is parked by retryWithBackoff, and the stream goes on', async () => {
      const Work = classOf('Work', { other: [Consume({ queue: 'other' })] });
      const { app, lots, publish } = await arrange(Work);
      const outcomes: string[] = [];
      const retried = app
        .get(DeadLetters)
        .from('work')
        .pipe(retryWithBackoff({ attempts: 3, backoff: 60_000 }));
      const subscription = retried.subscribe(({ outcome }) => outcomes.push(outcome.kind));
      ends.push(() => subscription.unsubscribe());
      await publish(0);
      await publish(4_000);
      await expect.poll(() => outcomes.length, { timeout: 6_000 }).toBe(2);
      expect(outcomes.sort()).toEqual(['parked', 'retried']);
      expect(lots).toHaveLength(1);
    });
  });
}
