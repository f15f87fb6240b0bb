import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import { Consume, DeadLetter, DlxBrokerModule, DlxClient, DlxContext, Retry } from 'dlx-broker';

@Injectable()
class Orders {
  @Consume({ queue: 'orders', routingKey: 'order.created' })
  @DeadLetter('orders.dlx')
  create(@Payload() order: { id: number }): void {
    throw new Error(`no tea for order ${order.id}`);
  }

  @Consume({ queue: 'orders.dead', exchange: 'orders.dlx', routingKey: '#' })
  @Retry({ attempts: 3 })
  bury(@Payload() order: { id: number }, @Ctx() { routingKey, deaths }: DlxContext): void {
    console.log(order, routingKey, deaths);
  }
}

@Module({ imports: [DlxBrokerModule.forRoot()], providers: [Orders] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule);
app.enableShutdownHooks(); // at SIGTERM handlers finish what they have in hand
app.get(DlxClient).emit('order.created', { id: 7 });
