import { Injectable, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import {
  Consume,
  customBackend,
  DeadLetter,
  DlxBrokerModule,
  DlxContext,
  Park,
  Reject,
  Retry,
  RetryLater,
} from 'dlx-broker';
import { describe, expect, it, vi } from 'vitest';
import { endsAfterEach } from '../harnesses/ends.js';
import { connectedTo, worldKinds } from './worlds.js';

const soon = { timeout: 15_000, interval: 20 } as const;

for (const kind of worldKinds) {
  const unavailable = await kind.unavailable();
  if (unavailable !== undefined) console.warn(`SKIPPED: headers of exceptions on ${kind.name}: ${unavailable}`);

  describe.skipIf(unavailable !== undefined)(`what an exception asks for, on ${kind.name}`, () => {
    const ends = endsAfterEach();

    it('is there: the state in the next attempt, never early, and headers where they can be', async () => {
      const backend = await connectedTo(kind, ends);
      const delay = 137;
      const seen: [state: unknown, since: number][] = [];
      const letters = new Map<string, DlxContext['headers']>();
      let failedAt = 0;
      @Injectable()
      class Worker {
        // With errorHistory: 0 the queue of a fixed backoff rejects into its wait queue; a reject of AMQP has no headers.
        @Consume('work')
        @Retry({ attempts: 3, backoff: delay })
        work(@Payload() _: unknown, @Ctx() { attempt, state }: DlxContext): void {
          seen.push([state, Date.now() - failedAt]);
          failedAt = Date.now();
          if (attempt < 3) throw new RetryLater(delay, { state: { attempt } });
          throw new Park('enough', { headers: { ticket: 'A-1' } });
        }

        @Consume('rejects')
        @DeadLetter('', 'dead')
        reject(): never {
          throw new Reject('no', { headers: { ticket: 'A-2' } });
        }

        @Consume('work.parked')
        parked(@Ctx() { headers }: DlxContext): void {
          letters.set('parked', headers);
        }

        @Consume('dead')
        dead(@Ctx() { headers }: DlxContext): void {
          letters.set('dead', headers);
        }
      }
      const lines: string[] = [];
      const note = (line: unknown): number => lines.push(String(line));
      const silent = { log() {}, error() {}, warn: note };
      const module = {
        module: class {},
        imports: [DlxBrokerModule.forRoot({ errorHistory: 0, broker: customBackend(backend) })],
        providers: [Worker],
      };
      const app: INestApplicationContext = await NestFactory.createApplicationContext(module, {
        logger: silent,
        abortOnError: false,
      });
      ends.push(() => app.close());
      for (const queue of ['work', 'rejects', 'rejects']) {
        await new Promise<void>((resolve, reject) =>
          backend.publish({ exchange: '', routingKey: queue, properties: {}, body: Buffer.from('{}') }, (failure) =>
            failure === undefined ? resolve() : reject(failure),
          ),
        );
      }
      await vi.waitFor(() => expect(letters.size).toBe(2), soon);
      expect(seen.map(([state]) => state)).toEqual([undefined, { attempt: 1 }, { attempt: 2 }]);
      for (const [, since] of seen.slice(1)) expect(since).toBeGreaterThanOrEqual(delay);
      expect(letters.get('parked')).toMatchObject({ ticket: 'A-1', 'dlx-state': '{"attempt":2}' });
      const { rejectsWithHeaders } = backend;
      expect(letters.get('dead')!['ticket']).toBe(rejectsWithHeaders ? 'A-2' : undefined);
      const lost = lines.filter((line) => line.includes('without the headers of its Reject'));
      expect(lost).toHaveLength(rejectsWithHeaders ? 0 : 1);
    });
  });
}
