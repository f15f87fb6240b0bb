import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Payload } from '@nestjs/microservices';
import { Consume, DeadLetter, DlxBrokerModule, DlxClient, DlxRecordBuilder, RetryLater } from 'dlx-broker';

@Injectable()
class Orders {
  #calls = 0;

  @Consume({ queue: 'orders', exchange: { name: 'shop', type: 'topic' }, routingKey: 'order.*' })
  @DeadLetter('orders.dlx')
  handle(@Payload() { id }: { id: number }): void {
    console.log('order', id);
    if (++this.#calls === 1) throw new RetryLater('20ms');
  }
}

@Module({ imports: [DlxBrokerModule.forRoot()], providers: [Orders] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
app.get(DlxClient).emit('order.created', new DlxRecordBuilder({ id: 7 }).setExchange('shop').build());
await new Promise((resolve) => setTimeout(resolve, 100));
await app.close();
