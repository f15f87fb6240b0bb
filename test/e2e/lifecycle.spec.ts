import {
  Controller,
  Injectable,
  Module,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventPattern } from '@nestjs/microservices';
import {
  Answer,
  Consume,
  DlxBroker,
  DlxBrokerModule,
  DlxClient,
  DlxServer,
  getDlxToken,
  getDlxTransportId,
  InjectDlx,
  customBackend,
  request,
} from 'dlx-broker';
import { EmbeddedBackend } from 'dlx-broker/engine';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { contextApp, hybrid, microservice } from './apps.js';
import { deleteQueue, freshBroker, here, idle, isEmbedded, until } from './places.js';

/** A handler that works until it is released. */
@Controller()
class Slow {
  readonly begun: unknown[] = [];
  readonly done: unknown[] = [];
  release!: () => void;
  readonly #gate = new Promise<void>((resolve) => (this.release = resolve));

  @EventPattern<string>('slow')
  async event(data: unknown): Promise<void> {
    await this.#work(data);
  }

  @Consume({ routingKey: 'calm' })
  async consume(data: unknown): Promise<void> {
    await this.#work(data);
  }

  async #work(data: unknown): Promise<void> {
    this.begun.push(data);
    await this.#gate;
    this.done.push(data);
  }
}

describe.each([
  ['microservice', microservice, 'slow', 'Slow.event'],
  ['hybrid application, by @EventPattern', hybrid, 'slow', 'Slow.event'],
  ['hybrid application, by @Consume', hybrid, 'calm', 'Slow.consume'],
  ['application without a server', contextApp, 'calm', 'Slow.consume'],
] as const)('when it is closed, a %s', (_, start, pattern, queue) => {
  it('waits for the handlers at work, and takes nothing more', async () => {
    const broker = freshBroker();
    const app = await start({ controllers: [Slow], options: { broker } });
    const { backend } = (await contextApp({ options: { broker } })).get(DlxBroker);
    const [slow, client] = [app.get(Slow), app.get(DlxClient)];
    await firstValueFrom(client.emit(pattern, 1));
    await until(() => expect(slow.begun).toEqual([1]));
    const closed = app.close();
    // Not the count of consumers: a quorum queue counts a cancelled one until its messages are settled (rule Q13).
    await until(async () => expect(await app.get(DlxBroker).health()).toMatchObject({ isReady: false }));
    backend.publish({ exchange: '', routingKey: queue, properties: {}, body: Buffer.from('2') });
    slow.release();
    await closed;
    expect(slow.begun).toEqual([1]);
    expect(slow.done).toEqual([1]);
    expect(app.get(DlxBroker).counts.acked).toBe(1);
    await until(async () => expect(await backend.status(queue)).toMatchObject({ ...idle, messages: 1 }));
  });

  it('ends with its last handler, also when its server is being closed already', async () => {
    const broker = freshBroker();
    const app = await start({ controllers: [Slow], options: { broker, drainTimeout: '1h' } });
    const slow = app.get(Slow);
    await firstValueFrom(app.get(DlxClient).emit(pattern, 1));
    await until(() => expect(slow.begun).toEqual([1]));
    const closed = Promise.all([app.get(DlxServer).close(), app.close()]);
    await new Promise<void>((resolve) => setImmediate(resolve));
    slow.release();
    await closed;
    expect(slow.done).toEqual([1]);
  });

  it('gives back what takes too long', async () => {
    const broker = freshBroker();
    const app = await start({ controllers: [Slow], options: { broker, drainTimeout: '5ms' } });
    const { backend } = (await contextApp({ options: { broker } })).get(DlxBroker);
    const [slow, served] = [app.get(Slow), app.get(DlxBroker)];
    await firstValueFrom(app.get(DlxClient).emit(pattern, 1));
    await until(() => expect(slow.begun).toEqual([1]));
    await app.close();
    await until(async () => expect(await backend.status(queue)).toMatchObject({ ...idle, messages: 1, consumers: 0 }));
    slow.release();
    await until(() => expect(slow.done).toEqual([1]));
    expect(served.counts).toMatchObject({ acked: 0, rejected: 0 });
  });
});

it('what is published while modules are initialised waits until they are up', async () => {
  const order: string[] = [];
  @Injectable()
  class Early implements OnModuleInit, OnApplicationBootstrap {
    constructor(@InjectDlx(DlxClient) private readonly client: DlxClient) {}
    async onModuleInit(): Promise<void> {
      await firstValueFrom(this.client.emit('x', 1));
      order.push('published');
    }
    async onApplicationBootstrap(): Promise<void> {
      await new Promise((resolve) => setImmediate(resolve));
      order.push('up');
    }
    @Consume({ routingKey: 'x' })
    take(): void {
      order.push('message');
    }
  }
  @Module({ providers: [Early] })
  class Feature {}
  await contextApp({ imports: [{ module: Feature }, DlxBrokerModule.forRoot(here())] });
  await until(() => expect(order).toEqual(['published', 'up', 'message']));
});

it('what is published in a constructor waits until its queue is declared', async () => {
  const outcomes: unknown[] = [];
  @Injectable()
  class Early {
    readonly taken: unknown[] = [];
    constructor(@InjectDlx(DlxClient) client: DlxClient) {
      client.emit('x', 1).subscribe({ error: (error) => outcomes.push(error), complete: () => outcomes.push('taken') });
      client.send('sum', 2).subscribe({ error: (error) => outcomes.push(error), next: (sum) => outcomes.push(sum) });
    }
    @Consume({ routingKey: 'x' })
    take(data: unknown): void {
      this.taken.push(data);
    }
    @Answer(request<number, number>('sum'))
    sum(data: number): number {
      return data + 1;
    }
  }
  const app = await contextApp({ providers: [Early] });
  await until(() => expect([app.get(Early).taken, outcomes]).toEqual([[1], ['taken', 3]]));
});

it('handlers at work end before the providers of global modules do', async () => {
  const order: string[] = [];
  class Database implements OnModuleDestroy {
    onModuleDestroy(): void {
      order.push('database closed');
    }
  }
  @Module({ providers: [Database], exports: [Database] })
  class Data {}
  @Injectable()
  class Works {
    begun = false;
    @Consume('work')
    async take(): Promise<void> {
      this.begun = true;
      await new Promise((resolve) => setTimeout(resolve, 5));
      order.push('handler ended');
    }
  }
  const app = await contextApp({
    providers: [Works],
    imports: [{ module: Data, global: true }, DlxBrokerModule.forRoot(here())],
  });
  app.get(DlxBroker).backend.publish({ exchange: '', routingKey: 'work', properties: {}, body: Buffer.from('1') });
  await until(() => expect(app.get(Works).begun).toBe(true));
  await app.close();
  expect(order).toEqual(['handler ended', 'database closed']);
});

it('other providers may publish while they are shut down', async () => {
  let outcome: unknown;
  @Injectable()
  class Last implements OnModuleDestroy {
    constructor(@InjectDlx(DlxClient) private readonly client: DlxClient) {}
    async onModuleDestroy(): Promise<void> {
      outcome = await firstValueFrom(this.client.emit('bye', 1)).then(() => 'published', String);
    }
  }
  const app = await contextApp({ providers: [Last] });
  await app.close();
  expect(outcome).toBe('published');
});

describe('several brokers', () => {
  it('in one application differ by name', async () => {
    @Injectable()
    class Two {
      readonly seen: unknown[] = [];
      @Consume({ routingKey: 'x' })
      main(data: unknown): void {
        this.seen.push(['main', data]);
      }
      @Consume({ routingKey: 'x', broker: 'audit' })
      audit(data: unknown): void {
        this.seen.push(['audit', data]);
      }
    }
    const imports = [DlxBrokerModule.forRoot(here()), DlxBrokerModule.forRoot(here({ name: 'audit' }))];
    const app = await contextApp({ providers: [Two], imports });
    await firstValueFrom(app.get<DlxClient>(getDlxToken(DlxClient, 'audit')).emit('x', 1));
    await until(() => expect(app.get(Two).seen).toEqual([['audit', 1]]));
    await firstValueFrom(app.get(DlxClient).emit('x', 2));
    await until(() => expect(app.get(Two).seen).toContainEqual(['main', 2]));
    expect(app.get(Two).seen).toHaveLength(2);
    expect(app.get<DlxBroker>(getDlxToken(DlxBroker, 'audit')).name).toBe('audit');
  });

  it('give a pattern to the transport it names', async () => {
    @Controller()
    class Named {
      readonly seen: string[] = [];
      @EventPattern<string>('x', getDlxTransportId('audit'))
      audit(): void {
        this.seen.push('audit');
      }
      @EventPattern<string>('x', getDlxTransportId())
      main(): void {
        this.seen.push('main');
      }
    }
    @Module({
      imports: [DlxBrokerModule.forRoot(here()), DlxBrokerModule.forRoot(here({ name: 'audit' }))],
      controllers: [Named],
    })
    class AppModule {}
    const app = await NestFactory.create(AppModule, { logger: false });
    for (const name of [undefined, 'audit']) {
      app.connectMicroservice({ strategy: app.get(getDlxToken(DlxServer, name)) }, { inheritAppConfig: true });
    }
    await app.startAllMicroservices();
    await app.init();
    await firstValueFrom(app.get<DlxClient>(getDlxToken(DlxClient, 'audit')).emit('x', 1));
    await until(() => expect(app.get(Named).seen).toEqual(['audit']));
    await app.close();
  });

  it('of two applications in one process do not meet', async () => {
    @Injectable()
    class Mine {
      readonly seen: unknown[] = [];
      @Consume({ routingKey: 'x' })
      take(data: unknown): void {
        this.seen.push(data);
      }
    }
    const [one, two] = [await contextApp({ providers: [Mine] }), await contextApp({ providers: [Mine] })];
    await firstValueFrom(one.get(DlxClient).emit('x', 1));
    await until(() => expect(one.get(Mine).seen).toEqual([1]));
    expect(two.get(Mine).seen).toEqual([]);
  });

  it.runIf(isEmbedded)('or they do, by a backend that is lent to both and that neither closes', async () => {
    @Injectable()
    class Mine {
      readonly seen: unknown[] = [];
      @Consume({ queue: 'shared' })
      take(data: unknown): void {
        this.seen.push(data);
      }
    }
    const first = await contextApp({ providers: [Mine] });
    const { backend } = first.get(DlxBroker);
    expect(backend).toBeInstanceOf(EmbeddedBackend);
    const lent = new EmbeddedBackend((backend as EmbeddedBackend).broker);
    const imports = [DlxBrokerModule.forRootAsync({ useFactory: async () => ({ broker: customBackend(lent) }) })];
    const second = await contextApp({ providers: [Mine], imports });
    await first.get(DlxBroker).drain();
    await firstValueFrom(first.get(DlxClient).emit('x', 1));
    backend.publish({ exchange: '', routingKey: 'shared', properties: {}, body: Buffer.from('7') });
    await until(() => expect(second.get(Mine).seen).toEqual([7]));
    await second.close();
    expect(await lent.status('shared')).toMatchObject({ consumers: 0 });
  });
});

it('options may come from a factory, and the module may stay private', async () => {
  const imports = [
    DlxBrokerModule.forRootAsync({ isGlobal: false, useFactory: () => ({ events: 'shop.events', prefetch: 3 }) }),
  ];
  const app = await contextApp({ imports });
  expect(app.get(DlxBroker).options).toMatchObject({ prefetch: 3, events: { name: 'shop.events', type: 'topic' } });
});

it('a consumer starts again when its queue was deleted', async () => {
  @Injectable()
  class Back {
    readonly seen: unknown[] = [];
    @Consume({ routingKey: 'x' })
    take(data: unknown): void {
      this.seen.push(data);
    }
  }
  const app = await contextApp({ providers: [Back] });
  await deleteQueue(app.get(DlxBroker).backend, 'Back.take');
  await until(async () => expect(await app.get(DlxBroker).backend.status('Back.take')).toMatchObject({ consumers: 1 }));
  await firstValueFrom(app.get(DlxClient).emit('x', 5));
  await until(() => expect(app.get(Back).seen).toEqual([5]));
});
