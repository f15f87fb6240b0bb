import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Payload } from '@nestjs/microservices';
import { Consume, DlxBrokerModule, DlxClient, Retry } from 'dlx-broker';

@Injectable()
class Orders {
  @Consume({ queue: 'orders', routingKey: 'order.created' })
  @Retry({ attempts: 2, immediate: 1 })
  ship(): void {
    throw new Error('no stock');
  }
}

@Injectable()
class Alerts {
  @Consume({ queue: 'alerts', exchange: 'dlx.notices', routingKey: 'parked.#' })
  @Retry({ attempts: 5, backoff: '1m' })
  mail(@Payload() { lot, attempt, error }: { lot: string; attempt: number; error: { message: string } }): void {
    console.log(`${lot}: ${error.message}, ${attempt} attempts`);
    setImmediate(() => app.close());
  }
}

@Module({ imports: [DlxBrokerModule.forRoot({ notices: 'dlx.notices' })], providers: [Orders, Alerts] })
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
app.get(DlxClient).emit('order.created', {});
