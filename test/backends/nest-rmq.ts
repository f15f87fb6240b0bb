import { Controller, type INestMicroservice } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  type ClientProxy,
  ClientProxyFactory,
  EventPattern,
  MessagePattern,
  Payload,
  type RmqOptions,
  RpcException,
  Transport,
} from '@nestjs/microservices';
import { from } from 'rxjs';

/** An application of Nest's own RabbitMQ transport, with one queue. */
export async function nestServer(url: string, options: NonNullable<RmqOptions['options']>) {
  const seen: unknown[] = [];

  @Controller()
  class Theirs {
    @MessagePattern('sum')
    sum(@Payload() numbers: number[]): number {
      return numbers.reduce((one, other) => one + other, 0);
    }

    @MessagePattern({ cmd: 'count', of: 'things' })
    count(@Payload() to: number) {
      return from(Array.from({ length: to }, (_, index) => index + 1));
    }

    @MessagePattern('fail')
    fail(): never {
      throw new RpcException({ code: 7 });
    }

    @MessagePattern('nothing')
    nothing(): void {}

    @EventPattern('order.*')
    ordered(@Payload() order: unknown): void {
      seen.push(order);
    }

    @EventPattern('order.created')
    created(@Payload() order: unknown): void {
      seen.push(order);
    }
  }

  const app: INestMicroservice = await NestFactory.createMicroservice(
    { module: class {}, controllers: [Theirs] },
    { logger: false, abortOnError: false, transport: Transport.RMQ, options: { urls: [url], ...options } },
  );
  await app.listen();
  return { app, seen };
}

export const nestClient = (url: string, options: NonNullable<RmqOptions['options']>): ClientProxy =>
  ClientProxyFactory.create({ transport: Transport.RMQ, options: { urls: [url], ...options } });
