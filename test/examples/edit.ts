import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Payload } from '@nestjs/microservices';
import { Consume, DlxBrokerModule, DlxClient, Redrives, Retry, UndecodablePayloadError } from 'dlx-broker';

interface Order {
  id: number;
  currency?: string;
}

@Injectable()
class Orders {
  @Consume({ queue: 'orders', routingKey: 'order.created' })
  @Retry({ attempts: 1 })
  bill(@Payload() { id, currency }: Order): void {
    if (currency === undefined) throw new Error('no currency');
    console.log('billed', id, currency);
  }
}

@Module({ imports: [DlxBrokerModule.forRoot()], providers: [Orders] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
for (const id of [1, 2]) app.get(DlxClient).emit('order.created', { id });
await new Promise((resolve) => setTimeout(resolve, 50));

const task = app.get(Redrives).start<Order>({
  from: 'orders.parked',
  perSecond: 200,
  edit: ({ payload }) => {
    if (payload instanceof UndecodablePayloadError) return undefined;
    return { payload: { ...payload, currency: 'EUR' }, headers: { mended: 'currency' } };
  },
});
const { state, redriven } = await task.ended;
console.log(state, redriven);
await app.close();
