import { Controller, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  ClientProxy,
  ClientProxyFactory,
  type ClientOptions,
  EventPattern,
  MessagePattern,
  type MicroserviceOptions,
  type ReadPacket,
  Server,
  Transport,
  type WritePacket,
} from '@nestjs/microservices';
import { DlxBrokerModule, DlxClient, DlxServer } from 'dlx-broker';
import 'reflect-metadata';
import { url } from './programs.js';
import { freePort, openRedis } from './redis.js';

/** A client, connected to a microservice with one handler for the event `e` and one for the request `r`. */
export interface Pair {
  readonly client: ClientProxy;
  /** The number of handled events. */
  handled(): number;
  close(): Promise<void>;
}

const quiet = { logger: false as const };

/** The handlers, the same for all transports. */
function handlers(): { readonly controller: Type; handled(): number } {
  let count = 0;
  @Controller()
  class Handlers {
    @EventPattern('e')
    event(_data: unknown): void {
      count++;
    }
    @MessagePattern('r')
    request(): number {
      return 1;
    }
  }
  return { controller: Handlers, handled: () => count };
}

/** The transport of this library, on a broker in the process. */
export async function dlx(): Promise<Pair> {
  const { controller, handled } = handlers();
  @Module({ imports: [DlxBrokerModule.forRoot()], controllers: [controller] })
  class AppModule {}
  const app = await NestFactory.createMicroservice(AppModule, {
    ...quiet,
    inject: [DlxServer],
    useFactory: (strategy: DlxServer) => ({ strategy }),
  });
  await app.listen();
  const client = app.get(DlxClient);
  await client.connect();
  return { client, handled, close: () => app.close() };
}

/** One of Nest's own transports. */
async function nests(options: MicroserviceOptions & ClientOptions, after?: () => void): Promise<Pair> {
  const { controller, handled } = handlers();
  @Module({ controllers: [controller] })
  class AppModule {}
  const app = await NestFactory.createMicroservice<MicroserviceOptions>(AppModule, { ...quiet, ...options });
  await app.listen();
  const client = ClientProxyFactory.create(options);
  await client.connect();
  return {
    client,
    handled,
    async close() {
      client.close();
      await app.close();
      after?.();
    },
  };
}

export const rabbitMq = (): Promise<Pair> =>
  nests({
    transport: Transport.RMQ,
    options: { urls: [url], queue: `bench-${process.pid}`, queueOptions: { durable: false, autoDelete: true } },
  });

export async function tcp(): Promise<Pair> {
  return nests({ transport: Transport.TCP, options: { host: '127.0.0.1', port: await freePort() } });
}

export async function redis(): Promise<Pair> {
  const { port, stop } = await openRedis();
  return nests({ transport: Transport.REDIS, options: { host: '127.0.0.1', port } }, stop);
}

/** The work of Nest alone: the client passes the packet to the handler. */
class NoServer extends Server {
  listen(callback: () => void): void {
    callback();
  }
  close(): void {}
  on(): void {}
  unwrap<T>(): T {
    return this as unknown as T;
  }
}

class NoClient extends ClientProxy {
  constructor(private readonly server: NoServer) {
    super();
  }
  async connect(): Promise<void> {}
  close(): void {}
  unwrap<T>(): T {
    return this as unknown as T;
  }
  protected async dispatchEvent<T>({ pattern, data }: ReadPacket): Promise<T> {
    await this.server.getHandlerByPattern(pattern as string)?.(data);
    return undefined as T;
  }
  protected publish({ pattern, data }: ReadPacket, callback: (packet: WritePacket) => void): () => void {
    const handler = this.server.getHandlerByPattern(pattern as string);
    void handler?.(data).then((result: unknown) => {
      this.server.send(this.server.transformToObservable(result), (packet) => callback(packet));
    });
    return () => undefined;
  }
}

export async function floor(): Promise<Pair> {
  const { controller, handled } = handlers();
  @Module({ controllers: [controller] })
  class AppModule {}
  const strategy = new NoServer();
  const app = await NestFactory.createMicroservice<MicroserviceOptions>(AppModule, { ...quiet, strategy });
  await app.listen();
  return { client: new NoClient(strategy), handled, close: () => app.close() };
}
