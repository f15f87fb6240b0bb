import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import { Consume, DlxBrokerModule, DlxClient, DlxContext, rabbitmq, Retry } from 'dlx-broker';
import { lastValueFrom } from 'rxjs';

@Injectable()
class Orders {
  @Consume({ queue: 'orders', routingKey: 'order.created' })
  @Retry({ attempts: 3, backoff: { type: 'fixed', delay: '500ms' } })
  create(@Payload() { id }: { id: number }, @Ctx() { attempt, queue }: DlxContext): void {
    if (attempt < 3) throw new Error('no answer from the warehouse');
    console.log(`order ${id} from queue '${queue}', attempt ${attempt}`);
  }
}

const { BROKER_URL = 'amqp://guest:guest@127.0.0.1:5672' } = process.env;
const broker = rabbitmq({ urls: BROKER_URL.split(',') });

@Module({
  imports: [DlxBrokerModule.forRoot({ broker, clusterTopology: true, logFailures: 'none' })],
  providers: [Orders],
})
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['warn', 'error', 'fatal'] });
app.enableShutdownHooks();
await lastValueFrom(app.get(DlxClient).emit('order.created', { id: 7 }), { defaultValue: undefined });
console.log('the server has confirmed order 7');
