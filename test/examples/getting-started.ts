import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import { Consume, DlxBrokerModule, DlxClient, DlxContext, Retry } from 'dlx-broker';

@Injectable()
class Orders {
  @Consume({ queue: 'orders', routingKey: 'order.*' })
  @Retry({ attempts: 2, backoff: '20ms' })
  create(@Payload() { id }: { id: number }, @Ctx() { attempt }: DlxContext): void {
    console.log(`order ${id}, attempt ${attempt}`);
    throw new Error('no tea');
  }

  @Consume('orders.parked')
  parked(@Payload() { id }: { id: number }, @Ctx() { headers }: DlxContext): void {
    console.log(`parked: order ${id},`, headers['dlx-error-message']);
    setImmediate(() => app.close());
  }
}

@Module({ imports: [DlxBrokerModule.forRoot()], providers: [Orders] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
app.get(DlxClient).emit('order.created', { id: 7 });
