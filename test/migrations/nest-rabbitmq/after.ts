import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type AsyncMicroserviceOptions, Ctx, EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import {
  DeadLetter,
  DlxBrokerModule,
  DlxClient,
  DlxContext,
  DlxRecordBuilder,
  DlxServer,
  Prefetch,
  Queue,
  rabbitmq,
  Reject,
  Retry,
} from 'dlx-broker';
import { firstValueFrom, lastValueFrom } from 'rxjs';
import type { Shop } from '../shop.js';

export async function start(url: string): Promise<Shop> {
  const log: string[] = [];

  @Controller()
  class Orders {
    @MessagePattern('price')
    price(@Payload() quantity: number): number {
      return quantity * 3;
    }

    @EventPattern<string>('order.created')
    @Queue('orders')
    @Prefetch(1)
    @DeadLetter('orders.dlx', 'failed')
    @Retry({ attempts: 5, backoff: '10ms' })
    created(@Payload() { id }: { id: number }, @Ctx() { headers, attempt }: DlxContext): void {
      log.push(`order ${id} of ${String(headers['tenant'])}`);
      if (id === 9 && attempt === 1) {
        log.push('order 9 is late');
        throw new Error('the warehouse does not answer');
      }
      if (id === 8) throw new Reject('there is no such order');
    }
  }

  @Module({
    imports: [DlxBrokerModule.forRoot({ broker: rabbitmq({ urls: url }), logFailures: 'none' })],
    controllers: [Orders],
  })
  class AppModule {}

  const app = await NestFactory.createMicroservice<AsyncMicroserviceOptions>(AppModule, {
    logger: false,
    abortOnError: false,
    inject: [DlxServer],
    useFactory: (server: DlxServer) => ({ strategy: server }),
  });
  await app.listen();
  const client = app.get(DlxClient);
  return {
    log,
    price: (quantity) => firstValueFrom(client.send<number>('price', quantity)),
    order: (id, tenant) =>
      lastValueFrom(client.emit('order.created', new DlxRecordBuilder({ id }).setHeaders({ tenant }).build()), {
        defaultValue: undefined,
      }),
    close: () => app.close(),
  };
}
