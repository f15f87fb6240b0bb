import { type DynamicModule, Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createRequire } from 'node:module';
import type { Shop } from '../shop.js';

/** What this application uses of golevelup's package, whose own types are those of Nest 11. */
interface Golevelup {
  readonly AmqpConnection: new () => {
    publish(exchange: string, routingKey: string, message: unknown, options?: object): Promise<boolean>;
    request<T>(request: { exchange: string; routingKey: string; payload: unknown; timeout: number }): Promise<T>;
  };
  readonly Nack: new (requeue?: boolean) => object;
  readonly RabbitMQModule: { forRoot(options: object): DynamicModule };
  RabbitSubscribe(options: object): MethodDecorator;
  RabbitRPC(options: object): MethodDecorator;
  RabbitPayload(property?: string): ParameterDecorator;
  RabbitHeader(property?: string): ParameterDecorator;
}

const { AmqpConnection, Nack, RabbitHeader, RabbitMQModule, RabbitPayload, RabbitRPC, RabbitSubscribe } = createRequire(
  import.meta.url,
)('@golevelup/nestjs-rabbitmq') as Golevelup;

export async function start(url: string): Promise<Shop> {
  const log: string[] = [];

  @Injectable()
  class Orders {
    @RabbitSubscribe({
      exchange: 'shop',
      routingKey: ['order.created', 'order.changed'],
      queue: 'orders',
      queueOptions: { channel: 'slow', deadLetterExchange: 'orders.dlx', deadLetterRoutingKey: 'failed' },
    })
    created(@RabbitPayload('id') id: number, @RabbitHeader('tenant') tenant: string): object | void {
      log.push(`order ${id} of ${tenant}`);
      if (id === 9 && !log.includes('order 9 is late')) {
        log.push('order 9 is late');
        return new Nack(true);
      }
      if (id === 8) return new Nack();
    }

    @RabbitRPC({ exchange: 'shop', routingKey: 'price', queue: 'prices' })
    price(@RabbitPayload('quantity') quantity: number): number {
      return quantity * 3;
    }
  }

  const module = RabbitMQModule.forRoot({
    uri: url,
    exchanges: [{ name: 'shop', type: 'topic' }],
    channels: { slow: { prefetchCount: 1 } },
    connectionInitOptions: { skipDisconnectFailedLogging: true },
  });
  const app = await NestFactory.createApplicationContext(
    { module: class {}, imports: [module], providers: [Orders] },
    { logger: false, abortOnError: false },
  );
  const amqp = app.get(AmqpConnection);
  return {
    log,
    price: (quantity) =>
      amqp.request<number>({ exchange: 'shop', routingKey: 'price', payload: { quantity }, timeout: 5_000 }),
    order: (id, tenant) => amqp.publish('shop', 'order.created', { id }, { headers: { tenant }, persistent: true }),
    close: () => app.close(),
  };
}
