import { Controller, Inject, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  type ClientProxy,
  ClientsModule,
  Ctx,
  EventPattern,
  MessagePattern,
  Payload,
  RmqContext,
  RmqRecordBuilder,
  Transport,
} from '@nestjs/microservices';
import type { Channel, ConsumeMessage } from 'amqplib';
import { firstValueFrom, lastValueFrom } from 'rxjs';
import type { Shop } from '../shop.js';

const queue = 'orders';
const deadLetters = { 'x-dead-letter-exchange': 'orders.dlx', 'x-dead-letter-routing-key': 'failed' };
const queueOptions = { durable: true, arguments: deadLetters };

export async function start(url: string): Promise<Shop> {
  const log: string[] = [];

  @Controller()
  class Orders {
    @MessagePattern('price')
    price(@Payload() quantity: number, @Ctx() context: RmqContext): number {
      settle(context, true);
      return quantity * 3;
    }

    @EventPattern<string>('order.created')
    created(@Payload() { id }: { id: number }, @Ctx() context: RmqContext): void {
      const { headers } = (context.getMessage() as ConsumeMessage).properties;
      log.push(`order ${id} of ${String(headers?.['tenant'])}`);
      if (id === 9 && !log.includes('order 9 is late')) {
        log.push('order 9 is late');
        (context.getChannelRef() as Channel).nack(context.getMessage() as ConsumeMessage, false, true); // at once, and without an end
        return;
      }
      settle(context, id !== 8);
    }
  }

  /** A handler that throws and forgets this leaves its message unacknowledged. */
  function settle(context: RmqContext, isDone: boolean): void {
    const channel = context.getChannelRef() as Channel;
    const message = context.getMessage() as ConsumeMessage;
    if (isDone) channel.ack(message);
    else channel.nack(message, false, false);
  }

  const options = { urls: [url], queue, queueOptions };
  @Module({
    imports: [
      ClientsModule.register([{ name: 'SHOP', transport: Transport.RMQ, options: { ...options, persistent: true } }]),
    ],
    controllers: [Orders],
  })
  class AppModule {
    constructor(@Inject('SHOP') readonly client: ClientProxy) {}
  }

  const app = await NestFactory.createMicroservice(AppModule, {
    logger: false,
    abortOnError: false,
    transport: Transport.RMQ,
    options: { ...options, noAck: false, prefetchCount: 1 },
  });
  await app.listen();
  const { client } = app.get(AppModule);
  return {
    log,
    price: (quantity) => firstValueFrom(client.send<number>('price', quantity)),
    order: (id, tenant) =>
      lastValueFrom(
        client.emit('order.created', new RmqRecordBuilder({ id }).setOptions({ headers: { tenant } }).build()),
        {
          defaultValue: undefined,
        },
      ),
    close: () => app.close(),
  };
}
