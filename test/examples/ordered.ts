import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import { Consume, DlxBroker, DlxBrokerModule, DlxClient, DlxContext, Ordered, Prefetch, Retry } from 'dlx-broker';
import { lastValueFrom } from 'rxjs';

interface OrderEvent {
  readonly order: string;
  readonly what: string;
}

@Injectable()
class Orders {
  @Consume({ queue: 'orders', routingKey: 'order.*' })
  @Prefetch(10)
  @Retry({ attempts: 3, backoff: '200ms' })
  @Ordered({ key: (event: OrderEvent) => event.order, window: 1000 })
  handle(@Payload() { order, what }: OrderEvent, @Ctx() { attempt }: DlxContext): void {
    if (order === 'A' && attempt < 3) throw new Error('the warehouse does not answer');
    console.log(order, what);
  }
}

@Module({ imports: [DlxBrokerModule.forRoot()], providers: [Orders] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const client = app.get(DlxClient);
for (const what of ['created', 'paid']) {
  for (const order of ['A', 'B']) await lastValueFrom(client.emit(`order.${what}`, { order, what }));
}
while (app.get(DlxBroker).counts.acked < 4) await new Promise((resolve) => setTimeout(resolve, 20));
await app.close();
