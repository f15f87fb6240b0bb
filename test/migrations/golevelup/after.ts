import { Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { type AsyncMicroserviceOptions, Ctx, MessagePattern, Payload } from '@nestjs/microservices';
import {
  Consume,
  DeadLetter,
  DlxBrokerModule,
  DlxClient,
  DlxContext,
  DlxRecordBuilder,
  DlxServer,
  Prefetch,
  rabbitmq,
  Reject,
  RetryLater,
} from 'dlx-broker';
import { firstValueFrom, lastValueFrom, timeout } from 'rxjs';
import type { Shop } from '../shop.js';

export async function start(url: string): Promise<Shop> {
  const log: string[] = [];

  @Controller() // because of @MessagePattern: a class with @Consume alone may stay a provider
  class Orders {
    @Consume({
      queue: 'orders',
      exchange: { name: 'shop', type: 'topic' },
      routingKey: ['order.created', 'order.changed'],
    })
    @Prefetch(1)
    @DeadLetter('orders.dlx', 'failed')
    created(@Payload('id') id: number, @Ctx() { headers, attempt }: DlxContext): void {
      log.push(`order ${id} of ${String(headers['tenant'])}`);
      if (id === 9 && attempt === 1) {
        log.push('order 9 is late');
        throw new RetryLater('10ms');
      }
      if (id === 8) throw new Reject('there is no such order');
    }

    @MessagePattern<string>('price')
    price(@Payload('quantity') quantity: number): number {
      return quantity * 3;
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
  const shop = client.to({ exchange: 'shop' });
  return {
    log,
    price: (quantity) => firstValueFrom(client.send<number>('price', { quantity }).pipe(timeout(5_000))),
    order: (id, tenant) =>
      lastValueFrom(shop.emit('order.created', new DlxRecordBuilder({ id }).setHeaders({ tenant }).build()), {
        defaultValue: undefined,
      }),
    close: () => app.close(),
  };
}
