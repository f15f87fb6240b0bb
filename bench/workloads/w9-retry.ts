import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { setImmediate as soon } from 'node:timers/promises';
import { Consume, DlxBrokerModule, DlxClient, Retry, type RetryPolicy } from 'dlx-broker';
import { type Measurement, type Workload } from '../workload.js';

const policy: RetryPolicy = { attempts: 5, backoff: { type: 'exponential', delay: '1s', max: '1h' } };
const nothing: MethodDecorator = () => undefined;
const rounds = 4;
const amount = 200_000;

/** Events a second through a handler that succeeds. */
const handled = (above: MethodDecorator) => async (): Promise<Measurement> => {
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
  let value = 0;
  for (let round = 0; round < rounds; round++) {
    count = 0;
    const start = performance.now();
    for (let sent = 0; sent < amount; sent += 100) {
      for (let burst = 0; burst < 100; burst++) client.emit('e', 1);
      while (sent - count > 2_000) await soon();
    }
    while (count < amount) await soon();
    value = (amount / (performance.now() - start)) * 1_000;
  }
  return { value };
};

export const w9Retry: Workload = {
  id: 'W9 @Retry',
  title: 'Nest: a handler that succeeds, with @Retry and without',
  unit: 'events/s',
  more: 'better',
  peers: { 'dlx-broker': handled(Retry(policy)), 'dlx-broker without @Retry': handled(nothing) },
};
