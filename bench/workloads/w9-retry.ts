import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { setImmediate as soon } from 'node:timers/promises';
import { Consume, DlxBrokerModule, DlxClient, Retry, type RetryPolicy } from 'dlx-broker';
import { type Measurement, median, type Workload } from '../workload.js';

const stepped: RetryPolicy = { attempts: 5, backoff: { type: 'exponential', delay: '1s', max: '1h' } };
const rejecting: RetryPolicy = { attempts: 5, backoff: '1s' };
const nothing: MethodDecorator = () => undefined;
/** Rounds of four turns each, after a warm-up. */
const rounds = 60;
const warmUp = 10;
const events = 5_000;

/** The cost of one event, in microseconds. */
interface Cost {
  readonly cpu: number;
  readonly wall: number;
}

type Turn = () => Promise<Cost>;

/** An application with a broker of its own and a handler that succeeds. @returns one turn of it */
async function open(above: MethodDecorator): Promise<Turn> {
  let count = 0;
  @Injectable()
  class Worker {
    @Consume({ queue: 'work', routingKey: 'e' })
    @above
    handle(): void {
      count++;
    }
  }
  @Module({ imports: [DlxBrokerModule.forRoot()], providers: [Worker] })
  class AppModule {}
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  const client = app.get(DlxClient);
  await client.connect();
  return async () => {
    count = 0;
    const [start, before] = [performance.now(), process.cpuUsage()];
    for (let sent = 0; sent < events; sent += 100) {
      for (let burst = 0; burst < 100; burst++) client.emit('e', 1);
      while (sent - count > 2_000) await soon();
    }
    while (count < events) await soon();
    const { user, system } = process.cpuUsage(before);
    return { cpu: (user + system) / events, wall: ((performance.now() - start) * 1_000) / events };
  };
}

/**
 * The ratio of the costs of two handlers, the median of many rounds. Both are in one process and take turns A B B A, so a slow
 * machine and the order of their start have the same influence on both.
 */
const besidePlain = (above: MethodDecorator) => async (): Promise<Measurement> => {
  const [first, one, other, last] = [await open(nothing), await open(above), await open(above), await open(nothing)];
  const costs: { readonly plain: Cost; readonly decorated: Cost }[] = [];
  for (let round = -warmUp; round < rounds; round++) {
    const turns = [await first(), await one(), await other(), await last()] as const;
    if (round >= 0) costs.push({ plain: sum(turns[0], turns[3]), decorated: sum(turns[1], turns[2]) });
  }
  const ratios = (of: keyof Cost): readonly number[] =>
    costs.map(({ plain, decorated }) => plain[of] / decorated[of]).toSorted((a, b) => a - b);
  const cpu = ratios('cpu');
  return {
    value: median(cpu),
    extra: {
      'lower quartile': (cpu[rounds / 4] as number).toFixed(3),
      'upper quartile': (cpu[(rounds * 3) / 4] as number).toFixed(3),
      'by the clock': median(ratios('wall')).toFixed(3),
      'CPU microseconds an event': median(costs.map(({ decorated }) => decorated.cpu / 2)).toFixed(1),
    },
  };
};

const sum = (one: Cost, other: Cost): Cost => ({ cpu: one.cpu + other.cpu, wall: one.wall + other.wall });

export const w9Retry: Workload = {
  id: 'W9 @Retry',
  title: 'Nest: a handler that succeeds, by CPU time',
  unit: 'of a plain one',
  more: 'better',
  peers: {
    'dlx-broker': besidePlain(Retry(stepped)),
    'dlx-broker, one delay': besidePlain(Retry(rejecting)),
    'dlx-broker, a plain handler again': besidePlain(nothing),
  },
};
