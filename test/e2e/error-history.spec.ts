import { Injectable, type INestApplicationContext, type Type } from '@nestjs/common';
import { Ctx } from '@nestjs/microservices';
import {
  Consume,
  DeadLetter,
  DeadLetters,
  DlxBroker,
  type DlxBrokerOptions,
  DlxContext,
  Park,
  Retry,
  type RetryPolicy,
} from 'dlx-broker';
import { type ErrorEntry, redriveTo, retryWithBackoff } from 'dlx-broker/streams';
import { firstValueFrom, lastValueFrom, take } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { tableSize, toFieldTable } from '../../libs/dlx-broker/src/engine/message/index.js';
import { contextApp, Morgue } from './apps.js';
import { isEmbedded, missing, until } from './places.js';

type Work = (context: DlxContext) => void;

/** Publishes to a queue. */
const put = (
  app: INestApplicationContext,
  queue: string,
  data: unknown,
  headers: Readonly<Record<string, string>> = {},
) =>
  new Promise<void>((resolve, reject) =>
    app.get(DlxBroker).backend.publish(
      {
        exchange: '',
        routingKey: queue,
        properties: { headers: toFieldTable(headers) },
        body: Buffer.from(JSON.stringify(data)),
        mandatory: true,
      },
      (failure) => (failure === undefined ? resolve() : reject(failure)),
    ),
  );

/** A handler of the queue `work`. */
function workerOf(policy: RetryPolicy, work: Work): Type {
  @Injectable()
  class Worker {
    @Consume('work')
    @Retry(policy)
    handle(@Ctx() context: DlxContext): void {
      work(context);
    }
  }
  return Worker;
}

async function start(policy: RetryPolicy, work: Work, options: DlxBrokerOptions = {}, data: unknown = { id: 1 }) {
  const app = await contextApp({ providers: [workerOf(policy, work)], options });
  const letters = app.get(DeadLetters);
  await put(app, 'work', data);
  /** The first letter of the parking lot, which returns there. */
  const parked = () => firstValueFrom(letters.from('work.parked', { prefetch: 1 }));
  return { app, letters, parked };
}

const attemptsOf = (errors: readonly ErrorEntry[]) => errors.map(({ attempt, message }) => [attempt, message]);
const atOnce = (attempts: number): RetryPolicy => ({ attempts, immediate: attempts - 1 });
const failing: Work = ({ attempt }) => {
  throw new RangeError(`failure ${attempt}`);
};

describe.skipIf(missing !== undefined)('errors of earlier attempts', () => {
  it('are known to the handler and to the dead letter: attempt, time, class, message, handler, host, duration', async () => {
    const seen: unknown[] = [];
    const { parked } = await start(atOnce(3), (context) => {
      seen.push(attemptsOf(context.errors));
      failing(context);
    });
    const letter = await parked();
    expect(seen).toEqual([
      [],
      [[1, 'failure 1']],
      [
        [2, 'failure 2'],
        [1, 'failure 1'],
      ],
    ]);
    expect(attemptsOf(letter.errors)).toEqual([
      [3, 'failure 3'],
      [2, 'failure 2'],
      [1, 'failure 1'],
    ]);
    const { name, handler, host, took, at, redrive } = letter.errors[0]!;
    expect([name, handler, typeof host, typeof took, at instanceof Date, redrive]).toEqual([
      'RangeError',
      'Worker.handle',
      'string',
      'number',
      true,
      undefined,
    ]);
  });

  it('of a fixed delay are kept too: where a reject has no headers, the message is republished', async () => {
    const { app, parked } = await start({ attempts: 3, backoff: 5 }, failing);
    const letter = await parked();
    expect(attemptsOf(letter.errors)).toEqual([
      [3, 'failure 3'],
      [2, 'failure 2'],
      [1, 'failure 1'],
    ]);
    const described = app.get(DlxBroker).describeTopology();
    const how = isEmbedded
      ? 'rejects into wait.5, then'
      : "republishes to wait.5 (a reject could not carry the errors of option 'errorHistory'), then";
    expect(described).toContain(`work: 3 attempts, ${how} work.parked`);
  });

  it('are not kept where they are switched off, and a fixed delay is left to the broker again', async () => {
    const { app, parked } = await start({ attempts: 3, backoff: 5 }, failing, { errorHistory: 0 });
    const letter = await parked();
    expect([letter.errors, letter.error?.message]).toEqual([[], 'failure 3']);
    expect(app.get(DlxBroker).describeTopology()).toContain('work: 3 attempts, rejects into wait.5, then work.parked');
  });

  it('of 200 attempts with 100 KB and a stack of 40 KB fit: the first and the last are there', async () => {
    const fail: Work = ({ attempt }) => {
      const error = new Error(`failure ${attempt}: ${'é'.repeat(1_000)}`);
      error.stack = 's'.repeat(40_960);
      throw error;
    };
    const options = { errorHeaders: { stack: 40_960 }, logFailures: 'none' } as const;
    const { parked } = await start(atOnce(200), fail, options, 'x'.repeat(102_400));
    const letter = await parked();
    expect(tableSize(letter.message.properties.headers!)).toBeLessThan(65_536);
    expect(letter.errors.map(({ attempt }) => attempt)).toEqual([200, 199, 198, 197, 196, 195, 194, 193, 192, 1]);
    expect([letter.headers['dlx-errors-omitted'], letter.errors[9]?.message]).toEqual([
      190,
      `failure 1: ${'é'.repeat(1_000)}`.slice(0, 256),
    ]);
    expect(letter.payload).toHaveLength(102_400);
  });

  it('survive a redrive, with an entry that says so', async () => {
    const { app, parked } = await start(atOnce(2), failing);
    await lastValueFrom(app.get(DeadLetters).from('work.parked').pipe(redriveTo('work'), take(1)));
    const again = await parked();
    expect(again.errors.map(({ attempt, name, redrive }) => [attempt, name, redrive])).toEqual([
      [2, 'RangeError', undefined],
      [1, 'RangeError', undefined],
      [2, 'Redrive', 1],
      [2, 'RangeError', undefined],
      [1, 'RangeError', undefined],
    ]);
    expect(again.headers['dlx-redrives']).toBe(1);
  });

  it('of another consumer, who wrote only the class and the message, begin a history in a stream', async () => {
    const { app, letters } = await start(atOnce(2), () => undefined);
    const headers = { 'dlx-error-class': 'KeyError', 'dlx-error-message': 'no key 7', 'dlx-queue': 'work' };
    await app.get(DlxBroker).backend.declare({
      exchanges: [],
      bindings: [],
      queues: [{ name: 'other.dead', durable: true, exclusive: false, autoDelete: false, arguments: new Map() }],
    });
    await put(app, 'other.dead', {}, headers);
    await firstValueFrom(
      letters.from('other.dead').pipe(retryWithBackoff({ attempts: 1, parkingLot: 'lot' }), take(1)),
    );
    const letter = await firstValueFrom(letters.from('lot', { prefetch: 1 }));
    expect(letter.errors.map(({ name, message }) => [name, message])).toEqual([['KeyError', 'no key 7']]);
    expect(letter.headers['dlx-fingerprint']).toBe(letter.fingerprint);
  });

  it('are no longer than the messages of errors may be', async () => {
    const { parked } = await start(atOnce(1), failing, { errorHeaders: { message: 4 } });
    expect((await parked()).errors[0]?.message).toBe('fail');
  });

  it('are in no header when errors are to be in none', async () => {
    const { parked } = await start(atOnce(2), failing, { errorHeaders: false });
    const { headers } = await parked();
    expect(Object.keys(headers).filter((name) => name.startsWith('dlx-error'))).toEqual([]);
    expect(headers['dlx-fingerprint']).toMatch(/^1:[0-9a-f]{16}$/);
  });

  it('are read as none where the publisher wrote something else, and the message is handled', async () => {
    const seen: unknown[] = [];
    const app = await contextApp({
      providers: [
        workerOf(atOnce(1), (context) => {
          seen.push(context.errors);
          throw new Park('enough');
        }),
      ],
    });
    await put(app, 'work', {}, { 'dlx-errors': '[{"attempt":1}]' });
    await until(() => expect(seen).toEqual([[]]));
    const letter = await firstValueFrom(app.get(DeadLetters).from('work.parked', { prefetch: 1 }));
    expect(attemptsOf(letter.errors)).toEqual([[1, 'enough']]);
  });
});

describe.skipIf(missing !== undefined)('the fingerprint of a dead letter', () => {
  it('is written when a message is parked, and not before', async () => {
    const seen: unknown[] = [];
    const { parked } = await start(atOnce(2), (context) => {
      seen.push(context.headers['dlx-fingerprint']);
      failing(context);
    });
    const { headers, fingerprint } = await parked();
    expect(seen).toEqual([undefined, undefined]);
    expect(headers['dlx-fingerprint']).toMatch(/^1:[0-9a-f]{16}$/);
    expect(fingerprint).toBe(headers['dlx-fingerprint']);
  });

  it('is the answer of the option, which gets the error as it was thrown', async () => {
    const fingerprint = (error: unknown, context: DlxContext): string =>
      `${(error as Error).constructor === RangeError ? 'range' : 'other'} in ${context.queue}`;
    const { parked } = await start(atOnce(2), failing, { fingerprint });
    expect((await parked()).fingerprint).toBe('range in work');
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['answers nothing', () => undefined],
    ['answers a number', () => 7],
    ['answers 10 MB', () => 'x'.repeat(10_000_000)],
    ['answers an empty text', () => ''],
    ['is async and fails', () => Promise.reject(new Error('broken'))],
  ])('is the calculated one where the function %s', async (_, fingerprint) => {
    const { parked } = await start(atOnce(2), failing, { fingerprint: fingerprint as () => string });
    expect((await parked()).fingerprint).toMatch(/^1:[0-9a-f]{16}$/);
  });

  it.runIf(isEmbedded)('is written when a message is rejected to a dead-letter exchange', async () => {
    @Injectable()
    class Fails {
      @Consume('work')
      @DeadLetter('dlx')
      work(): never {
        throw new RangeError('no');
      }
    }
    const app = await contextApp({ providers: [Fails, Morgue] });
    await put(app, 'work', 'x');
    await until(() => expect(app.get(Morgue).bodies).toHaveLength(1));
    const [{ headers, context }] = app.get(Morgue).bodies as [Morgue['bodies'][number]];
    expect(headers['dlx-fingerprint']).toMatch(/^1:[0-9a-f]{16}$/);
    expect(context.errors).toMatchObject([{ attempt: 1, name: 'RangeError', message: 'no', handler: 'Fails.work' }]);
  });
});
