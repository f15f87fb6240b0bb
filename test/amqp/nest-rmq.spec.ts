import 'reflect-metadata';
import { Controller, type INestMicroservice, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  ClientProxyFactory,
  Ctx,
  EventPattern,
  MessagePattern,
  Payload,
  RmqContext,
  Transport,
} from '@nestjs/microservices';
import { lastValueFrom } from 'rxjs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type AmqpHouse, amqpHouse, until } from './harness.js';

const events: unknown[] = [];

@Controller()
class Orders {
  @MessagePattern('sum')
  async sum(@Payload() numbers: number[], @Ctx() context: RmqContext): Promise<number> {
    context.getChannelRef().ack(context.getMessage());
    return numbers.reduce((one, other) => one + other, 0);
  }

  @EventPattern('ordered')
  ordered(@Payload() order: unknown, @Ctx() context: unknown): void {
    events.push(order);
    const delivery = context as RmqContext; // the decorator's own types want no more than unknown here
    delivery.getChannelRef().nack(delivery.getMessage(), false, false);
  }
}

@Module({ controllers: [Orders] })
class AppModule {}

let harness: AmqpHouse;
let service: INestMicroservice;
beforeEach(async () => {
  harness = await amqpHouse();
  const queueArguments = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' };
  service = await NestFactory.createMicroservice(AppModule, {
    logger: false,
    transport: Transport.RMQ,
    options: {
      urls: [harness.url],
      queue: 'orders',
      noAck: false,
      prefetchCount: 10,
      queueOptions: { durable: true, arguments: queueArguments },
    },
  });
  await service.listen();
});
afterEach(async () => {
  await service.close();
  await harness.close();
});

it('Nest’s own RabbitMQ client and server work through the listener, and what a handler rejects is dead-lettered', async () => {
  harness.broker.connect().openChannel(silent).declareQueue('dead');
  const client = ClientProxyFactory.create({
    transport: Transport.RMQ,
    options: {
      urls: [harness.url],
      queue: 'orders',
      queueOptions: { durable: true, arguments: { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' } },
    },
  });
  await client.connect();
  const sums = await Promise.all(
    Array.from({ length: 20 }, (_, count) => lastValueFrom(client.send<number>('sum', [count, 1]))),
  );
  expect(sums).toEqual(Array.from({ length: 20 }, (_, count) => count + 1));
  await lastValueFrom(client.emit('ordered', { id: 7 }), { defaultValue: undefined });
  const dead = (): number => harness.broker.virtualHost('/').queues.get('dead')?.length ?? 0;
  await until(() => dead() === 1);
  expect(events).toEqual([{ id: 7 }]);
  await client.close();
});

const silent = {
  deliver: () => undefined,
  returned: () => undefined,
  confirmed: () => undefined,
  cancelled: () => undefined,
  closed: () => undefined,
};
