import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Consume, DlxBroker, DlxBrokerModule, DlxClient, Retry } from 'dlx-broker';
import { registerDlxMetrics } from 'dlx-broker/metrics';
import { Registry } from 'prom-client';

@Injectable()
class Orders {
  @Consume({ queue: 'orders', routingKey: 'order.*' })
  @Retry({ attempts: 2, backoff: '20ms' })
  create(): void {
    throw new Error('no tea');
  }
}

@Module({ imports: [DlxBrokerModule.forRoot({ metrics: true })], providers: [Orders] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const broker = app.get(DlxBroker);
const registry = new Registry();
registerDlxMetrics(registry, broker);

app.get(DlxClient).emit('order.created', {});
while (broker.counts.parked === 0) await new Promise((resolve) => setTimeout(resolve, 20));
const { isReady, problems, parked } = await broker.health();
console.log('ready:', isReady, 'problems:', problems.length, 'parked:', parked);
const lines = (await registry.metrics()).split('\n');
for (const line of lines) if (line.startsWith('dlx_handler_attempts_total')) console.log(line);
await app.close();
