import { type DynamicModule, type INestApplicationContext, Injectable } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createRequire } from 'node:module';

/** What the tests use of golevelup's package. Its own types are those of Nest 11. */
interface Golevelup {
  readonly AmqpConnection: new () => GolevelupConnection;
  readonly RabbitMQModule: { forRoot(options: object): DynamicModule };
  RabbitSubscribe(options: object): MethodDecorator;
  RabbitRPC(options: object): MethodDecorator;
}

export interface GolevelupConnection {
  publish(exchange: string, routingKey: string, message: unknown): Promise<boolean>;
  request(request: { exchange: string; routingKey: string; payload: unknown; timeout: number }): Promise<unknown>;
}

const { AmqpConnection, RabbitMQModule, RabbitSubscribe, RabbitRPC } = createRequire(import.meta.url)(
  '@golevelup/nestjs-rabbitmq',
) as Golevelup;

/** The exchange of its handlers. */
export const golevelupExchange = 'shop';

/** An application of golevelup's module with two handlers. Only one at a time: its connections are static. */
export async function golevelupApp(uri: string) {
  const seen: unknown[] = [];

  @Injectable()
  class Warehouse {
    @RabbitSubscribe({ exchange: golevelupExchange, routingKey: 'stock.*', queue: 'stock' })
    stock(message: unknown): void {
      seen.push(message);
    }

    @RabbitRPC({ exchange: golevelupExchange, routingKey: 'count', queue: 'count' })
    count(message: { readonly of: readonly unknown[] }): { readonly count: number } {
      return { count: message.of.length };
    }
  }

  const exchanges = [{ name: golevelupExchange, type: 'topic' }];
  const module = RabbitMQModule.forRoot({ uri, exchanges });
  const app: INestApplicationContext = await NestFactory.createApplicationContext(
    { module: class {}, imports: [module], providers: [Warehouse] },
    { logger: false, abortOnError: false },
  );
  return { app, seen, connection: app.get<GolevelupConnection>(AmqpConnection) };
}
