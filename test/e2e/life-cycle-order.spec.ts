import {
  Controller,
  Injectable,
  Module,
  type DynamicModule,
  type INestApplicationContext,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
  type Type,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventPattern, type AsyncMicroserviceOptions, type MicroserviceOptions } from '@nestjs/microservices';
import { Consume, DlxBroker, DlxBrokerModule, DlxClient, DlxServer, embedded, sharedBroker } from 'dlx-broker';
import { EmbeddedBackend } from 'dlx-broker/engine';
import { createBroker, type Broker } from 'dlx-broker/engine';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';

const later = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));
const until = (check: () => void): Promise<void> => vi.waitFor(check, { interval: 1, timeout: 8_000 });

/** What happened, in order. */
type Log = string[];

/** A class with all hooks, each of which takes its time. */
function hooks(log: Log, name: string): Type {
  @Injectable()
  class Hooks implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
    async onModuleInit(): Promise<void> {
      await later(1);
      log.push(`init ${name}`);
    }
    async onApplicationBootstrap(): Promise<void> {
      await later(3);
      log.push(`up ${name}`);
    }
    async onModuleDestroy(): Promise<void> {
      log.push(`destroy ${name}`);
      await later(1);
    }
    async onApplicationShutdown(): Promise<void> {
      await later(1);
      log.push(`down ${name}`);
    }
  }
  return Hooks;
}

const moduleOf = (name: string, parts: Omit<DynamicModule, 'module'>): DynamicModule => {
  const type = { [name]: class {} }[name] as Type;
  Module({})(type);
  return { module: type, ...parts };
};

/** Takes a backlog as soon as it may, and the last message for a while. */
function worker(log: Log): Type {
  class Worker {
    async handle(data: unknown): Promise<void> {
      log.push(`begin ${String(data)}`);
      await later(data === 'last' ? 10 : 0);
      log.push(`end ${String(data)}`);
    }
    async event(data: unknown): Promise<void> {
      await this.handle(`event ${String(data)}`);
    }
  }
  const descriptor = (method: 'handle' | 'event') => Object.getOwnPropertyDescriptor(Worker.prototype, method) as never;
  Consume('work')(Worker.prototype, 'handle', descriptor('handle'));
  EventPattern<string>('event')(Worker.prototype, 'event', descriptor('event'));
  Controller()(Worker);
  return Worker;
}

type Imports = (dlx: DynamicModule, log: Log) => DynamicModule['imports'];

const feature = (log: Log, more: Omit<DynamicModule, 'module'> = {}): DynamicModule =>
  moduleOf('Feature', { providers: [hooks(log, 'feature')], ...more });
const deep = (log: Log, inner: DynamicModule['imports']): DynamicModule =>
  moduleOf('Outer', { imports: [moduleOf('Inner', { imports: inner ?? [], providers: [hooks(log, 'inner')] })] });

/** Where the module stands among those of the application. */
const places: readonly [string, Imports, Parameters<typeof DlxBrokerModule.forRoot>[0]?][] = [
  ['first', (dlx, log) => [dlx, feature(log)]],
  ['last', (dlx, log) => [feature(log), dlx]],
  ['first, not global', (dlx, log) => [dlx, feature(log)], { isGlobal: false }],
  ['last, not global', (dlx, log) => [feature(log), dlx], { isGlobal: false }],
  ['inside of another module', (dlx, log) => [deep(log, [dlx]), feature(log)]],
  ['beside a module that is nested', (dlx, log) => [dlx, deep(log, [feature(log)])]],
  ['after a global module', (dlx, log) => [feature(log, { global: true }), dlx]],
  ['before a global module', (dlx, log) => [dlx, feature(log, { global: true })]],
];

const quiet = { logger: false as const, abortOnError: false };

async function hybrid(root: Type, startFirst: boolean): Promise<INestApplicationContext> {
  const app = await NestFactory.create(root, quiet);
  app.connectMicroservice<MicroserviceOptions>({ strategy: app.get(DlxServer) }, { inheritAppConfig: true });
  if (startFirst) await app.startAllMicroservices();
  await app.init();
  if (!startFirst) await app.startAllMicroservices();
  return app;
}

async function pure(root: Type): Promise<INestApplicationContext> {
  const app = await NestFactory.createMicroservice<AsyncMicroserviceOptions>(root, {
    ...quiet,
    inject: [DlxServer],
    useFactory: (server: DlxServer) => ({ strategy: server }),
  });
  await app.listen();
  return app;
}

const kinds: readonly [string, (root: Type) => Promise<INestApplicationContext>][] = [
  ['a context application', (root) => NestFactory.createApplicationContext(root, quiet)],
  ['a pure microservice', pure],
  ['a hybrid application', (root) => hybrid(root, false)],
  ['a hybrid application whose microservices start first', (root) => hybrid(root, true)],
];

function send(broker: Broker, queue: string, data: unknown): void {
  const body = Buffer.from(JSON.stringify(data));
  new EmbeddedBackend(broker).publish({ exchange: '', routingKey: queue, properties: {}, body });
}

/** The queues stand with a message in each before the application comes up. */
async function backlog(broker: Broker): Promise<void> {
  const log: Log = [];
  @Module({ imports: [DlxBrokerModule.forRoot({ broker: sharedBroker(broker) })], controllers: [worker(log)] })
  class Before {}
  await (await pure(Before)).close();
  send(broker, 'work', 'backlog');
  send(broker, 'Worker.event', 'backlog');
}

describe.each(kinds)('in %s', (_, start) => {
  it.each(places)('handlers wait for all hooks, and hooks for all handlers: the module is %s', async (...place) => {
    const [, imports, extras] = place;
    const broker = createBroker();
    await backlog(broker);
    const log: Log = [];
    @Module({
      imports: [...(imports(DlxBrokerModule.forRoot({ broker: sharedBroker(broker), ...extras }), log) ?? [])],
      controllers: [worker(log)],
      providers: [hooks(log, 'root')],
    })
    class Root {}
    const app = await start(Root);
    await until(() => expect(log).toContain('end backlog'));
    const lastUp = Math.max(...log.map((line, index) => (line.startsWith('up ') ? index : -1)));
    expect(log.findIndex((line) => line.startsWith('begin '))).toBeGreaterThan(lastUp);
    expect(log.filter((line) => line.startsWith('up '))).toHaveLength(log.filter((l) => l.startsWith('init ')).length);

    send(broker, 'work', 'last');
    await until(() => expect(log).toContain('begin last'));
    await app.close();
    expect(log.findIndex((line) => line.startsWith('destroy '))).toBeGreaterThan(log.indexOf('end last'));
    expect(log.filter((line) => line.startsWith('begin ')).length).toBe(
      log.filter((line) => line.startsWith('end ')).length,
    );
    broker.close();
  });
});

it.each(places)(
  'what other modules publish in onModuleInit has its queue: the module is %s',
  async (_, imports, extras) => {
    const log: Log = [];
    const outcomes: unknown[] = [];
    @Injectable()
    class Early implements OnModuleInit {
      async onModuleInit(): Promise<void> {
        const client = clients[0]!;
        outcomes.push(await firstValueFrom(client.emit('early', 1)).then(() => 'published', String));
      }
    }
    const clients: DlxClient[] = [];
    @Injectable()
    class Takes {
      @Consume({ routingKey: 'early' })
      take(data: unknown): void {
        log.push(`took ${String(data)}`);
      }
    }
    const broker = createBroker();
    clients.push(new DlxClient({ backend: new EmbeddedBackend(broker) }));
    const early = moduleOf('EarlyModule', { providers: [Early], global: true });
    @Module({
      imports: [early, ...(imports(DlxBrokerModule.forRoot({ broker: sharedBroker(broker), ...extras }), log) ?? [])],
      providers: [Takes],
    })
    class Root {}
    const app = await NestFactory.createApplicationContext(Root, quiet);
    await until(() => expect(log).toContain('took 1'));
    expect(outcomes).toEqual(['published']);
    await app.close();
    broker.close();
  },
);

describe('a start that is interrupted', () => {
  it('by close consumes nothing and opens no port afterwards', async () => {
    const broker = createBroker();
    await backlog(broker);
    const log: Log = [];
    @Module({
      imports: [DlxBrokerModule.forRoot({ broker: sharedBroker(broker, { listen: { amqp: { port: 0 } } }) })],
      controllers: [worker(log)],
      providers: [hooks(log, 'root')],
    })
    class Root {}
    const app = await NestFactory.create(Root, quiet);
    const started = app.init();
    await later(1);
    await app.close();
    await started.catch(() => undefined);
    await later(5);
    expect(log.filter((line) => line.startsWith('begin'))).toEqual([]);
    expect(app.get(DlxBroker).amqp).toBeUndefined();
    expect(broker.virtualHost('/').queues.get('work')).toMatchObject({ length: 1, unacked: 0 });
    expect(broker.virtualHost('/').queues.get('work')?.consumers.count).toBe(0);
    broker.close();
  });

  it('by a hook that fails consumes nothing, and can be closed', async () => {
    const broker = createBroker();
    await backlog(broker);
    const log: Log = [];
    @Injectable()
    class Fails implements OnApplicationBootstrap {
      async onApplicationBootstrap(): Promise<void> {
        await later(1);
        throw new Error('no database');
      }
    }
    for (const imports of [
      [DlxBrokerModule.forRoot({ broker: sharedBroker(broker) }), moduleOf('Failing', { providers: [Fails] })],
      [moduleOf('Failing', { providers: [Fails] }), DlxBrokerModule.forRoot({ broker: sharedBroker(broker) })],
    ]) {
      @Module({ imports, controllers: [worker(log)] })
      class Root {}
      const app = await NestFactory.create(Root, quiet);
      await expect(app.init()).rejects.toThrow('no database');
      await later(3);
      expect(broker.virtualHost('/').queues.get('work')?.consumers.count).toBe(0);
      await app.close();
    }
    expect(log).toEqual([]);
    broker.close();
  });

  it('by a port that is taken leaves nothing open behind it', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    const folder = mkdtempSync(join(tmpdir(), 'life-cycle-'));
    const log: Log = [];
    const start = (http: number): Promise<INestApplicationContext> => {
      const listen = { amqp: { port: 0 }, http: { port: http } };
      @Module({
        imports: [DlxBrokerModule.forRoot({ broker: embedded({ dataDir: folder, listen }) })],
        controllers: [worker(log)],
      })
      class Root {}
      return NestFactory.createApplicationContext(Root, quiet);
    };
    await expect(start(port)).rejects.toThrow(`port ${port} of 127.0.0.1 is taken`);
    const app = await start(0); // the directory is free again
    await app.close();
    taken.close();
    rmSync(folder, { recursive: true, force: true });
  });
});

it('an application may be closed twice, one after the other and at once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'life-cycle-'));
  const log: Log = [];
  const imports = [DlxBrokerModule.forRoot({ broker: embedded({ dataDir: folder, listen: { amqp: { port: 0 } } }) })];
  @Module({ imports, controllers: [worker(log)] })
  class Root {}
  for (const start of [(root: Type) => NestFactory.createApplicationContext(root, quiet), pure]) {
    const app = await start(Root);
    await Promise.all([app.close(), app.close()]);
    await app.close();
  }
  rmSync(folder, { recursive: true, force: true });
});
