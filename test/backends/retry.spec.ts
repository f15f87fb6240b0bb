import { Injectable, type INestApplicationContext, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import {
  Consume,
  DeadLetter,
  DeadLetters,
  DlxBroker,
  DlxBrokerModule,
  DlxContext,
  Drop,
  Idempotent,
  Park,
  Redrives,
  Reject,
  Retry,
  RetryLater,
  type DlxBrokerOptions,
  type IdempotencyStore,
  type RetryPolicy,
  customBackend,
} from 'dlx-broker';
import { retryWithBackoff } from 'dlx-broker/streams';
import { describe, expect, it, vi } from 'vitest';
import type { Backend } from '../../libs/dlx-broker/src/backends/index.js';
import { longstr, Message } from '../../libs/dlx-broker/src/engine/message/index.js';
import { connectedTo, worldKinds } from './worlds.js';
import { endsAfterEach } from '../harnesses/ends.js';
import { queueNamed, topologyOf } from '../harnesses/declared.js';

/** What a message tells in the end, as far as it is the same everywhere. */
const told = [
  'dlx-attempt',
  'dlx-queue',
  'dlx-first-exchange',
  'dlx-first-routing-key',
  'dlx-parked',
  'dlx-error-class',
  'dlx-error-message',
];

for (const kind of worldKinds) {
  const unavailable = await kind.unavailable();
  if (unavailable !== undefined) console.warn(`SKIPPED: retries on ${kind.name}: ${unavailable}`);

  describe.skipIf(unavailable !== undefined)(`retries on ${kind.name}`, () => {
    const ends = endsAfterEach();

    const open = (): Promise<Backend> => connectedTo(kind, ends);

    async function start(
      backend: Backend,
      provider: Type,
      options: DlxBrokerOptions = {},
    ): Promise<INestApplicationContext> {
      const module = {
        module: class {},
        imports: [DlxBrokerModule.forRoot({ ...options, broker: customBackend(backend) })],
        providers: [provider],
      };
      const app = await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
      ends.push(() => app.close());
      return app;
    }

    /** One handler of the queue `work`, which does what the test says. */
    async function arrange(policy: RetryPolicy | undefined, work: (context: DlxContext) => unknown, ready?: Backend) {
      const backend = ready ?? (await open());
      const attempts: number[] = [];
      const times: number[] = [];
      @Injectable()
      class Worker {
        @Consume({ queue: 'work', exchange: 'shop', routingKey: 'order.#' })
        @(policy === undefined ? DeadLetter({ exchange: '', routingKey: 'dead' }) : Retry(policy))
        handle(@Payload() _: unknown, @Ctx() context: DlxContext): unknown {
          attempts.push(context.attempt);
          times.push(Date.now());
          expect(context.getPattern()).toBe('order.created');
          return work(context);
        }
      }
      await backend.declare(topologyOf(queueNamed('dead')));
      const app = await start(backend, Worker);
      await vi.waitFor(async () => expect(await backend.status('work')).toMatchObject({ consumers: 1 }), {
        timeout: 8_000,
      });
      const publish = (): Promise<void> =>
        new Promise((resolve, reject) =>
          backend.publish(
            {
              exchange: 'shop',
              routingKey: 'order.created',
              properties: { deliveryMode: 2, contentType: 'application/json' },
              body: Buffer.from('{"id":1}'),
              mandatory: true,
            },
            (failure) => (failure === undefined ? resolve() : reject(failure)),
          ),
        );
      await publish();
      return { app, backend, attempts, times, counts: () => app.get(DlxBroker).counts };
    }

    /** Waits for a message in a queue. */
    async function arrived(backend: Backend, queue: string): Promise<Readonly<Record<string, unknown>>> {
      const message = await new Promise<Message>((resolve) => {
        const consumption = backend.consume(queue, { prefetch: 1 }, (delivery) => {
          resolve(delivery.message);
          delivery.ack();
          setImmediate(() => consumption.close());
        });
      });
      const headers = message.properties.headers;
      return Object.fromEntries(
        told.map((name) => [name, headers?.get(name)?.value]).filter(([, value]) => value !== undefined),
      );
    }

    const failing = (): never => {
      throw new TypeError('down');
    };
    const parked = (attempt: number, name = 'TypeError', message = 'down') => ({
      'dlx-attempt': attempt,
      'dlx-queue': 'work',
      'dlx-first-exchange': 'shop',
      'dlx-first-routing-key': 'order.created',
      'dlx-parked': true,
      'dlx-error-class': name,
      'dlx-error-message': message,
    });

    // The plain client is a part of these tests, and does not say which message cannot be sent.
    it.skipIf(kind.name.includes('plain client'))(
      'a message whose headers leave no room in a frame for the texts of an error is retried and parked without them',
      async () => {
        const backend = await open();
        const attempts: number[] = [];
        @Injectable()
        class Worker {
          @Consume('work')
          @Retry({ attempts: 3, backoff: { type: 'exponential', delay: 50 } })
          handle(@Ctx() context: DlxContext): never {
            attempts.push(context.attempt);
            throw new TypeError('down '.repeat(2_000));
          }
        }
        await start(backend, Worker);
        const big = longstr('x'.repeat(129_000));
        backend.publish({
          exchange: '',
          routingKey: 'work',
          properties: { deliveryMode: 2, headers: new Map([['big', big]]) },
          body: Buffer.from('1'),
          mandatory: true,
        });
        await vi.waitFor(async () => expect(await backend.status('work.parked')).toMatchObject({ messages: 1 }), 5_000);
        const message = await new Promise<Message>((resolve) => {
          backend.consume('work.parked', { prefetch: 1 }, (delivery) => resolve(delivery.message));
        });
        const headers = message.properties.headers!;
        expect([attempts, headers.get('big'), headers.get('dlx-attempt')?.value]).toEqual([[1, 2, 3], big, 3]);
        expect(headers.get('dlx-error-class')?.value).toBe('TypeError');
      },
    );

    it.each<[string, RetryPolicy, number]>([
      ['a fixed delay, by reject', { attempts: 3, backoff: 100 }, 200],
      ['a fixed delay with a deadline, by republishing', { attempts: 3, backoff: 100, deadline: '1m' }, 200],
      ['an exponential backoff', { attempts: 3, backoff: { type: 'exponential', delay: 50 } }, 150],
      ['a linear backoff', { attempts: 3, backoff: { type: 'linear', delay: 50, increment: 20 } }, 120],
      ['a list of delays', { attempts: 4, backoff: [20, 40, 60] }, 120],
      ['a function', { attempts: 3, backoff: (attempt) => attempt * 40 }, 196],
      ['jitter', { attempts: 3, backoff: { type: 'fixed', delay: 100, jitter: 'equal' } }, 100],
      ['retries without a wait', { attempts: 3, immediate: 2 }, 0],
    ])('%s: attempts are counted, waits are waited, and the end is the parking lot', async (_, policy, least) => {
      const { backend, attempts, times } = await arrange(policy, failing);
      expect(await arrived(backend, 'work.parked')).toEqual(parked(policy.attempts));
      expect(attempts).toEqual(Array.from({ length: policy.attempts }, (__, index) => index + 1));
      expect(times.at(-1)! - times[0]!).toBeGreaterThanOrEqual(least - 2);
    });

    it('a success at last is the end of it', async () => {
      const { backend, attempts, counts } = await arrange({ attempts: 5, backoff: 30 }, ({ attempt }) => {
        if (attempt < 3) throw new Error('down');
      });
      await vi.waitFor(() => expect(counts()).toMatchObject({ acked: 1, retried: 2 }), { timeout: 8_000 });
      expect(attempts).toEqual([1, 2, 3]);
      expect(await backend.status('work')).toMatchObject({ messages: 0 });
    });

    it.each<[string, () => unknown, string, Readonly<Record<string, unknown>>]>([
      ['Park', () => new Park('no'), 'work.parked', parked(1, 'Park', 'no')],
      ['RetryLater, up to the limit', () => new RetryLater(20, 'soon'), 'work.parked', parked(2, 'RetryLater', 'soon')],
    ])('%s', async (_, thrown, queue, headers) => {
      const { backend } = await arrange({ attempts: 2, backoff: '1h' }, () => {
        throw thrown();
      });
      expect(await arrived(backend, queue)).toEqual(headers);
    });

    it('a message that waits for its duplicate has not failed', async () => {
      const known: unknown[] = [];
      const claims: ('busy' | 'claimed' | 'done')[] = ['busy'];
      const idempotencyStore: IdempotencyStore = {
        claim: () => claims.shift() ?? 'claimed',
        done: () => undefined,
        release: () => undefined,
      };
      @Injectable()
      class Worker {
        @Consume({ queue: 'work' })
        @Idempotent({ key: () => 'k' })
        handle(@Ctx() { attempt, failingSince, lastError }: DlxContext): void {
          known.push({ attempt, failingSince, lastError });
        }
      }
      const backend = await open();
      await start(backend, Worker, { idempotencyStore });
      backend.publish({ exchange: '', routingKey: 'work', properties: {}, body: Buffer.from('{}') });
      await vi.waitFor(() => expect(known).toHaveLength(1), { timeout: 5_000 });
      expect(known).toEqual([{ attempt: 1, failingSince: undefined, lastError: undefined }]);
    });

    it('an error that no wait will cure', async () => {
      const { backend } = await arrange({ attempts: 9, backoff: '1h', neverRetry: TypeError }, failing);
      expect(await arrived(backend, 'work.parked')).toEqual(parked(1));
    });

    it('Reject dead-letters, and Drop is the end', async () => {
      const { backend } = await arrange(undefined, () => {
        throw new Reject('no');
      });
      await arrived(backend, 'dead');
      const { counts } = await arrange(undefined, () => {
        throw new Drop();
      });
      await vi.waitFor(() => expect(counts()).toMatchObject({ dropped: 1 }), { timeout: 8_000 });
    });

    it('a queue that was declared for another policy is taken as it is', async () => {
      const backend = await open();
      await backend.declare(topologyOf(queueNamed('work')));
      const { attempts } = await arrange({ attempts: 2, backoff: 50 }, failing, backend);
      expect(await arrived(backend, 'work.parked')).toEqual(parked(2));
      expect(attempts).toEqual([1, 2]);
    });

    it('a parking lot that was deleted is declared again at once, as it was', async () => {
      const world = await kind.open();
      ends.push(() => world.close());
      await world.backend.connect();
      const work = async (): Promise<never> => {
        await world.deleteQueue('work.parked');
        throw new TypeError('down');
      };
      const { backend, app } = await arrange({ attempts: 1, parkFor: '1h' }, work, world.backend);
      await vi.waitFor(async () => expect(await backend.status('work.parked')).toMatchObject({ messages: 1 }), {
        timeout: 8_000,
      });
      expect(await arrived(backend, 'work.parked')).toEqual(parked(1));
      // What a new start would declare fits.
      await backend.declare(app.get(DlxBroker).topology());
    });

    it('what is parked can be redriven to where it came from, and begins anew', async () => {
      let isFixed = false;
      const { app, attempts, counts } = await arrange({ attempts: 2, backoff: 20 }, () => {
        if (!isFixed) throw new Error('down');
      });
      await vi.waitFor(() => expect(counts()).toMatchObject({ parked: 1 }), { timeout: 8_000 });
      isFixed = true;
      const task = app.get(Redrives).start({ from: 'work.parked' });
      await vi.waitFor(() => expect(counts()).toMatchObject({ acked: 1 }), { timeout: 8_000 });
      expect((await task.ended).destinations).toEqual({ 'shop/order.created': 1 });
      expect(attempts).toEqual([1, 2, 1]);
    });

    it('dead letters of a stream are retried with a backoff', async () => {
      const { app, backend, attempts } = await arrange(undefined, ({ attempt }) => {
        if (attempt < 3) throw new Error('down');
      });
      app.get(DeadLetters).run('dead', (letters) => letters.pipe(retryWithBackoff({ attempts: 5, backoff: 20 })));
      await vi.waitFor(() => expect(attempts).toEqual([1, 2, 3]), { timeout: 8_000 });
      await vi.waitFor(async () => expect(await backend.status('work')).toMatchObject({ messages: 0 }), {
        timeout: 8_000,
      });
    });
  });
}
