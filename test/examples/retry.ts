import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import { Consume, DlxBrokerModule, DlxClient, DlxContext, Park, Retry, RetryLater } from 'dlx-broker';

@Injectable()
class Payments {
  @Consume({ queue: 'payments', routingKey: 'payment.requested' })
  @Retry({ attempts: 3, backoff: { type: 'exponential', delay: '20ms', max: '1m' } })
  pay(@Payload() { amount }: { amount: number }, @Ctx() { attempt, attempts, lastError }: DlxContext): void {
    console.log(`attempt ${attempt} of ${attempts}, before it: ${lastError?.message ?? 'nothing'}`);
    if (amount < 0) throw new Park('the amount is negative');
    if (attempt === 1) throw new RetryLater('10ms', 'the bank is closed for a moment');
    if (attempt === 2) throw new Error('the bank does not answer');
    console.log('paid');
    client.emit('payment.requested', { amount: -5 });
  }

  @Consume('payments.parked')
  look(@Ctx() { headers }: DlxContext): void {
    console.log('parked:', headers['dlx-error-message']);
    setImmediate(() => app.close());
  }
}

@Module({ imports: [DlxBrokerModule.forRoot()], providers: [Payments] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const client = app.get(DlxClient);
client.emit('payment.requested', { amount: 5 });
