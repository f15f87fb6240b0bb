import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import { Consume, DlxBroker, DlxBrokerModule, DlxClient, DlxContext, Outbox, Retry } from 'dlx-broker';
import { filter, firstValueFrom, skip } from 'rxjs';

@Injectable()
class Orders {
  constructor(private readonly client: DlxClient) {}

  @Consume({ queue: 'orders', routingKey: 'order.created' })
  @Outbox()
  @Retry({ attempts: 3, backoff: ['20ms'] })
  created(@Payload() { id }: { id: string }, @Ctx() context: DlxContext): void {
    this.client.emit('invoice.wanted', { id });
    this.client.emit('parcel.wanted', { id }, { delay: '10ms' });
    console.log(`attempt ${context.attempt}: ${context.outbox?.count} events in the outbox`);
    if (context.attempt === 1) throw new Error('the stock does not answer');
  }

  @Consume({ queue: 'invoices', routingKey: '*.wanted' })
  wanted(@Payload() { id }: { id: string }, @Ctx() context: DlxContext): void {
    console.log(context.getPattern(), id);
  }
}

@Module({ imports: [DlxBrokerModule.forRoot({ logFailures: 'none' })], providers: [Orders] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const acked = app.get(DlxBroker).events.pipe(filter(({ kind }) => kind === 'acked'));
const threeAcked = firstValueFrom(acked.pipe(skip(2)));
app.get(DlxClient).emit('order.created', { id: 'a' });
await threeAcked;
await app.close();
