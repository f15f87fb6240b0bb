import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import { Consume, DlxBroker, DlxBrokerModule, DlxClient, DlxContext, Prefetch, Retry } from 'dlx-broker';

@Injectable()
class Orders {
  /** BullMQ: attempts 3, backoff exponential, concurrency 5. golevelup: exchange, routingKey, queue. */
  @Consume({ queue: 'orders', exchange: { name: 'shop', type: 'topic' }, routingKey: 'order.*' })
  @Prefetch(5)
  @Retry({ attempts: 3, backoff: { type: 'exponential', delay: '10ms' } })
  handle(@Payload() { id }: { id: number }, @Ctx() { attempt }: DlxContext): void {
    console.log('order', id, 'attempt', attempt);
    if (attempt < 3) throw new Error('the server is busy');
  }
}

@Module({ imports: [DlxBrokerModule.forRoot()], providers: [Orders] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
app.get(DlxClient).to({ exchange: 'shop' }).emit('order.created', { id: 7 });
while (app.get(DlxBroker).counts.acked === 0) await new Promise((resolve) => setTimeout(resolve, 20));
await app.close();
