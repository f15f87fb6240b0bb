import {
  Controller,
  Injectable,
  type LoggerService,
  Module,
  type OnModuleInit,
  Scope,
  type Type,
  UseGuards,
} from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { EventPattern, Payload } from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import {
  Consume,
  type Death,
  DeadLetter,
  DlxBroker,
  DlxBrokerModule,
  event,
  getDlxToken,
  HandlerAsync,
  Idempotent,
  On,
  OnDeadLetter,
  Prefetch,
  Retry,
} from 'dlx-broker';
import { DlxTesting } from 'dlx-broker/testing';
import { describe, expect, it, vi } from 'vitest';
import { endsAfterEach } from '../harnesses/ends.js';

const ends = endsAfterEach();
type HandlerAsyncOptions = Parameters<typeof HandlerAsync>[0];
const silent: LoggerService = { log() {}, warn() {}, error() {} };

const configOf = (values: Readonly<Record<string, unknown>>) =>
  ConfigModule.forRoot({ ignoreEnvFile: true, ignoreEnvVars: true, cache: false, load: [() => values] });

/** A class with one method, decorated by a function. */
function handlerBy(options: HandlerAsyncOptions, ...above: readonly MethodDecorator[]) {
  const handled: unknown[] = [];
  @Injectable()
  class Orders {
    @HandlerAsync(options)
    created(@Payload() order: unknown): void {
      handled.push(order);
      throw new Error('no stock');
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(Orders.prototype, 'created')!;
  for (const decorator of above) decorator(Orders.prototype, 'created', descriptor);
  return { Orders, handled };
}

async function start(provider: Type, values: Readonly<Record<string, unknown>> = {}) {
  const dlx = new DlxTesting({ logger: false });
  ends.push(() => dlx.close());
  await dlx.start({ imports: [configOf(values)], providers: [provider] });
  return dlx;
}

const fromConfig: HandlerAsyncOptions = {
  inject: [ConfigService],
  useFactory: async (config: ConfigService) => [
    Consume({
      queue: config.getOrThrow<string>('QUEUE'),
      exchange: 'shop',
      routingKey: config.getOrThrow<string[]>('KEYS'),
    }),
    Retry({ attempts: config.get('ATTEMPTS', 2), backoff: '2s' }),
    Prefetch(20),
  ],
};

describe('@HandlerAsync', () => {
  it('says in the log what the start waits for, and starts when it comes', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    ends.push(() => void vi.useRealTimers());
    let come: (decorators: readonly MethodDecorator[]) => void = () => undefined;
    let waiting!: Type;
    const called = new Promise<void>((resolve) => {
      const useFactory = (): Promise<readonly MethodDecorator[]> => {
        resolve();
        return new Promise((returned) => (come = returned));
      };
      waiting = handlerBy({ useFactory }).Orders;
    });
    const warned: unknown[] = [];
    const dlx = new DlxTesting({ logger: { ...silent, warn: (line: unknown) => void warned.push(line) } });
    ends.push(() => dlx.close());
    const started = dlx.start({ providers: [waiting] });
    await called;
    vi.advanceTimersByTime(9_999);
    expect(warned).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(warned).toEqual([
      'the start waits since 10 s for useFactory of @HandlerAsync on Orders.created; see what it awaits',
    ]);
    come([Consume('late') as MethodDecorator]);
    await started;
    expect(dlx.queue('late').ready).toBe(0);
  });

  it('decorates with what an async function makes of the configuration, for each application anew', async () => {
    const { Orders, handled } = handlerBy(fromConfig);
    for (const name of ['a', 'b']) {
      const dlx = await start(Orders, { QUEUE: name, KEYS: [`${name}.*`], ATTEMPTS: 2 });
      await dlx.publish({ exchange: 'shop', routingKey: `${name}.created` }, name);
      await dlx.advance('2s');
      dlx.expectQueue(`${name}.parked`).toHold([name]);
    }
    expect(handled).toEqual(['a', 'a', 'b', 'b']);
  });

  it('works beside decorators, with those of features, contracts and death hooks', async () => {
    const deaths: string[] = [];
    const placed = event<{ readonly id: string }>('order.placed');
    @Injectable()
    class Orders {
      @HandlerAsync({ useFactory: () => [On(placed), Idempotent<{ id: string }>({ key: ({ id }) => id })] })
      @Retry({ attempts: 1 })
      placed(): never {
        throw new Error('no stock');
      }

      @HandlerAsync({ useFactory: () => [OnDeadLetter({ queue: 'Orders.placed' })] })
      died({ kind }: Death): void {
        deaths.push(kind);
      }
    }
    const dlx = await start(Orders);
    await dlx.publish({ exchange: 'dlx.events', routingKey: 'order.placed' }, { id: 'a' });
    await dlx.settled();
    expect(deaths).toEqual(['parked']);
    dlx.expectQueue('Orders.placed.parked').toHold([{ id: 'a' }]);
  });

  it("adds to a handler of Nest's transport", async () => {
    @Controller()
    class Orders {
      @EventPattern<string>('order.*')
      @HandlerAsync({ useFactory: () => [DeadLetter({ exchange: '', routingKey: 'dead' })] })
      created(): never {
        throw new Error('no stock');
      }
    }
    const dlx = new DlxTesting({ logger: false });
    ends.push(() => dlx.close());
    await dlx.start({ controllers: [Orders] }, { topology: { queues: ['dead'] } });
    await dlx.publish({ exchange: 'dlx.events', routingKey: 'order.created' }, 7);
    await dlx.settled();
    dlx.expectQueue('dead').toHold([7]);
  });

  it('makes no handler of an empty list', async () => {
    const dlx = await start(handlerBy({ useFactory: () => [] }).Orders);
    expect(dlx.app.get(DlxBroker).handlers).toEqual([]);
  });

  it('injects what the module of the handler gets: overridden, re-exported, optional', async () => {
    @Module({ providers: [{ provide: 'QUEUE', useValue: 'real' }], exports: ['QUEUE'] })
    class SettingsModule {}
    @Module({ imports: [SettingsModule], exports: [SettingsModule] })
    class SharedModule {}
    const { Orders } = handlerBy({
      inject: ['QUEUE', { token: 'NONE', optional: true }],
      useFactory: (queue: string, none: unknown) => [Consume(`${queue}.${String(none)}`), Retry({ attempts: 1 })],
    });
    const dlx = new DlxTesting({ logger: false });
    ends.push(() => dlx.close());
    const imports = [DlxBrokerModule.forRoot(), SharedModule];
    const module = Test.createTestingModule({ imports, providers: [Orders] });
    await dlx.startModule(module.overrideProvider('QUEUE').useValue('overridden'));
    expect(dlx.app.get(DlxBroker).handlers).toMatchObject([{ queue: 'overridden.undefined' }]);
  });

  it('calls the function once for all brokers of an application', async () => {
    let calls = 0;
    const { Orders } = handlerBy({
      useFactory: () => {
        calls++;
        return [Consume({ queue: 'orders', broker: 'audit' }), DeadLetter(false)];
      },
    });
    const imports = [DlxBrokerModule.forRoot(), DlxBrokerModule.forRoot({ name: 'audit' })];
    const module = await Test.createTestingModule({ imports, providers: [Orders] })
      .setLogger(silent)
      .compile();
    ends.push(() => module.close());
    await module.init();
    expect(calls).toBe(1);
    const handlersOf = (name?: string) => module.get<DlxBroker>(getDlxToken(DlxBroker, name)).handlers.length;
    expect([handlersOf(), handlersOf('audit')]).toEqual([0, 1]);
  });

  it('is not read before the start', async () => {
    const { Orders } = handlerBy(fromConfig);
    const imports = [DlxBrokerModule.forRoot(), configOf({ QUEUE: 'orders', KEYS: '#' })];
    const module = await Test.createTestingModule({ imports, providers: [Orders] })
      .setLogger(silent)
      .compile();
    ends.push(() => module.close());
    expect(() => module.get(DlxBroker).topology()).toThrow(
      '@HandlerAsync on Orders.created: its decorators are known when the application starts; call await app.init() before',
    );
    await module.init();
    expect(
      module
        .get(DlxBroker)
        .topology()
        .queues.map(({ name }) => name),
    ).toContain('orders');
  });
});

@Injectable({ scope: Scope.REQUEST })
class PerRequest {}

const bad: Readonly<Record<string, readonly [options: unknown, error: string]>> = {
  'no options': [undefined, '@HandlerAsync on Orders.created: undefined is not an object of options; write { inject'],
  'an unknown option': [
    { useFactroy: () => [] },
    "@HandlerAsync on Orders.created: 'useFactroy' is no option; did you mean 'useFactory'?",
  ],
  'no function': [{}, 'useFactory of @HandlerAsync on Orders.created: undefined is not a function; write { inject'],
  'no list to inject': [
    { inject: ConfigService, useFactory: () => [] },
    'inject of @HandlerAsync on Orders.created: function ConfigService is no list',
  ],
  'a provider that does not exist': [
    { inject: ['KEYS'], useFactory: () => [] },
    'inject of @HandlerAsync on Orders.created: RootTestModule has no provider KEYS; import the module that exports it there, or list it among the providers',
  ],
  'a request-scoped provider': [
    { inject: [PerRequest], useFactory: () => [] },
    'inject of @HandlerAsync on Orders.created: PerRequest has an instance for each request or consumer, and there is none at the start; inject a singleton',
  ],
  'a function that throws': [
    { inject: [ConfigService], useFactory: (config: ConfigService) => [Consume(config.getOrThrow<string>('NONE'))] },
    'useFactory of @HandlerAsync on Orders.created failed: TypeError: Configuration key "NONE" does not exist; mend it, or the configuration',
  ],
  'a function whose promise rejects': [
    { useFactory: () => Promise.reject(new Error('no vault')) },
    'useFactory of @HandlerAsync on Orders.created failed: Error: no vault; mend it',
  ],
  'a result that is no list': [
    { useFactory: () => Consume('orders') },
    'was returned, and is no list of decorators; return [Consume(...)]',
  ],
  'an entry that is no decorator': [
    { useFactory: () => ['orders'] },
    "'orders' was returned, and is no decorator of this library; call it: Consume(...)",
  ],
  'a decorator that was not called': [
    { useFactory: () => [Consume] },
    'Consume above a method of a class has no parentheses; write @Consume()',
  ],
  'a wrapper that was not called': [
    { useFactory: () => [() => Consume('orders')] },
    'is no decorator of this library; call it',
  ],
  "a pattern of Nest's": [
    { useFactory: () => [EventPattern<string>('order.*')] },
    'write it above the method; in place of @EventPattern and @MessagePattern return Consume({ queue, routingKey })',
  ],
  'a guard': [
    { useFactory: () => [Consume(), UseGuards(class {})] },
    "returned a decorator that has no effect there (its metadata: '__guards__')",
  ],
  'another @HandlerAsync': [
    { useFactory: () => [HandlerAsync({ useFactory: () => [] })] },
    'returned a decorator that has no effect there',
  ],
  'settings that are wrong': [
    { useFactory: () => [Consume('orders'), Prefetch(-1)] },
    '@Prefetch on Orders.created: -1',
  ],
};

describe('@HandlerAsync refuses', () => {
  it.each(Object.entries(bad))('%s', async (_, [options, error]) => {
    @Injectable()
    class Orders {
      @HandlerAsync(options as HandlerAsyncOptions)
      created(): void {}
    }
    const dlx = new DlxTesting({ logger: false });
    ends.push(() => dlx.close());
    await expect(dlx.start({ imports: [configOf({})], providers: [Orders, PerRequest] })).rejects.toThrow(error);
  });

  it('a place without a method, and missing parentheses', () => {
    expect(() => HandlerAsync({ useFactory: () => [] })(class {}, 'all', {})).toThrow('@HandlerAsync stands above');
    class Orders {}
    expect(() => HandlerAsync(Orders.prototype as never)).toThrow('has no parentheses; write @HandlerAsync()');
  });
});

describe('a decorator that comes too late', () => {
  it.each([
    ['Retry', Retry({ attempts: 2 })],
    ['Consume', Consume('late')],
    ['OnDeadLetter', OnDeadLetter()],
    ['HandlerAsync', HandlerAsync({ useFactory: () => [] })],
  ])('is refused: @%s in onModuleInit', async (name, decorator) => {
    @Injectable()
    class Orders implements OnModuleInit {
      created(): void {}
      onModuleInit(): void {
        decorator(Orders.prototype, 'created', Object.getOwnPropertyDescriptor(Orders.prototype, 'created')!);
      }
    }
    const dlx = new DlxTesting({ logger: false });
    ends.push(() => dlx.close());
    await expect(dlx.start({ providers: [Orders] })).rejects.toThrow(
      `@${name} on Orders.created comes too late: an application has read its handlers, so it would have no effect; write it above the ` +
        'method, or return it from @HandlerAsync(',
    );
  });
});
