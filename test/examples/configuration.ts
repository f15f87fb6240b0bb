import { Injectable, Module } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import { Consume, DlxBrokerModule, DlxClient, DlxContext, HandlerAsync, Prefetch, queue, Retry } from 'dlx-broker';

const settings = { ORDERS_QUEUE: 'orders.eu', ORDERS_KEYS: ['order.*', 'refund.*'], ORDERS_ATTEMPTS: 2 };

@Injectable()
class Orders {
  @HandlerAsync({
    inject: [ConfigService],
    useFactory: (config: ConfigService) => [
      Consume({
        queue: config.getOrThrow<string>('ORDERS_QUEUE'),
        routingKey: config.getOrThrow<string[]>('ORDERS_KEYS'),
      }),
      Retry({ attempts: Number(config.get('ORDERS_ATTEMPTS', 5)), backoff: '20ms' }),
    ],
  })
  @Prefetch(20)
  take(@Payload() { id }: { id: number }, @Ctx() context: DlxContext): void {
    console.log(
      `${context.getPattern()} ${id} from '${context.queue}', attempt ${context.attempt} of ${context.attempts}`,
    );
    if (context.isLastAttempt) setImmediate(() => app.close());
    else throw new Error('no stock');
  }
}

@Module({
  imports: [
    ConfigModule.forRoot({ isGlobal: true, load: [() => settings] }),
    DlxBrokerModule.forRoot({ logFailures: 'none' }),
    DlxBrokerModule.forFeatureAsync({
      inject: [ConfigService],
      useFactory: (config: ConfigService) => ({ queues: [queue(`${config.get('ORDERS_QUEUE')}.late`, { ttl: '1h' })] }),
    }),
  ],
  providers: [Orders],
})
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
app.get(DlxClient).emit('refund.asked', { id: 7 });
