import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Consume, DlxBroker, DlxBrokerModule, DlxClient, Retry } from 'dlx-broker';

@Injectable()
class Orders {
  @Consume({ queue: 'orders', routingKey: 'order.created' })
  @Retry({ attempts: 1, parkFor: '50ms' }) // '90d' in production
  created(): void {
    throw new Error('no stock');
  }
}

@Module({ imports: [DlxBrokerModule.forRoot()], providers: [Orders] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
app.get(DlxClient).emit('order.created', { id: 1 });
await new Promise((resolve) => setTimeout(resolve, 300));
const { backend } = app.get(DlxBroker);
for (const queue of ['orders.parked', 'orders.parked.archive']) {
  console.log(queue, (await backend.status(queue))?.messages);
}
await app.close();
