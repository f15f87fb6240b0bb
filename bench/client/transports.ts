import 'reflect-metadata';
import { Controller, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ClientProxyFactory, Ctx, EventPattern, Payload, RmqContext, Transport } from '@nestjs/microservices';
import type { Channel, ConsumeMessage } from 'amqplib';
import { openRabbitMq } from '../../libs/dlx-broker/src/backends/rabbitmq/open.js';
import {
  type BrokerChoice,
  Consume,
  customBackend,
  DlxBrokerModule,
  DlxClient,
  Prefetch,
  rabbitmq,
} from '../../libs/dlx-broker/src/index.js';
import { connectOwn } from './clients.js';
import { InstantServer } from './instant-server.js';

/** One way to publish and to handle events with the same guarantees: persistent, confirmed, and acked after the handler. */
export interface Contender {
  readonly name: string;
  /** @param done called when the server has confirmed the event */
  emit(event: Event | string, done: () => void): void;
  /** Handles events from now on, 100 of them unacknowledged at most. @param handled called for each event */
  handle(handled: (event: Event | string) => void): Promise<void>;
  close(): Promise<void>;
}

/** An event of about a kilobyte. */
export interface Event {
  readonly number: number;
  readonly text: string;
}

/** The topic exchange of this library for events. */
const eventsExchange = 'dlx.events';

const failed = (error: unknown): never => {
  throw error;
};
const quiet = { logger: ['error', 'fatal'] as ('error' | 'fatal')[] };

/** A URL of this scheme stands for an {@link InstantServer}: `instant://localhost/?{"number":1}` gives the body of its deliveries. */
const instantScheme = 'instant:';

/** The most unconfirmed publishes: as many as the benchmark has outstanding, because the client by hand has no limit. */
const mostOutstanding = 10_000;

const instantServer = (url: URL): InstantServer =>
  new InstantServer(Buffer.from(decodeURIComponent(url.search.slice(1))));

async function brokerAt(url: URL): Promise<BrokerChoice> {
  if (url.protocol !== instantScheme) return rabbitmq({ urls: url.href, unconfirmed: mostOutstanding });
  const log = { warn: () => undefined, fault: failed };
  const backend = openRabbitMq({ urls: 'amqp://guest:guest@localhost' }, log, () => instantServer(url));
  await backend.connect();
  return customBackend(backend);
}

/** `emit` and `@Consume` of this library. */
export async function ours(url: URL, queue: string): Promise<Contender> {
  const broker = await brokerAt(url);
  @Module({ imports: [DlxBrokerModule.forRoot({ broker })] })
  class Publishing {}
  // The queue exists before the first event.
  const server = await serving(url, queue, () => undefined);
  await server.close();
  const app = await NestFactory.createApplicationContext(Publishing, quiet);
  const client = app.get(DlxClient);
  let consuming: { close(): Promise<unknown> } | undefined;
  return {
    name: 'dlx-broker: emit, @Consume',
    emit: (event, done) => void client.emit(queue, event).subscribe({ complete: done, error: failed }),
    handle: async (handled) => {
      consuming = await serving(url, queue, handled);
    },
    close: async () => {
      await consuming?.close();
      await app.close();
    },
  };
}

async function serving(
  url: URL,
  queue: string,
  handled: (event: Event | string) => void,
): Promise<{ close(): Promise<void> }> {
  @Injectable()
  class Handlers {
    @Consume({ queue, routingKey: queue })
    @Prefetch(100)
    handle(@Payload() event: Event | string): void {
      handled(event);
    }
  }
  const imports = [DlxBrokerModule.forRoot({ broker: await brokerAt(url) })];
  @Module({ imports, providers: [Handlers] })
  class Handling {}
  return NestFactory.createApplicationContext(Handling, quiet);
}

/** `ClientRMQ` and `ServerRMQ` of Nest. */
export async function nest(url: URL, queue: string): Promise<Contender> {
  const options = { urls: [url.href], queue, queueOptions: { durable: true } };
  const client = ClientProxyFactory.create({ transport: Transport.RMQ, options: { ...options, persistent: true } });
  await client.connect();
  let server: { close(): Promise<unknown> } | undefined;
  return {
    name: "Nest's RMQ transport",
    emit: (event, done) => void client.emit(queue, event).subscribe({ complete: done, error: failed }),
    handle: async (handled) => {
      @Controller()
      class Handlers {
        @EventPattern<string>(queue)
        handle(@Payload() event: Event | string, @Ctx() context: RmqContext): void {
          handled(event);
          (context.getChannelRef() as Channel).ack(context.getMessage() as ConsumeMessage);
        }
      }
      @Module({ controllers: [Handlers] })
      class Handling {}
      const app = await NestFactory.createMicroservice(Handling, {
        transport: Transport.RMQ,
        options: { ...options, noAck: false, prefetchCount: 100 },
        ...quiet,
      });
      await app.listen();
      server = app;
    },
    close: async () => {
      await server?.close();
      await client.close();
    },
  };
}

/**
 * The same by hand with the client under `rabbitmq()`: JSON, a mandatory publish to the same topic exchange, and an ack.
 * @param exchange empty for the default exchange, which costs the server less
 */
export async function byHand(url: URL, queue: string, exchange = eventsExchange): Promise<Contender> {
  const transport = url.protocol === instantScheme ? instantServer(url) : undefined;
  const { connection, publisher, channel } = await connectOwn(url, queue, transport);
  if (exchange !== '') {
    await new Promise<void>((resolve) => {
      channel.declareExchange(exchange, 'topic', { durable: true }, (error) => error && failed(error));
      channel.bindQueue(queue, exchange, queue, undefined, (error) =>
        error === undefined ? resolve() : failed(error),
      );
    });
  }
  let count = 0;
  const properties = () => ({ deliveryMode: 2, contentType: 'application/json', messageId: `h.${++count}` }) as const;
  return {
    name: 'by hand with its client',
    emit: (event, done) =>
      publisher.publish(exchange, queue, properties(), Buffer.from(JSON.stringify(event)), true, (error) =>
        error === undefined ? done() : failed(error),
      ),
    handle: async (handled) => {
      channel.qos(100, () => undefined);
      const events = {
        delivered: ({ body, deliveryTag }: { readonly body: Buffer; readonly deliveryTag: number }) => {
          handled(JSON.parse(body.toString()) as Event | string);
          channel.ack(deliveryTag);
        },
        cancelled: () => undefined,
      };
      channel.consume(queue, {}, events, (...[error]) => error && failed(error));
    },
    close: async () => connection.close(),
  };
}
