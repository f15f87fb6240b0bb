import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import { Batch, Consume, DlxBatchContext, DlxBrokerModule, DlxClient, Park, Retry } from 'dlx-broker';

interface Reading {
  sensor: string;
  value: number;
}

@Injectable()
class Readings {
  @Consume({ queue: 'readings', routingKey: 'reading.taken' })
  @Batch({ size: 3, within: '200ms' })
  @Retry({ attempts: 3, backoff: '20ms' })
  async store(@Payload() readings: Reading[], @Ctx() { messages }: DlxBatchContext): Promise<unknown> {
    console.log(readings.map(({ sensor }, place) => `${sensor}, attempt ${messages[place]?.attempt}`));
    return Promise.allSettled(readings.map((reading) => this.#insert(reading)));
  }

  async #insert({ value }: Reading): Promise<void> {
    if (value < 0) throw new Park('a reading is never negative');
    if (value === 0) throw new Error('no answer');
  }

  @Consume('readings.parked')
  parked(@Payload() { sensor }: Reading): void {
    console.log('parked:', sensor);
  }
}

@Module({ imports: [DlxBrokerModule.forRoot({ logFailures: 'none' })], providers: [Readings] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const client = app.get(DlxClient);
for (const [sensor, value] of [
  ['a', 1],
  ['b', -1],
  ['c', 0],
  ['d', 2],
])
  client.emit('reading.taken', { sensor, value });
setTimeout(() => app.close(), 1000);
