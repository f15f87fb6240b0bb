import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx } from '@nestjs/microservices';
import { Consume, DeadLetter, DlxBrokerModule, DlxClient, DlxContext, DlxRecordBuilder, Ttl } from 'dlx-broker';

@Injectable()
class Offers {
  /** One at a time, and each takes a while: those behind it wait, and some wait too long. */
  @Consume({ queue: 'offers', routingKey: 'offer.made' })
  @Ttl('40ms')
  @DeadLetter('offers.late')
  async handle(@Ctx() context: DlxContext): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 60));
    console.log('handled', context.properties.messageId);
  }

  @Consume({ queue: 'offers.expired', exchange: 'offers.late', routingKey: '#' })
  late(@Ctx() { properties, deaths }: DlxContext): void {
    console.log(deaths[0]?.reason, properties.messageId);
  }
}

@Module({ imports: [DlxBrokerModule.forRoot({ prefetch: 1 })], providers: [Offers] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
for (const messageId of ['first', 'second']) {
  app.get(DlxClient).emit('offer.made', new DlxRecordBuilder({}, { messageId }).build());
}
setTimeout(() => app.close(), 150);
