import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import { Queue, Worker } from 'bullmq';
import { Consume, DlxBrokerModule, DlxClient, DlxContext, Prefetch, Retry } from 'dlx-broker';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { openRedis } from '../peers/redis.js';
import { type Measurement, type Workload, processorTime } from '../workload.js';

const amount = 10_000;
const waits = [200, 400] as const;
const ideal = waits[0] + waits[1];

/** The times of the attempts of each message, and the results. */
class Attempts {
  readonly #last = new Map<number, number>();
  readonly #late: number[] = [];
  #done = 0;
  readonly #start = performance.now();

  /** @returns whether this attempt succeeds */
  tried(id: number, attempt: number): boolean {
    const now = performance.now();
    const wait = waits[attempt - 2];
    if (wait !== undefined) this.#late.push(now - (this.#last.get(id) as number) - wait);
    this.#last.set(id, now);
    if (attempt <= waits.length) return false;
    this.#done++;
    return true;
  }

  /** Milliseconds that all of them took, from the first publish on. */
  async took(count: number): Promise<number> {
    while (this.#done < count) await sleep(1);
    return performance.now() - this.#start;
  }

  /** How late attempts began, in milliseconds, as a percentile. */
  percentile(share: number): number {
    return this.#late.toSorted((one, other) => one - other)[Math.floor((this.#late.length * share) / 100)] as number;
  }
}

/** A program that retries. */
interface Retrier {
  publish(ids: readonly number[]): Promise<void>;
  attempts: Attempts | undefined;
}

const numbers = (count: number, from = 0): number[] => Array.from({ length: count }, (_, index) => from + index);

async function dlxBroker(): Promise<Retrier> {
  @Injectable()
  class Handlers {
    @Consume({ queue: 'work', routingKey: 'e' })
    @Prefetch(1_000)
    @Retry({ attempts: 3, backoff: [...waits] })
    handle(@Payload() id: number, @Ctx() { attempt }: DlxContext): void {
      if (!retrier.attempts?.tried(id, attempt)) throw new Error('not yet');
    }
  }
  @Module({ imports: [DlxBrokerModule.forRoot()], providers: [Handlers] })
  class AppModule {}
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  const client = app.get(DlxClient);
  await client.connect();
  const retrier: Retrier = {
    attempts: undefined,
    async publish(ids) {
      for (const id of ids) client.emit('e', id);
    },
  };
  return retrier;
}

async function bullMq(): Promise<Retrier> {
  const redis = await openRedis();
  const connection = { host: '127.0.0.1', port: redis.port, maxRetriesPerRequest: null };
  const queue = new Queue('work', { connection });
  const worker = new Worker(
    'work',
    async (job) => {
      if (!retrier.attempts?.tried(job.data as number, job.attemptsMade + 1)) throw new Error('not yet');
    },
    { connection, concurrency: 1_000, settings: { backoffStrategy: (made = 1) => waits[made - 1] ?? 0 } },
  );
  await worker.waitUntilReady();
  const opts = { attempts: 3, backoff: { type: 'custom' }, removeOnComplete: true };
  const retrier: Retrier = {
    attempts: undefined,
    async publish(ids) {
      await queue.addBulk(ids.map((data) => ({ name: 'e', data, opts })));
    },
  };
  return retrier;
}

/** What a process pays without a broker: a timer for each attempt, and the stack of each error, which every log of failures reads. */
async function plainTimers(): Promise<Retrier> {
  const handle = (id: number, attempt: number): void => {
    if (!retrier.attempts?.tried(id, attempt)) throw new Error('not yet');
  };
  const attempt = (id: number, number: number): void => {
    try {
      handle(id, number);
    } catch (error) {
      void (error as Error).stack; // V8 formats it now
      setTimeout(attempt, waits[number - 1], id, number + 1);
    }
  };
  const retrier: Retrier = {
    attempts: undefined,
    async publish(ids) {
      for (const id of ids) setImmediate(attempt, id, 1);
    },
  };
  return retrier;
}

/** All messages at once, after a tenth of them as warm-up. */
async function burst(retrier: Retrier): Promise<Measurement> {
  retrier.attempts = new Attempts();
  await retrier.publish(numbers(amount / 10));
  await retrier.attempts.took(amount / 10);
  retrier.attempts = new Attempts();
  const delays = monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  const before = processorTime();
  await retrier.publish(numbers(amount));
  const took = await retrier.attempts.took(amount);
  const cpu = ((processorTime() - before) / amount) * 1_000_000;
  delays.disable();
  // The histogram has nanoseconds.
  return { value: took - ideal, cpu, extra: { 'longest turn of the loop, ms': (delays.max / 1_000_000).toFixed(0) } };
}

/** A hundred messages every forty milliseconds, so that the lateness of waits is measured, and not the load of handlers. */
async function stream(retrier: Retrier): Promise<Measurement> {
  retrier.attempts = new Attempts();
  await retrier.publish(numbers(amount / 10));
  await retrier.attempts.took(amount / 10);
  retrier.attempts = new Attempts();
  for (let from = 0; from < amount; from += 100) {
    await retrier.publish(numbers(100, from));
    await sleep(40);
  }
  await retrier.attempts.took(amount);
  return { value: retrier.attempts.percentile(99), extra: { 'p50 ms': retrier.attempts.percentile(50).toFixed(1) } };
}

const peers = (measure: (retrier: Retrier) => Promise<Measurement>): Workload['peers'] => ({
  'dlx-broker': async () => measure(await dlxBroker()),
  'BullMQ on Redis': async () => measure(await bullMq()),
  'timers alone': async () => measure(await plainTimers()),
});
const common = { needs: { 'BullMQ on Redis': 'redis' }, limits: ['timers alone'] } as const;

export const w10: readonly Workload[] = [
  {
    id: 'W10',
    title: 'Nest: 10,000 messages failing twice, waits of 200 and 400 ms: time over the ideal',
    unit: 'ms',
    more: 'worse',
    peers: peers(burst),
    ...common,
  },
  {
    id: 'W10 lateness',
    title: 'the same, 2,500 a second: lateness of an attempt, p99',
    unit: 'ms',
    more: 'worse',
    peers: peers(stream),
    ...common,
  },
];
