import { Injectable, Logger, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import {
  Consume,
  DeadLetter,
  DlxBroker,
  DlxBrokerModule,
  type DlxBrokerOptions,
  DlxClient,
  DlxContext,
  DlxRecordBuilder,
  embedded,
  HandlerTimeoutError,
  Ordered,
  Prefetch,
  rabbitmq,
  Retry,
} from 'dlx-broker';
import { firstValueFrom } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { ManualClock } from '../../libs/dlx-broker/src/nest/testing/manual-clock.js';
import { serve } from '../../libs/dlx-broker/src/server/serve/serve.js';
import { isOfStart, until } from './places.js';
import { classOf } from '../harnesses/class-of.js';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
  Logger.overrideLogger(false);
});

async function start(handlers: Type, consumerTimeout: string | false, options: Partial<DlxBrokerOptions> = {}) {
  const clock = new ManualClock();
  const lines: string[] = [];
  const keep = (text: unknown): void => {
    if (!isOfStart(text)) lines.push(String(text));
  };
  // 3.10, whose classic queues have a consumer timeout.
  const broker = embedded({ clock, consumerTimeout, rabbitmq: '3.10' });
  const root = {
    module: class {},
    imports: [DlxBrokerModule.forRoot({ broker, drainTimeout: 10, ...options })],
    providers: [handlers],
  };
  const logger = { log: () => undefined, warn: keep, error: keep, fatal: keep };
  const app = await NestFactory.createApplicationContext(root, { logger, abortOnError: false });
  ends.push(() => app.close());
  const emit = (queue: string, data: unknown): Promise<unknown> =>
    firstValueFrom(app.get(DlxClient).emit(queue, new DlxRecordBuilder(data).setExchange('').build()), {
      defaultValue: 0,
    });
  return { clock, lines, emit, dlx: app.get(DlxBroker), handlers: app.get(handlers) };
}

/** Attempts that end when the test says so. */
class Held {
  readonly begun: unknown[] = [];
  readonly aborted: unknown[] = [];
  readonly ends: (() => void)[] = [];

  hold(data: unknown, { attempt, signal }: DlxContext): Promise<void> {
    this.begun.push([data, attempt]);
    return new Promise((resolve, reject) => {
      this.ends.push(resolve);
      signal.addEventListener('abort', () => {
        this.aborted.push(signal.reason);
        reject(signal.reason as Error);
      });
    });
  }
}

describe('a handler that hangs', () => {
  @Injectable()
  class Jobs extends Held {
    @Consume('jobs')
    @DeadLetter(false)
    @Prefetch(2)
    work(@Payload() data: unknown, @Ctx() context: DlxContext): Promise<void> {
      return this.hold(data, context);
    }

    @Consume('acked')
    @DeadLetter(false)
    acked(@Payload() data: unknown, @Ctx() context: DlxContext): Promise<void> {
      context.ack();
      return this.hold(data, context);
    }

    @Consume('limited')
    @Retry({ attempts: 1, timeout: '1h' })
    limited(@Payload() data: unknown, @Ctx() context: DlxContext): Promise<void> {
      return this.hold(data, context);
    }
  }

  it('is warned of once after a minute, and health shows it until it ends', async () => {
    const { clock, lines, emit, dlx, handlers } = await start(Jobs, false);
    const since = new Date(clock.now());
    for (const id of [1, 2, 3]) await emit('jobs', id);
    await emit('limited', 4);
    await emit('acked', 0);
    await until(() => expect(handlers.begun).toHaveLength(4));
    clock.advance(59_999);
    expect(lines).toEqual([]);
    expect((await dlx.health()).stuck).toEqual([]);
    clock.advance(1);
    expect(lines).toEqual([
      "Jobs.work has been at work on 2 messages of queue 'jobs' for 60000 ms or longer; if it hangs, give its @Retry a timeout, " +
        "which ends such attempts; if its work takes so long, raise option 'stuckAfter'",
    ]);
    clock.advance(1_000);
    expect(await dlx.health()).toMatchObject({
      isReady: true,
      stuck: [{ handler: 'Jobs.work', queue: 'jobs', messages: 2, since }],
    });
    handlers.ends[0]!();
    await until(() => expect(handlers.begun).toHaveLength(5));
    clock.advance(60_000);
    expect(lines).toHaveLength(1); // it is stuck as before
    for (const end of handlers.ends) end();
    await until(() => expect(dlx.counts.acked).toBe(4));
    clock.advance(1_000);
    expect((await dlx.health()).stuck).toEqual([]);
    await emit('jobs', 5);
    await until(() => expect(handlers.begun).toHaveLength(6));
    clock.advance(60_000);
    expect(lines).toHaveLength(2); // it was not stuck in between
  });

  it.each([
    ['5s', 5_000],
    [false, undefined],
  ] as const)("option 'stuckAfter' %s", async (stuckAfter, expected) => {
    const { clock, lines, emit, handlers } = await start(Jobs, false, { stuckAfter });
    await emit('jobs', 1);
    await until(() => expect(handlers.begun).toHaveLength(1));
    clock.advance(4_999);
    expect(lines).toEqual([]);
    clock.advance(3_600_000);
    expect(lines).toHaveLength(expected === undefined ? 0 : 1);
  });

  it("option 'stuckAfter' that is no time is refused", async () => {
    await expect(start(Jobs, false, { stuckAfter: 0 })).rejects.toThrow(
      /option 'stuckAfter' of DlxBrokerModule.*0 is less than 1000 ms; write false for no limit/,
    );
  });
});

it('an error after ack() is logged', async () => {
  @Injectable()
  class Jobs {
    @Consume('jobs')
    @DeadLetter(false)
    work(@Ctx() context: DlxContext): void {
      context.ack();
      throw new Error('down');
    }
  }
  const { lines, emit } = await start(Jobs, false);
  await emit('jobs', 1);
  await until(() =>
    expect(lines).toEqual(["Jobs.work: attempt 1 failed, queue 'jobs', after it had settled the message: Error: down"]),
  );
});

describe('a handler that is at work for longer than the consumer timeout of the server', () => {
  const plain: MethodDecorator = () => undefined;
  it.each([
    ['with @Retry', plain],
    ['with @Ordered', Ordered({ key: (id: number) => id, holdAtMost: '1s' })],
  ])('%s: its attempt is aborted, and has failed when the message comes again', async (_, Above) => {
    @Injectable()
    class Jobs extends Held {
      @Consume('jobs')
      @Retry({ attempts: 2, backoff: '1s' })
      @Above
      work(@Payload() data: number, @Ctx() context: DlxContext): Promise<void> {
        return this.hold(data, context);
      }
    }
    const { clock, lines, emit, dlx, handlers } = await start(Jobs, '3s');
    expect(lines.splice(0)).toEqual([
      "Jobs.work may be at work for longer than the consumer timeout of queue 'jobs' (3000 ms), after which the server takes the " +
        "message back: it has no time limit; give its @Retry a timeout below that, or raise the consumer timeout (option 'consumerTimeout')",
    ]);
    await emit('jobs', 1);
    await until(() => expect(handlers.begun).toEqual([[1, 1]]));
    clock.advance(1_500);
    await emit('jobs', 2); // in hand as well, and not too late
    await until(() => expect(handlers.begun).toHaveLength(2));
    clock.advance(1_500);
    const timeout = 'Jobs.work took longer than 3000 ms, the consumer timeout of the server';
    expect(handlers.aborted.map(String)).toEqual([
      `HandlerTimeoutError: ${timeout}`,
      "ConnectionLostError: the messages of queue 'jobs' have returned to it: another consumer may get them",
    ]);
    expect(handlers.aborted[0]).toBeInstanceOf(HandlerTimeoutError);
    expect(lines[0]).toMatch(
      /^Jobs.work was at work on a message of queue 'jobs' for longer than the consumer timeout of the server \(3000 ms\).*consumer_timeout of RabbitMQ$/,
    );
    await until(() => expect(dlx.counts.retried).toBe(1)); // the consumer comes back after a second
    clock.advance(1_000);
    await until(() => expect(handlers.begun).toHaveLength(4));
    expect(handlers.begun.slice(2)).toEqual(
      expect.arrayContaining([
        [1, 2],
        [2, 1],
      ]),
    );
    for (const end of handlers.ends) end();
    await until(() => expect(dlx.counts).toMatchObject({ acked: 2, retried: 1 }));
    expect(lines.at(-1)).toContain(
      `Jobs.work: attempt 1 of 2 failed, queue 'jobs', next in 1000 ms: HandlerTimeoutError: ${timeout}`,
    );
    expect(await dlx.backend.status('jobs')).toMatchObject({ messages: 0, unacknowledged: 0 });
  });

  it('on a server: is parked after the last attempt', async () => {
    @Injectable()
    class Jobs extends Held {
      @Consume('jobs')
      @Retry({ attempts: 2, backoff: 1 })
      work(@Payload() data: number, @Ctx() context: DlxContext): Promise<void> {
        return this.hold(data, context);
      }
    }
    const server = await serve({ amqp: { host: '127.0.0.1', port: 0 }, rabbitmq: '3.10', consumerTimeout: 1_000 });
    ends.push(() => server.close());
    const broker = rabbitmq({ urls: `amqp://127.0.0.1:${server.amqp.port}` });
    const { lines, emit, dlx, handlers } = await start(Jobs, false, { broker });
    await emit('jobs', 1);
    await expect.poll(() => dlx.counts, { timeout: 30_000 }).toMatchObject({ retried: 1, parked: 1 });
    expect(handlers.begun).toEqual([
      [1, 1],
      [1, 2],
    ]);
    expect(
      lines.filter((line) => line.includes('longer than the consumer timeout of the server (1000 ms)')),
    ).toHaveLength(2);
    expect(await dlx.backend.status('jobs.parked')).toMatchObject({ messages: 1 });
  });

  it.each([
    ['1h', '30m', 1_800_000, 'its timeout is 3600000 ms; lower it below that'],
    ['3s', '3s', 3_000, 'its timeout is 3000 ms; lower it below that'],
    ['2s', '3s', undefined, ''],
    [undefined, '30m', undefined, ''],
    [undefined, false, undefined, ''],
  ])('the start warns of a timeout %s under %s', async (timeout, consumerTimeout, limit, why) => {
    const Jobs = classOf('Jobs', {
      work: [Consume('jobs'), Retry({ attempts: 2, ...(timeout !== undefined && { timeout }) })],
    });
    const { lines } = await start(Jobs, consumerTimeout as string);
    expect(lines).toEqual(limit === undefined ? [] : [expect.stringContaining(`(${limit} ms), after which`)]);
    expect(lines.join()).toContain(why);
    const broker = embedded({ clock: new ManualClock(), consumerTimeout: consumerTimeout as string });
    expect((await start(Jobs, false, { broker })).lines, 'RabbitMQ 4.3: a classic queue has none').toEqual([]);
  });
});
