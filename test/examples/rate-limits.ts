import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import { Consume, DlxBroker, DlxBrokerModule, DlxClient, DlxContext, RateLimit, Retry, RetryLater } from 'dlx-broker';

let first: number | undefined;

@Injectable()
class Mails {
  @Consume({ queue: 'mails', routingKey: 'mail.wanted' })
  @RateLimit({ limit: 2, per: '200ms' })
  @Retry({ attempts: 3 })
  send(@Payload() { to }: { to: string }, @Ctx() { attempt }: DlxContext): void {
    first ??= Date.now();
    console.log(`${to}, attempt ${attempt}, after ${Math.round((Date.now() - first) / 200) * 200} ms`);
    if (to === 'a' && attempt === 1) throw new RetryLater(600, 'the service answered 429');
  }
}

@Module({ imports: [DlxBrokerModule.forRoot({ logFailures: 'none' })], providers: [Mails] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
const client = app.get(DlxClient);
const handler = app.get(DlxBroker).handler('Mails.send');
for (const to of ['a', 'b', 'c', 'd', 'e']) client.emit('mail.wanted', { to });
setTimeout(() => handler.setRateLimit({ limit: 100, per: '1s' }), 900);
setTimeout(() => {
  console.log(handler.rateLimit);
  void app.close();
}, 1000);
