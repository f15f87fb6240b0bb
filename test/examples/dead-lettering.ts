import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import { Consume, DeadLetter, DlxBrokerModule, DlxClient, DlxContext } from 'dlx-broker';

@Injectable()
class Orders {
  @Consume({ queue: 'orders', routingKey: 'order.created' })
  @DeadLetter('orders.dlx', 'failed')
  create(@Payload() order: { id: number }): void {
    throw new Error(`no tea for order ${order.id}`);
  }

  @Consume({ queue: 'orders.dead', exchange: 'orders.dlx', routingKey: 'failed' })
  bury(@Ctx() { headers, deaths }: DlxContext): void {
    for (const { reason, queue, routingKeys, count } of deaths) console.log(reason, queue, routingKeys, count);
    console.log(headers['dlx-error-message']);
  }
}

@Module({ imports: [DlxBrokerModule.forRoot()], providers: [Orders] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
app.get(DlxClient).emit('order.created', { id: 7 });
setTimeout(() => app.close(), 50);
