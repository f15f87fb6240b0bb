import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Controller, Injectable, Logger, Scope, UseGuards, UseInterceptors } from '@nestjs/common';
import type { CallHandler, CanActivate, ExecutionContext, NestInterceptor } from '@nestjs/common';
import { Ctx, EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { connect } from 'amqplib';
import {
  Consume,
  DeadLetter,
  DeadLetters,
  DlxBroker,
  DlxClient,
  DlxContext,
  DlxRecordBuilder,
  DlxServer,
  type DlxBrokerOptions,
  Idempotent,
  type IdempotencyStore,
  Prefetch,
  Retry,
  embedded,
  sharedBroker,
} from 'dlx-broker';
import { EmbeddedBackend } from 'dlx-broker/engine';
import { createBroker } from 'dlx-broker/engine';
import { firstValueFrom, interval, Observable, take } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { contextApp, microservice, type Parts } from './apps.js';
import { isEmbedded, until } from './places.js';
import { classOf } from '../harnesses/class-of.js';

/** What a tracing library, or one that tells tenants apart, keeps for each request. */
const tenants = new AsyncLocalStorage<string>();
const seen: unknown[] = [];
const note = (what: unknown): void => void seen.push([what, tenants.getStore()]);
const later = (milliseconds = 0): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

afterEach(() => void seen.splice(0));

/** An application that was started where the store is `app`. */
const inApp = <T>(start: () => Promise<T>): Promise<T> => tenants.run('app', start);
const emitAs = (tenant: string, client: DlxClient, pattern: string, data: unknown = 1): Promise<unknown> =>
  tenants.run(tenant, () => firstValueFrom(client.emit(pattern, data)));

async function handle(data: unknown): Promise<void> {
  note(`${String(data)} at once`);
  await later();
  note(`${String(data)} later`);
}

describe('a handler runs where the application started', () => {
  it.each([
    ['consume', (parts: Parts) => contextApp(parts)],
    ['event', (parts: Parts) => microservice(parts)],
  ] as const)('and not where its publisher is: %s', async (pattern, start) => {
    @Controller()
    class Event {
      @EventPattern<string>('event')
      handle(@Payload() data: unknown): Promise<void> {
        return handle(data);
      }
    }
    @Injectable()
    class Provider {
      @Consume({ routingKey: 'consume' })
      handle(@Payload() data: unknown): Promise<void> {
        return handle(data);
      }
    }
    const parts = pattern === 'event' ? { controllers: [Event] } : { providers: [Provider] };
    const app = await inApp(() => start(parts));
    await emitAs('a', app.get(DlxClient), pattern, 'x');
    await until(() => expect(seen).toHaveLength(2));
    expect(seen).toEqual([
      ['x at once', 'app'],
      ['x later', 'app'],
    ]);
  });

  it.each([1, 10])('whatever the handler before it did, with prefetch %d', async (prefetch) => {
    @Injectable()
    class Chain {
      @Consume({ routingKey: 'chain' })
      @Prefetch(prefetch)
      async handle(@Payload() id: number): Promise<void> {
        note(id);
        tenants.enterWith(`sync ${id}`);
        await Promise.resolve();
        tenants.enterWith(`async ${id}`);
        await tenants.run(`run ${id}`, () => later(1));
        note(`end ${id}`);
      }
    }
    const app = await inApp(() => contextApp({ providers: [Chain] }));
    for (const id of [1, 2, 3]) await emitAs('publisher', app.get(DlxClient), 'chain', id);
    await until(() => expect(seen).toHaveLength(6));
    expect(seen).toEqual(expect.arrayContaining([1, 2, 3].map((id) => [id, 'app'])));
    expect(seen).toEqual(expect.arrayContaining([1, 2, 3].map((id) => [`end ${id}`, `async ${id}`])));
  });

  it('and leaves its publisher as it was', async () => {
    @Injectable()
    class Enters {
      @Consume({ routingKey: 'enters' })
      handle(): void {
        tenants.enterWith('handler');
      }
    }
    const app = await inApp(() => contextApp({ providers: [Enters] }));
    await app.get(DlxClient).connect();
    await tenants.run('a', async () => {
      app.get(DlxClient).emit('enters', 1);
      expect(tenants.getStore()).toBe('a');
      await firstValueFrom(app.get(DlxClient).emit('enters', 2));
      expect(tenants.getStore()).toBe('a');
    });
    await until(() => expect(app.get(DlxBroker).counts.acked).toBe(2));
  });

  it.each([
    { attempts: 3, backoff: 5 },
    { attempts: 3, backoff: { type: 'linear', delay: 5 } as const },
  ])('at each attempt, and so does what decides about the next: %j', async ({ attempts, backoff }) => {
    @Injectable()
    class Flaky {
      @Consume({ routingKey: 'flaky' })
      @Retry({ attempts, backoff, retryOn: () => (note('policy'), true) })
      handle(@Ctx() context: DlxContext): never {
        note(context.attempt);
        tenants.enterWith(`attempt ${context.attempt}`);
        throw new Error('again');
      }
    }
    const app = await inApp(() => contextApp({ providers: [Flaky] }));
    await emitAs('a', app.get(DlxClient), 'flaky');
    await until(() => expect(app.get(DlxBroker).counts.parked).toBe(1));
    const attemptsSeen = seen.filter((entry) => typeof (entry as unknown[])[0] === 'number');
    expect(attemptsSeen).toEqual([1, 2, 3].map((attempt) => [attempt, 'app']));
    expect(new Set(seen.map((entry) => (entry as unknown[])[1]))).toEqual(new Set(['app']));
  });

  it('and its failure is logged in the context of its attempt, also if the broker replies later', async () => {
    @Injectable()
    class Fails {
      @Consume({ routingKey: 'fails' })
      @Retry({ attempts: 2, backoff: 5 })
      handle(): never {
        throw new Error('no');
      }
    }
    const app = await inApp(() => contextApp({ providers: [Fails], options: { logHandlers: false } }));
    app.get(DlxServer).setOnProcessingStartHook((_, context, done) => {
      void tenants.run(`attempt ${(context as DlxContext).attempt}`, done);
    });
    const silent = (): void => undefined;
    Logger.overrideLogger({ log: silent, warn: () => note('retried'), error: () => note('parked') });
    try {
      await emitAs('a', app.get(DlxClient), 'fails');
      await until(() => expect(seen).toHaveLength(2));
    } finally {
      Logger.overrideLogger(false);
    }
    expect(seen).toEqual([
      ['retried', 'attempt 1'],
      ['parked', 'attempt 2'],
    ]);
  });

  it('with guards and interceptors as libraries for contexts write them', async () => {
    @Injectable()
    class Enter implements CanActivate {
      canActivate(): boolean {
        note('guard');
        tenants.enterWith('by guard');
        return true;
      }
    }
    @Injectable()
    class Run implements NestInterceptor {
      intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
        return new Observable((subscriber) => tenants.run('by interceptor', () => next.handle().subscribe(subscriber)));
      }
    }
    @Injectable({ scope: Scope.REQUEST })
    class Scoped {
      constructor() {
        note('made');
      }
      @Consume({ routingKey: 'guarded' })
      @UseGuards(Enter)
      @Prefetch(1)
      guarded(): void {
        note('guarded');
      }
      @Consume({ routingKey: 'intercepted' })
      @UseInterceptors(Run)
      @Prefetch(1)
      async intercepted(): Promise<void> {
        await later();
        note('intercepted');
      }
    }
    const app = await inApp(() => contextApp({ providers: [Scoped] }));
    for (const pattern of ['guarded', 'guarded', 'intercepted', 'intercepted']) {
      const length = seen.length + (pattern === 'guarded' ? 3 : 2);
      await emitAs('a', app.get(DlxClient), pattern);
      await until(() => expect(seen).toHaveLength(length));
    }
    const guarded = [
      ['made', 'app'],
      ['guard', 'app'],
      ['guarded', 'by guard'],
    ];
    const intercepted = [
      ['made', 'app'],
      ['intercepted', 'by interceptor'],
    ];
    expect(seen).toEqual([...guarded, ...guarded, ...intercepted, ...intercepted]);
  });

  it.runIf(isEmbedded)('whether its message comes from this process or over AMQP', async () => {
    @Injectable()
    class Remote {
      @Consume({ routingKey: 'remote' })
      handle(@Payload() id: number): void {
        note(id);
        tenants.enterWith(`remote ${id}`);
      }
    }
    const app = await inApp(() =>
      contextApp({ providers: [Remote], options: { broker: embedded({ listen: { amqp: { port: 0 } } }) } }),
    );
    const { host, port } = app.get(DlxBroker).amqp!;
    const connection = await connect(`amqp://guest:guest@${host}:${port}`);
    const channel = await connection.createConfirmChannel();
    for (const id of [1, 2, 3]) channel.publish('dlx.events', 'remote', Buffer.from(String(id)));
    await channel.waitForConfirms();
    await until(() => expect(seen).toHaveLength(3));
    expect(seen).toEqual([1, 2, 3].map((id) => [id, 'app']));
    await connection.close();
  });

  it('and its store of what was handled is asked there, its listeners hear of a timeout in its own', async () => {
    class Store implements IdempotencyStore {
      async claim(): Promise<'claimed'> {
        note('claim');
        await later();
        return 'claimed';
      }
      async done(): Promise<void> {}
      async release(): Promise<void> {}
    }
    @Injectable()
    class Once {
      @Consume({ routingKey: 'once' })
      @Idempotent({ store: new Store() })
      @Retry({ attempts: 1, timeout: 5 })
      handle(@Ctx() context: DlxContext): Promise<never> {
        note('handler');
        tenants.enterWith('mine');
        context.signal.addEventListener('abort', () => note('aborted'));
        return new Promise(() => undefined);
      }
    }
    const app = await inApp(() => contextApp({ providers: [Once], options: { drainTimeout: 1 } }));
    await emitAs('a', app.get(DlxClient), 'once');
    await until(() => expect(app.get(DlxBroker).counts.parked).toBe(1));
    expect(seen).toEqual([
      ['claim', 'app'],
      ['handler', 'app'],
      ['aborted', 'app'],
    ]);
  });
});

describe('subscribers', () => {
  it('of dead letters run where the application started, each letter for itself', async () => {
    @Injectable()
    class Fails {
      @Consume('work')
      @DeadLetter('', 'dead')
      handle(): never {
        throw new Error('no');
      }
    }
    const app = await inApp(() =>
      contextApp({
        providers: [Fails],
        options: { topology: { queues: ['dead'] } },
      }),
    );
    const { backend } = app.get(DlxBroker);
    await backend.declare({
      exchanges: [],
      queues: [{ name: 'dead', durable: true, exclusive: false, autoDelete: false, arguments: new Map() } as never],
      bindings: [],
    });
    const subscription = tenants.run('subscriber', () =>
      app
        .get(DeadLetters)
        .from('dead', { prefetch: 2 })
        .subscribe((letter) => {
          note('letter');
          tenants.enterWith('letter');
          letter.ack();
        }),
    );
    const record = new DlxRecordBuilder(1).setExchange('').build();
    for (let round = 0; round < 3; round++) await emitAs('a', app.get(DlxClient), 'work', record);
    await until(() => expect(seen).toHaveLength(3));
    expect(seen).toEqual([1, 2, 3].map(() => ['letter', 'app']));
    subscription.unsubscribe();
  });

  it('of events run where the application started', async () => {
    const Works = classOf('Works', { handle: [Consume({ routingKey: 'x' })] });
    const app = await inApp(() => contextApp({ providers: [Works] }));
    tenants.run('subscriber', () =>
      app.get(DlxBroker).events.subscribe(({ kind }) => {
        note(kind);
        tenants.enterWith('event');
      }),
    );
    for (let round = 0; round < 2; round++) await emitAs('a', app.get(DlxClient), 'x');
    await until(() => expect(seen).toHaveLength(4));
    expect(seen.map((entry) => (entry as unknown[])[1])).toEqual(['app', 'app', 'app', 'app']);
  });
});

describe('who asks hears the answer in its own context', () => {
  @Controller()
  class Answers {
    constructor(readonly client: DlxClient) {}

    @MessagePattern('one')
    one(): string {
      note('one');
      tenants.enterWith('one');
      return 'one';
    }

    @MessagePattern('many')
    many(): Observable<number> {
      return interval(1).pipe(take(3));
    }

    @MessagePattern('fails')
    fails(): never {
      throw new Error('no');
    }

    @MessagePattern('nested')
    nested(): Promise<string> {
      tenants.enterWith('nested');
      return new Promise((resolve) =>
        this.client.send<string>('one', {}).subscribe((answer) => {
          note('inner answer');
          resolve(answer);
        }),
      );
    }
  }
  Reflect.defineMetadata('design:paramtypes', [DlxClient], Answers);

  const start = () => inApp(() => microservice({ controllers: [Answers] }));
  const ask = (client: DlxClient, tenant: string, pattern: string): Promise<unknown> =>
    tenants.run(
      tenant,
      () =>
        new Promise((resolve) =>
          client.send(pattern, {}).subscribe({
            next: (value) => note(value),
            error: () => resolve(note('error')),
            complete: () => resolve(note('complete')),
          }),
        ),
    );

  it('once, several times, and of a failure', async () => {
    const client = (await start()).get(DlxClient);
    await client.connect();
    await Promise.all([ask(client, 'a', 'one'), ask(client, 'b', 'many'), ask(client, 'c', 'fails')]);
    await ask(client, 'd', 'nobody there');
    expect(seen).toEqual(
      expect.arrayContaining([
        ['one', 'app'],
        ['one', 'a'],
        ['complete', 'a'],
        [0, 'b'],
        [2, 'b'],
        ['complete', 'b'],
        ['error', 'c'],
        ['error', 'd'],
      ]),
    );
  });

  it('also inside a handler', async () => {
    const client = (await start()).get(DlxClient);
    await ask(client, 'a', 'nested');
    expect(seen).toEqual(
      expect.arrayContaining([
        ['one', 'app'],
        ['inner answer', 'nested'],
        ['one', 'a'],
      ]),
    );
  });

  it.runIf(isEmbedded)('and of what it emitted when that is on a disk', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'async-context-'));
    const Keeps = classOf('Keeps', { handle: [Consume({ routingKey: 'kept' })] });
    const app = await inApp(() =>
      contextApp({ providers: [Keeps], options: { broker: embedded({ dataDir: folder }) } }),
    );
    const client = app.get(DlxClient);
    await client.connect();
    const both = ['a', 'b'].map(
      (tenant) =>
        new Promise((resolve) =>
          tenants.run(tenant, () => client.emit('kept', 1).subscribe({ complete: () => resolve(note(tenant)) })),
        ),
    );
    await Promise.all(both);
    expect(seen).toEqual([
      ['a', 'a'],
      ['b', 'b'],
    ]);
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  });
});

describe.runIf(isEmbedded)('nothing keeps the store of a publisher alive', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const requests = new AsyncLocalStorage<object>();

  /** Runs something in a store of its own, of which nothing may be left soon. */
  async function expectStoreGone(act: () => unknown): Promise<void> {
    const store = ((): WeakRef<object> => {
      const request = { body: 'x'.repeat(100) };
      requests.run(request, act);
      return new WeakRef(request);
    })();
    await vi.waitFor(
      async () => {
        await later(1);
        collect();
        expect(store.deref()).toBeUndefined();
      },
      { timeout: 3_000 },
    );
  }

  it.each<[string, DlxBrokerOptions, (client: DlxClient) => void]>([
    [
      'a message that expires in an hour',
      {},
      (client) => void client.emit('waits', new DlxRecordBuilder(1).setExchange('').setExpiration('1h').build()),
    ],
    ['an event that is delayed by an hour', {}, (client) => void client.emit('late', 1, { delay: '1h' })],
    ['a handler that tries again in an hour', {}, (client) => void client.emit('flaky', 1)],
    ['a request that was answered', {}, (client) => void client.send('flaky', 1).subscribe({ error: () => undefined })],
  ])('%s', async (_, options, act) => {
    @Injectable()
    class Flaky {
      @Consume({ routingKey: 'flaky' })
      @Retry({ attempts: 2, backoff: '1h' })
      handle(): never {
        throw new Error('again');
      }
    }
    const broker = createBroker();
    const app = await contextApp({ providers: [Flaky], options: { ...options, broker: sharedBroker(broker) } });
    const { backend } = app.get(DlxBroker);
    await backend.declare({
      exchanges: [],
      queues: [{ name: 'waits', durable: true, exclusive: false, autoDelete: false, arguments: new Map() } as never],
      bindings: [],
    });
    await app.get(DlxClient).connect();
    await expectStoreGone(() => act(app.get(DlxClient)));
    await app.close();
    broker.close();
  });

  it('a consumer that was started inside of it', async () => {
    const broker = createBroker();
    const backend = new EmbeddedBackend(broker);
    await backend.declare({
      exchanges: [],
      queues: [{ name: 'q', durable: true, exclusive: false, autoDelete: false, arguments: new Map() } as never],
      bindings: [],
    });
    await expectStoreGone(() => backend.consume('q', { prefetch: 1 }, () => undefined));
    await backend.close();
    broker.close();
  });
});
