import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import { Queue, Worker } from 'bullmq';
import { Consume, DlxBrokerModule, DlxClient, DlxContext, Prefetch, Retry } from 'dlx-broker';
import { setTimeout as sleep } from 'node:timers/promises';
import { isHere } from '../peers/nest.js';
import { openRedis } from '../peers/redis.js';
import { type Measurement, type Workload } from '../workload.js';

const amount = 10_000;
const waits = [200, 400] as const;
const ideal = waits[0] + waits[1];

/** When each message was tried, and what that says of the whole. */
class Lateness {
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

  async end(): Promise<Measurement> {
    while (this.#done < amount) await sleep(1);
    const value = performance.now() - this.#start - ideal;
    const sorted = this.#late.toSorted((one, other) => one - other);
    return { value, extra: { 'lateness p99 ms': (sorted[Math.floor(sorted.length * 0.99)] as number).toFixed(1) } };
  }
}

async function dlxBroker(): Promise<Measurement> {
  const state: { lateness?: Lateness } = {};
  @Injectable()
  class Handlers {
    @Consume({ queue: 'work', routingKey: 'e' })
    @Prefetch(1_000)
    @Retry({ attempts: 3, backoff: [...waits] })
    handle(@Payload() id: number, @Ctx() { attempt }: DlxContext): void {
      if (!state.lateness?.tried(id, attempt)) throw new Error('not yet');
    }
  }
  @Module({ imports: [DlxBrokerModule.forRoot()], providers: [Handlers] })
  class AppModule {}
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  const client = app.get(DlxClient);
  await client.connect();
  const lateness = (state.lateness = new Lateness());
  for (let id = 0; id < amount; id++) client.emit('e', id);
  return lateness.end();
}

async function bullMq(): Promise<Measurement> {
  const redis = await openRedis();
  const connection = { host: '127.0.0.1', port: redis.port, maxRetriesPerRequest: null };
  const queue = new Queue('work', { connection });
  const state: { lateness?: Lateness } = {};
  const worker = new Worker(
    'work',
    async (job) => {
      if (!state.lateness?.tried(job.data as number, job.attemptsMade + 1)) throw new Error('not yet');
    },
    {
      connection,
      concurrency: 1_000,
      settings: { backoffStrategy: (made = 1) => waits[made - 1] ?? 0 },
    },
  );
  await worker.waitUntilReady();
  state.lateness = new Lateness();
  const options = { attempts: 3, backoff: { type: 'custom' }, removeOnComplete: true };
  await queue.addBulk(Array.from({ length: amount }, (_, id) => ({ name: 'e', data: id, opts: options })));
  const result = await state.lateness.end();
  await worker.close(true);
  await queue.close();
  redis.stop();
  return result;
}

export const w10: Workload = {
  id: 'W10',
  title: 'Nest: 10,000 messages failing twice, waits of 200 and 400 ms: time over the ideal',
  unit: 'ms',
  more: 'worse',
  peers: { 'dlx-broker': dlxBroker, ...(isHere.redis && { 'BullMQ on Redis': bullMq }) },
};
