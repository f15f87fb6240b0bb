import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Payload } from '@nestjs/microservices';
import { Consume, DlxBroker, DlxBrokerModule, DlxClient } from 'dlx-broker';

@Injectable()
class Payments {
  @Consume({ queue: 'payments', routingKey: 'payment.due' })
  pay(@Payload() { id }: { id: number }): void {
    console.log('paid', id);
  }
}

@Module({ imports: [DlxBrokerModule.forRoot()], providers: [Payments] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const payments = app.get(DlxBroker).queue('payments');
await payments.pause('the bank is down', { for: '1h' });
app.get(DlxClient).emit('payment.due', { id: 1 });
await new Promise((resolve) => setTimeout(resolve, 50));
console.log('paused:', (await payments.paused())?.reason);
await payments.resume();
await new Promise((resolve) => setTimeout(resolve, 50));
await app.close();
