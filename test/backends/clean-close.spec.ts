import { applyDecorators, Controller, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Payload } from '@nestjs/microservices';
import {
  Consume,
  DeadLetter,
  DeadLetters,
  DlxBrokerModule,
  DlxClient,
  Ordered,
  Outbox,
  Park,
  Prefetch,
  rabbitmq,
  Redrives,
  Retry,
  RetryLater,
  Unavailable,
} from 'dlx-broker';
import { archiveTo, type ConsumedLetter, redriveTo } from 'dlx-broker/streams';
import { setImmediate as soon, setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { lastValueFrom, mergeMap, type Observable, Subject, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Backend } from '../../libs/dlx-broker/src/backends/index.js';
import { waitQueueName } from '../../libs/dlx-broker/src/backends/topology/index.js';
import { endsAfterEach } from '../harnesses/ends.js';
import { serverKinds, type World } from './worlds.js';

/** Messages in hand when the application is closed. */
const amount = 10;

/** An hour. */
const later = 3_600_000;
const waiting = waitQueueName(later);

const no = (): never => {
  throw new Error('no');
};
const throwing = (error: Error) => (): never => {
  throw error;
};

/** How a message is republished, and where all of them have to be. */
interface Handled {
  readonly by: readonly MethodDecorator[];
  readonly act: (client: DlxClient, id: number) => unknown;
  readonly to: Readonly<Record<string, number>>;
}

const handled: Readonly<Record<string, Handled>> = {
  'a retry after a delay': { by: [Retry({ attempts: 2, backoff: later })], act: no, to: { [waiting]: amount } },
  'a retry at once': { by: [Retry({ attempts: 2, immediate: 1, backoff: later })], act: no, to: { q: amount } },
  'parking after the last attempt': { by: [Retry({ attempts: 1 })], act: no, to: { 'q.parked': amount } },
  'Park, whose parking lot is declared first': {
    by: [DeadLetter(false)],
    act: throwing(new Park('no')),
    to: { 'q.parked': amount },
  },
  'RetryLater, whose wait queue is declared first': {
    by: [DeadLetter(false)],
    act: throwing(new RetryLater(later)),
    to: { [waiting]: amount },
  },
  'Unavailable, which holds it': {
    by: [DeadLetter(false)],
    act: throwing(new Unavailable('away', later)),
    to: { [waiting]: amount },
  },
  'parking in order': {
    by: [Retry({ attempts: 1 }), Ordered({ key: (id: number) => `${id}`, window: 100 })],
    act: no,
    to: { 'q.parked': amount },
  },
  'the commit of an outbox': {
    by: [Outbox(), DeadLetter(false)],
    act: (client, id) => void client.emit('moved', id),
    to: { target: amount },
  },
  'the commit of an outbox with several events': {
    by: [Outbox(), DeadLetter(false)],
    act: (client, id) => {
      client.emit('moved', id);
      client.emit('moved', id);
    },
    to: { target: 2 * amount },
  },
  'emits that it does not await': {
    by: [DeadLetter(false)],
    act: (client, id) => void client.emit('moved', id),
    to: { target: amount },
  },
  'emits that it awaits': {
    by: [DeadLetter(false)],
    act: (client, id) => lastValueFrom(client.emit('moved', id), { defaultValue: undefined }),
    to: { target: amount },
  },
};

type Letters = Observable<ConsumedLetter<number>>;

/** How a letter is republished by a stream. */
const streamed: Readonly<Record<string, readonly [(letters: Letters) => Observable<unknown>, string?]>> = {
  archiveTo: [(letters) => letters.pipe(archiveTo({ write: () => soon() }))],
  redriveTo: [(letters) => letters.pipe(redriveTo('target')), 'target'],
  redrive: [(letters) => letters.pipe(mergeMap((letter) => letter.redrive('target').catch(() => undefined))), 'target'],
  'park, whose parking lot is declared first': [
    (letters) => letters.pipe(mergeMap((letter) => letter.park('lot').catch(() => undefined))),
    'lot',
  ],
  retryIn: [(letters) => letters.pipe(mergeMap((letter) => letter.retryIn(later).catch(() => undefined))), waiting],
};

for (const kind of serverKinds) {
  const unavailable = await kind.unavailable();
  if (unavailable !== undefined) console.warn(`SKIPPED: clean closes on ${kind.name}: ${unavailable}`);

  describe.skipIf(unavailable !== undefined)(`a clean close on ${kind.name} doubles nothing`, () => {
    const ends = endsAfterEach();

    async function arrange(controllers: readonly Type[] = []) {
      const world = await kind.open();
      ends.push(() => world.close());
      await world.backend.connect();
      const binding = { source: 'dlx.events', destination: 'target', routingKey: 'moved' };
      const topology = {
        exchanges: [{ name: 'dlx.events', type: 'topic' as const }],
        queues: [...(controllers.length === 0 ? [{ name: 'q' }] : []), { name: 'target' }],
        bindings: [binding],
      };
      const lines: unknown[] = [];
      const note = (line: unknown): void => void lines.push(line);
      const app = await NestFactory.create(
        {
          module: class {},
          controllers: [...controllers],
          imports: [DlxBrokerModule.forRoot({ broker: rabbitmq({ urls: world.url! }), topology, logFailures: 'none' })],
        },
        { logger: { log: () => undefined, warn: note, error: note }, abortOnError: false },
      );
      ends.push(() => app.close());
      await app.init();
      return { world, app, lines };
    }

    const put = async ({ backend }: World, count: number): Promise<void> => {
      const kept = Array.from(
        { length: count },
        (_, id) =>
          new Promise<void>((resolve, reject) => {
            const publication = {
              exchange: '',
              routingKey: 'q',
              properties: { deliveryMode: 2, contentType: 'application/json', messageId: `${id}` },
              body: Buffer.from(`${id}`),
            };
            backend.publish(publication, (failure) => (failure === undefined ? resolve() : reject(failure)));
          }),
      );
      await Promise.all(kept);
    };

    it.each(Object.entries(handled))('in the middle of %s', async (_, { by, act, to }) => {
      const gate = new Subject<void>();
      let begun = 0;

      @Controller()
      class Handlers {
        constructor(readonly client: DlxClient) {}

        @applyDecorators(Consume('q'), Prefetch(amount), ...by)
        async handle(@Payload() id: number): Promise<void> {
          begun++;
          await lastValueFrom(gate, { defaultValue: undefined });
          await act(this.client, id);
        }
      }

      const { world, app, lines } = await arrange([Handlers]);
      await put(world, amount);
      await expect.poll(() => begun).toBe(amount);
      const closed = app.close();
      await soon();
      gate.complete();
      await closed;
      expect(await counted(world.backend, Object.keys({ q: 0, ...to }))).toEqual(Object.values({ q: 0, ...to }));
      expect(lines).toEqual([]);
    });

    it.each(Object.entries(streamed))('in the middle of %s', async (_, [pipeline, to]) => {
      for (const how of ['close', 'unsubscribe']) {
        const { world, app, lines } = await arrange();
        await put(world, 200);
        let taken = 0;
        let moved = 0;
        await new Promise<void>((resolve) => {
          const letters = app.get(DeadLetters).from<number>('q', { prefetch: 50 });
          const ended = pipeline(letters.pipe(tap(() => ++taken === 75 && end()))).subscribe(() => moved++);
          const end = async (): Promise<void> => {
            await soon();
            if (how === 'unsubscribe') ended.unsubscribe();
            resolve();
          };
        });
        await app.close();
        const [q = 0, there = moved] = await counted(world.backend, to === undefined ? ['q'] : ['q', to]);
        expect([how, q + there]).toEqual([how, 200]);
        expect(
          lines.filter((line) => !/unsettled in streams, and back in their queues: \d+ of 'q'/.test(String(line))),
        ).toEqual([]);
      }
    });

    it('in the middle of a redrive', async () => {
      const { world, app, lines } = await arrange();
      await put(world, 200);
      const task = app.get(Redrives).start({ from: 'q', to: 'target', perSecond: Infinity, circuit: false });
      await expect.poll(() => task.current.redriven, { interval: 1 }).toBeGreaterThan(10);
      await app.close();
      const [q = 0, target = 0] = await counted(world.backend, ['q', 'target']);
      expect([q + target, lines]).toEqual([200, []]);
    });
  });
}

/** How many messages there are in each queue, once that does not change any more: to a quorum queue messages return after the close. */
async function counted(backend: Backend, queues: readonly string[]): Promise<readonly number[]> {
  const now = (): Promise<number[]> =>
    Promise.all(queues.map(async (queue) => (await backend.status(queue))?.messages ?? 0));
  for (let before = await now(); ;) {
    await setTimeout(50);
    const counts = await now();
    if (isDeepStrictEqual(before, counts)) return counts;
    before = counts;
  }
}
