import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx } from '@nestjs/microservices';
import { Consume, DeadLetters, DlxBrokerModule, DlxClient, DlxContext, Retry } from 'dlx-broker';
import { firstValueFrom } from 'rxjs';

@Injectable()
class Orders {
  @Consume({ queue: 'orders', routingKey: 'order.created' })
  @Retry({ attempts: 3, immediate: 2 })
  ship(@Ctx() { attempt, errors }: DlxContext): void {
    console.log(`attempt ${attempt}, ${errors.length} errors before`);
    throw new Error(attempt === 1 ? 'no stock of 17' : `no answer after ${attempt} s`);
  }
}

@Module({ imports: [DlxBrokerModule.forRoot()], providers: [Orders] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
app.get(DlxClient).emit('order.created', {});
const letter = await firstValueFrom(app.get(DeadLetters).from('orders.parked'));
for (const { attempt, name, message, handler } of letter.errors) console.log(attempt, handler, name, message);
console.log(letter.fingerprint);
await app.close();
