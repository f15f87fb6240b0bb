import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Payload } from '@nestjs/microservices';
import { Consume, DlxBroker, DlxBrokerModule, DlxClient, Idempotent } from 'dlx-broker';

interface Payment {
  readonly id: string;
}

@Injectable()
class Payments {
  @Consume({ queue: 'payments', routingKey: 'payment.requested' })
  @Idempotent({ key: (payment: Payment) => payment.id, ttl: '7d' })
  pay(@Payload() { id }: Payment): void {
    console.log('paid', id);
  }
}

@Module({ imports: [DlxBrokerModule.forRoot({ prefetch: 1 })], providers: [Payments] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
for (const id of ['a', 'b', 'a']) app.get(DlxClient).emit('payment.requested', { id });
await new Promise((resolve) => setTimeout(resolve, 50));
console.log('duplicates', app.get(DlxBroker).counts.duplicates);
await app.close();
