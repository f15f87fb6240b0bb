import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import { Consume, DlxBroker, DlxBrokerModule, DlxClient, DlxContext, Prefetch, Retry } from 'dlx-broker';

@Injectable()
class Mails {
  /** attempts: 3, backoff: exponential, concurrency: 5 */
  @Consume({ queue: 'mails', routingKey: 'mail' })
  @Prefetch(5)
  @Retry({ attempts: 3, backoff: { type: 'exponential', delay: '10ms' } })
  send(@Payload() { to }: { to: string }, @Ctx() { attempt }: DlxContext): void {
    console.log('to', to, 'attempt', attempt);
    if (attempt < 3) throw new Error('the server is busy');
  }
}

@Module({ imports: [DlxBrokerModule.forRoot()], providers: [Mails] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
app.get(DlxBroker).events.subscribe(({ kind, queue }) => {
  if (queue === 'mails') console.log(kind);
});
app.get(DlxClient).emit('mail', { to: 'everybody' });
await new Promise((resolve) => setTimeout(resolve, 150));
await app.close();
