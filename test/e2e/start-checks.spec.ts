import { Controller, Injectable, type CanActivate, type DynamicModule, type Type } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { Ctx, EventPattern, MessagePattern, Transport } from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import {
  Answer,
  binding,
  type BrokerChoice,
  Circuit,
  Consume,
  DeadLetter,
  DlxBroker,
  DlxBrokerModule,
  DlxClient,
  DlxContext,
  DlxServer,
  embedded,
  getDlxTransportId,
  Ordered,
  Outbox,
  QueueArguments,
  request,
  Retry,
  type RetryPolicy,
  type DlxBrokerOptions,
  sharedBroker,
} from 'dlx-broker';
import { harness } from 'dlx-broker/testing';
import { setImmediate as soon } from 'node:timers/promises';
import { firstValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { classOf } from '../harnesses/class-of.js';

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const app of opened.splice(0)) await app.close();
  vi.useRealTimers();
});

interface Parts {
  readonly controllers?: Type[];
  readonly providers?: NonNullable<DynamicModule['providers']>;
  readonly options?: DlxBrokerOptions;
  readonly connects?: boolean | 'unstarted';
  /** Further imports of the application. */
  readonly imports?: readonly DynamicModule[];
}

/** What a server has to be connected and started within, after the application is up. */
const passServerTimeout = (): unknown => vi.advanceTimersByTime(1_000);

/** A started application and the lines of its log, those of our contexts only. */
async function start({ controllers = [], providers = [], options = {}, connects = false, imports: more = [] }: Parts) {
  const lines: string[] = [];
  const note =
    (level: string) =>
    (text: unknown, ...more: unknown[]) => {
      const context = String(more.at(-1));
      if (context.startsWith('Dlx')) lines.push(`${level} ${String(text)}`);
    };
  const here = harness();
  const imports = [DlxBrokerModule.forRoot({ broker: sharedBroker(here.broker), ...options }), ...more];
  const builder = Test.createTestingModule({ imports, controllers, providers });
  builder.setLogger({ log: note('log'), warn: note('warn'), error: note('error') });
  const app = (await builder.compile()).createNestApplication();
  opened.push(app);
  if (connects !== false) app.connectMicroservice({ strategy: app.get(DlxServer) }, { inheritAppConfig: true });
  await app.init();
  if (connects === true) await app.startAllMicroservices();
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) await soon();
  };
  const about = (text: string): string[] => lines.filter((line) => line.includes(text));
  return { ...here, app, lines, about, settle };
}

const Orders = classOf('Orders', {
  create: [
    Consume({ queue: 'orders', routingKey: ['order.created', 'order.paid'] }),
    DeadLetter('orders.dlx', 'failed'),
  ],
  send: [Consume('parcels'), Retry({ attempts: 3, backoff: '5s' })],
  bury: [Consume({ queue: 'dead', exchange: 'orders.dlx', routingKey: '#' }), DeadLetter(false)],
});

describe('at start the log shows', () => {
  it('each handler once, with its queue, bindings, dead-letter exchange and retries', async () => {
    const { lines } = await start({ providers: [Orders] });
    expect(lines).toEqual([
      "log Orders.create consumes 'orders' (dlx.events 'order.created', dlx.events 'order.paid'); dead letters to 'orders.dlx' 'failed'",
      "log Orders.send consumes 'parcels'; 3 attempts over 10s, then 'parcels.parked'",
      "log Orders.bury consumes 'dead' (orders.dlx '#'); failed messages are deleted",
    ]);
  });

  it('the longest time of the attempts, and each binding once: those of no handler at the first one', async () => {
    const again = (routingKey: string, policy: RetryPolicy) => [
      Consume({ queue: 'orders', routingKey }),
      Retry({ parkingLot: 'lot', ...policy }),
    ];
    const Three = classOf('Three', {
      create: again('order.created', { attempts: 5, immediate: 1, deadline: '1h' }),
      pay: again('order.paid', { attempts: 100, deadline: '1h' }),
      send: again('order.sent', { attempts: 9, backoff: () => '1s' }),
    });
    const topology = { bindings: [binding('amq.topic', 'orders', 'order.#')] };
    expect((await start({ providers: [Three], options: { topology } })).lines).toEqual([
      "log Three.create consumes 'orders' (amq.topic 'order.#', dlx.events 'order.created'); 5 attempts over 7s, then 'lot'",
      "log Three.pay consumes 'orders' (dlx.events 'order.paid'); 100 attempts over 1h, then 'lot'",
      "log Three.send consumes 'orders' (dlx.events 'order.sent'); 9 attempts, then 'lot'",
    ]);
  });

  it('a parking lot by its name, and how long it keeps messages', async () => {
    const Kept = classOf('Kept', { send: [Consume('parcels'), Retry({ attempts: 3, backoff: '5s', parkFor: '90d' })] });
    expect((await start({ providers: [Kept] })).lines).toEqual([
      "log Kept.send consumes 'parcels'; 3 attempts over 10s, then 'parcels.parked' for 90d, then parcels.parked.archive",
    ]);
  });

  it('no retries for a policy with one attempt', async () => {
    const Once = classOf('Once', { work: [Consume('work'), Retry({ attempts: 1 })] });
    expect((await start({ providers: [Once] })).lines).toEqual([
      "log Once.work consumes 'work'; 1 attempt, then 'work.parked'",
    ]);
  });

  it('none of them, if the option is false', async () => {
    expect((await start({ providers: [Orders], options: { logHandlers: false } })).lines).toEqual([]);
  });

  it('which handler’s quorum queue drops what returns too often, on RabbitMQ 4 (rule W6)', async () => {
    const quorum = { 'x-queue-type': 'quorum' };
    const Queues = classOf('Queues', {
      bare: [Consume('bare'), Retry({ attempts: 3 }), QueueArguments(quorum)],
      limited: [Consume('limited'), Retry({ attempts: 3 }), QueueArguments({ ...quorum, 'x-delivery-limit': 7 })],
      kept: [Consume('kept'), DeadLetter('amq.fanout'), QueueArguments(quorum)],
      losing: [Consume('losing'), DeadLetter(false), QueueArguments(quorum)],
      classic: [Consume('classic'), Retry({ attempts: 3 })],
    });
    const about = async (broker: BrokerChoice): Promise<readonly string[]> =>
      (await start({ providers: [Queues], options: { broker } })).about('more than 20 times');
    expect(await about(embedded())).toEqual([
      "warn queue 'bare' of Queues.bare loses a message that returns more than 20 times, for example one that ends the process each " +
        'time: RabbitMQ 4 drops such messages of a quorum queue that has no delivery limit and no dead-letter exchange; ' +
        "add @DeadLetter('exchange'), or @QueueArguments({ 'x-delivery-limit': 2147483647 }) for no limit",
    ]);
    expect(await about(embedded({ rabbitmq: '3.10' }))).toEqual([]);
  });

  it('which handler would lose what it fails on, and what to do about it', async () => {
    const Careless = classOf('Careless', { handle: [Consume('careless')], worded: [Consume('worded')] });
    const topology = { queues: [{ name: 'worded', deadLetter: 'amq.fanout' }] };
    const { about } = await start({ providers: [Careless], options: { topology } });
    expect(about('is lost')).toEqual([
      "warn a message on which Careless.handle fails is lost: queue 'careless' has no dead-letter exchange, and the handler no " +
        "retry policy; add @DeadLetter('exchange') or @Retry({ attempts: 3 }), or @DeadLetter(false) if it may be lost",
    ]);
  });

  it('no loss where a policy of the broker, or of the module, takes care of it', async () => {
    const Careless = classOf('Careless', { handle: [Consume('careless')] });
    const byModule = await start({ providers: [Careless], options: { retry: { attempts: 2 } } });
    expect(byModule.about('is lost')).toEqual([]);
    const { broker } = harness();
    const definition = { 'dead-letter-exchange': 'amq.fanout' };
    broker.virtualHost('/').setPolicy('dlx', { pattern: '.*', applyTo: 'all', priority: 0, definition });
    expect(
      (await start({ providers: [Careless], options: { broker: sharedBroker(broker) } })).about('is lost'),
    ).toEqual([]);
  });

  it('dead letters whose key fits no binding, or whose queue is not there (rule A7)', async () => {
    const Careless = classOf('Careless', {
      keyed: [Consume('keyed'), DeadLetter('careless.dlx', 'failed')],
      bury: [Consume({ queue: 'dead', exchange: 'careless.dlx', routingKey: 'fail' }), DeadLetter('', 'gone')],
    });
    expect((await start({ providers: [Careless] })).about('are dropped')).toEqual([
      "warn this application gets no dead letters of queue 'keyed': they go to exchange 'careless.dlx' with the routing key 'failed', and no " +
        "binding there fits it; bind a queue by @Consume({ queue: 'keyed.dead', exchange: 'careless.dlx', routingKey: 'failed' }) " +
        "or option 'topology', or they are dropped unless another application gets them",
      "warn this application gets no dead letters of queue 'dead': they go to queue 'gone', which this application does not declare; " +
        "declare it by @Consume('gone') or option 'topology', or they are dropped unless another application gets them",
    ]);
  });
});

describe('the log warns of @DeadLetter with the default exchange and without a routing key', () => {
  it('if no queue has the name by which the message was published (rule A7)', async () => {
    const Careless = classOf('Careless', {
      create: [Consume({ queue: 'orders', routingKey: ['order.created', 'order.*', 'orders.dead'] }), DeadLetter('')],
      bury: [Consume('orders.dead'), DeadLetter(false)],
    });
    expect((await start({ providers: [Careless] })).about('are dropped')).toEqual([
      "warn this application gets no dead letters of queue 'orders': they go to the default exchange with the routing key of their message " +
        "('order.created', 'order.*'), and this application declares no queue of that name; name the queue for dead letters as the " +
        "routing key, @DeadLetter('', 'orders.dead'), and declare it by @Consume('orders.dead') or option 'topology', or they " +
        'are dropped unless another application gets them',
    ]);
  });

  it('and not if the routing key is unknown, or that of a queue', async () => {
    const Careful = classOf('Careful', {
      all: [Consume({ queue: 'all', routingKey: '#' }), DeadLetter('')],
      first: [Consume({ queue: 'first', routingKey: 'second' }), DeadLetter('')],
      second: [Consume('second'), DeadLetter('', 'first')],
    });
    expect((await start({ providers: [Careful] })).about('are dropped')).toEqual([]);
  });
});

describe('a second after the start the log warns of', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));

  it('which methods wait for a server that is not connected', async () => {
    const Patterns = classOf(
      'Patterns',
      {
        event: [EventPattern<string>('a')],
        ask: [MessagePattern('b')],
        foreign: [EventPattern<string>('c', Transport.TCP)],
      },
      Controller(),
    );
    const without = await start({ controllers: [Patterns] });
    expect(without.about('no DlxServer')).toEqual([]); // it may come yet
    passServerTimeout();
    expect(without.about('no DlxServer is connected')).toEqual([
      expect.stringContaining(
        'so Patterns.event, Patterns.ask (@EventPattern, @MessagePattern) get no messages',
      ) as string,
    ]);
    const connected = await start({ controllers: [Patterns], connects: true });
    passServerTimeout();
    expect(connected.about('DlxServer')).toEqual([]);
    const late = await start({ controllers: [Patterns] });
    late.app.connectMicroservice({ strategy: late.app.get(DlxServer) }, { inheritAppConfig: true });
    await late.app.startAllMicroservices();
    passServerTimeout();
    expect(late.about('DlxServer')).toEqual([]);
  });

  it('handlers that SIGTERM cuts off, unless something listens to it', async () => {
    const others = process.listeners('SIGTERM');
    process.removeAllListeners('SIGTERM');
    try {
      const cut = await start({ providers: [Orders] });
      passServerTimeout();
      expect(cut.about('SIGTERM')).toEqual([
        'warn SIGTERM ends this process at once, without waiting for its handlers (drainTimeout): call app.enableShutdownHooks()',
      ]);
      const idle = await start({});
      passServerTimeout();
      expect(idle.about('SIGTERM')).toEqual([]);
      const hooked = await start({ providers: [Orders] });
      hooked.app.enableShutdownHooks();
      passServerTimeout();
      expect(hooked.about('SIGTERM')).toEqual([]);
      await hooked.app.close();
    } finally {
      process.removeAllListeners('SIGTERM');
      for (const other of others) process.on('SIGTERM', other);
    }
  });

  it('a server that is connected and was not started', async () => {
    const Patterns = classOf('Patterns', { event: [EventPattern<string>('order.*')] }, Controller());
    const { app, about } = await start({});
    expect(about('not started')).toEqual([]);
    await app.close();
    const forgetful = await start({ controllers: [Patterns], connects: 'unstarted' });
    passServerTimeout();
    expect(forgetful.about('not started')).toEqual([
      "warn the DlxServer is connected but not started, so the handlers of 'order.*' get no messages: these wait in their " +
        'queues; call await app.startAllMicroservices(), or listen() of a microservice',
    ]);
  });

  it('patterns in providers, which Nest does not read', async () => {
    const Provider = classOf('Provider', {
      event: [EventPattern<string>('order.*')],
      foreign: [EventPattern<string>('order.*', Transport.TCP)],
    });
    const { about } = await start({ providers: [Provider] });
    passServerTimeout();
    expect(about('in controllers only')).toEqual([expect.stringContaining('warn Provider.event gets no messages: ')]);
  });
});

describe('a start is refused for', () => {
  it.each<[MethodDecorator, string]>([
    [
      Circuit('mail'),
      "@Circuit on Shop.work: the option 'circuits' has no 'mail' (it has 'bank'); write forRoot({ circuits: { 'mail': {} } })",
    ],
    [Outbox({ messages: 0 }), "option 'messages' of @Outbox on Shop.work: 0 is less than 1"],
    [
      QueueArguments({ 'x-consumer-timeout': -1 }),
      "@QueueArguments on Shop.work: 'x-consumer-timeout': -1 is no number of milliseconds above 0; write 1_800_000 for half an hour, or leave it out",
    ],
  ])('case %#', async (decorate, text) => {
    const Shop = classOf('Shop', {
      work: [Consume('work'), Ordered({ key: () => 'k' }), Retry({ attempts: 3 }), decorate],
    });
    await expect(start({ providers: [Shop], options: { circuits: { bank: {} } } })).rejects.toThrow(text);
  });
});

describe('a broker that is not there is refused', () => {
  it('for a handler', async () => {
    const Audit = classOf('Audit', { handle: [Consume({ queue: 'audit', broker: 'defalt' })] });
    await expect(start({ providers: [Audit] })).rejects.toThrow(
      "@Consume on Audit.handle: there is no broker 'defalt'; did you mean 'default'? there are 'default': name one of them by the " +
        "option broker, or write imports: [DlxBrokerModule.forRoot({ name: 'defalt' })] in the root module",
    );
  });

  it('for a module of its own', async () => {
    const imports = [DlxBrokerModule.forFeature({ broker: 'audit', queues: ['x'] })];
    await expect(start({ imports })).rejects.toThrow(
      /forFeature in RootTestModule: there is no broker 'audit'; there are/,
    );
  });

  it('for a module of its own in an application without any', async () => {
    const builder = Test.createTestingModule({ imports: [DlxBrokerModule.forFeature({ queues: ['x'] })] });
    await expect(builder.compile()).rejects.toThrow(
      'forFeature in RootTestModule: the application has no broker; write imports: [DlxBrokerModule.forRoot()] in the root module',
    );
  });
});

describe('a pattern of Nest beside a decorator that makes a handler', () => {
  const Both = classOf('Both', {
    created: [
      EventPattern<string>('order.created'),
      Consume({ queue: 'orders', routingKey: 'order.created' }),
      DeadLetter(false),
    ],
  });
  const begin = 'makes it a handler, so @EventPattern or @MessagePattern beside it would have no effect; keep ';

  it('is refused in a controller', async () => {
    @Controller()
    class Shop extends Both {}
    const text =
      `@Consume on Shop.created ${begin}one of them, or name the other transport that serves the pattern: ` +
      "@EventPattern('x', Transport.TCP)";
    await expect(start({ controllers: [Shop] })).rejects.toThrow(text);
    await expect(start({ controllers: [Shop], connects: true })).rejects.toThrow(text);
  });

  it('is refused in a provider, where Nest would not read it', async () => {
    @Injectable()
    class Shop extends Both {}
    const Prices = classOf('Prices', { price: [Answer(request('order.price')), MessagePattern('order.price')] });
    const end = ' only, because Nest reads patterns in controllers only';
    await expect(start({ providers: [Shop] })).rejects.toThrow(`@Consume on Shop.created ${begin}@Consume${end}`);
    await expect(start({ providers: [Prices] })).rejects.toThrow(`@Answer on Prices.price ${begin}@Answer${end}`);
  });

  it('is refused if it names the broker of the handler, and not if it names another transport', async () => {
    const Own = classOf(
      'Own',
      {
        created: [
          EventPattern<string>('order.created', getDlxTransportId()),
          Consume({ queue: 'orders', routingKey: 'order.created' }),
        ],
      },
      Controller(),
    );
    await expect(start({ controllers: [Own] })).rejects.toThrow('@Consume on Own.created makes it a handler');
    const Mixed = classOf(
      'Mixed',
      {
        created: [
          EventPattern<string>('order.created', Transport.TCP),
          Consume({ queue: 'orders', routingKey: 'order.created' }),
          DeadLetter(false),
        ],
      },
      Controller(),
    );
    const { about } = await start({ controllers: [Mixed] });
    expect(about('consumes')).toEqual([
      "log Mixed.created consumes 'orders' (dlx.events 'order.created'); failed messages are deleted",
    ]);
  });
});

describe('an event that reaches no queue', () => {
  it('is counted, and warned about once for each key', async () => {
    const { app, about, settle } = await start({ providers: [Orders] });
    const client = app.get(DlxClient);
    for (const key of ['parcels', 'parcels', 'nothing', 'order.created']) await firstValueFrom(client.emit(key, {}));
    await settle();
    expect(app.get(DlxBroker).counts.unroutable).toBe(3);
    expect(about('reached no queue')).toEqual(
      ['parcels', 'nothing'].map(
        (key) =>
          `warn emit of '${key}' reached no queue and was dropped: nothing is bound to exchange 'dlx.events' by a key that fits; bind a ` +
          `queue by @Consume({ queue: '...', routingKey: '${key}' }), or publish to a queue by its name with new ` +
          "DlxRecordBuilder(data).setExchange('').build()",
      ),
    );
  });

  it('is named for a hundred keys only, and counted for all', async () => {
    const { app, about, settle } = await start({});
    const client = app.get(DlxClient);
    for (let key = 0; key < 150; key++) await firstValueFrom(client.emit(`key.${key}`, {}));
    await settle();
    expect(app.get(DlxBroker).counts.unroutable).toBe(150);
    expect(about('reached no queue')).toHaveLength(100);
    expect(about('reached no queue').at(-1)).toContain('further keys are only counted');
  });
});

it('a guard that denies dead letters to their handler is warned of, once', async () => {
  const deny: CanActivate = { canActivate: (context) => context.getHandler().name !== 'bury' };
  @Injectable()
  class Shop {
    @Consume({ queue: 'orders', routingKey: 'order.created' })
    @DeadLetter('orders.dlx')
    create(): void {
      throw new Error('no');
    }

    @Consume({ queue: 'dead', exchange: 'orders.dlx', routingKey: '#' })
    @DeadLetter(false)
    bury(): void {}
  }
  const { app, about, settle } = await start({ providers: [Shop, { provide: APP_GUARD, useValue: deny }] });
  for (let n = 0; n < 2; n++) await firstValueFrom(app.get(DlxClient).emit('order.created', {}));
  await settle();
  expect(about('a guard denied a dead letter to Shop.bury')).toHaveLength(1);
});

it('a handler sees the key and the exchange of its message on every attempt', async () => {
  const seen: unknown[] = [];
  @Injectable()
  class Shop {
    @Consume({ queue: 'orders', routingKey: 'order.*' })
    @Retry({ attempts: 2, backoff: '1s' })
    create(@Ctx() { routingKey, exchange, message, attempt }: DlxContext): void {
      seen.push([attempt, exchange, routingKey, message.routingKey]);
      throw new Error('no');
    }
  }
  const { app, clock, settle } = await start({ providers: [Shop] });
  await firstValueFrom(app.get(DlxClient).emit('order.created', {}));
  await settle();
  clock.advance(1_000);
  await settle();
  expect(seen).toEqual([
    [1, 'dlx.events', 'order.created', 'order.created'],
    [2, 'dlx.events', 'order.created', 'orders'],
  ]);
});

describe('at the end the log shows in one line', () => {
  /** A handler that works until it is released, and the line of a shutdown while it has two messages. */
  async function stop(ends: boolean): Promise<readonly string[]> {
    let release = (): void => {};
    const work = new Promise<void>((resolve) => (release = resolve));
    @Injectable()
    class Slow {
      @Consume({ queue: 'orders', routingKey: 'order' })
      @DeadLetter(false)
      handle(): Promise<void> {
        return work;
      }
    }
    const { app, about, settle } = await start({ providers: [Slow], options: { drainTimeout: ends ? '1h' : 1 } });
    for (const id of [1, 2]) await firstValueFrom(app.get(DlxClient).emit('order', id), { defaultValue: undefined });
    await settle();
    const closed = app.close();
    await settle();
    if (ends) release();
    await closed;
    release();
    return about('stopped').map((line) => line.replace(/\d+ ms/, 'N ms'));
  }

  it('that nothing was at work', async () => {
    const { app, about } = await start({ providers: [Orders] });
    await app.close();
    expect(about('stopped')).toEqual(['log stopped; no message was at work']);
  });

  it('what the shutdown waited for', async () => {
    expect(await stop(true)).toEqual(["log stopped; waited N ms for messages at work: 2 of 'orders'"]);
  });

  it('what it left', async () => {
    expect(await stop(false)).toEqual([
      "warn stopped; waited N ms for messages at work: 2 of 'orders'; not finished, and back in their queues: 2 of 'orders'",
    ]);
  });
});
