import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  binding,
  Consume,
  DlxBroker,
  DlxBrokerModule,
  DlxClient,
  DlxConfigurationError,
  Queue,
  queue,
  type DlxBrokerOptions,
  sharedBroker,
} from 'dlx-broker';
import { harness, type Harness } from 'dlx-broker/testing';
import { firstValueFrom } from 'rxjs';
import { declaredArguments } from '../harnesses/declared-arguments.js';
import { describe, expect, it } from 'vitest';
import { contextApp, ParcelsModule } from './apps.js';
import { classOf } from '../harnesses/class-of.js';

const argumentsOf = ({ broker }: Harness, name: string): unknown => declaredArguments(broker, name);

async function start(options: DlxBrokerOptions, imports: readonly (DynamicModule | Type)[] = []) {
  const here = harness();
  const root = DlxBrokerModule.forRoot({ broker: sharedBroker(here.broker), ...options });
  const app = await contextApp({ imports: [root, ...(imports as readonly DynamicModule[])] });
  return { ...here, app };
}

describe('a queue without a handler', () => {
  it('has the words that decorators have', async () => {
    const here = await start({
      topology: {
        queues: [
          'plain',
          { name: 'raw', arguments: { 'x-message-ttl': 1000 }, durable: false },
          queue('worded', { ttl: '30s', deadLetter: ['dlx', 'key'], maxLength: 1000, overflow: 'reject-publish' }),
          queue('safe', { quorum: { deliveryLimit: 3 }, deadLetter: { exchange: 'dlx', strategy: 'at-least-once' } }),
          { name: 'one', singleActiveConsumer: true, maxPriority: 5, expires: '1h', maxLengthBytes: 9 },
        ],
      },
    });
    const { queues, exchanges } = here.broker.virtualHost('/');
    expect(queues.get('plain')?.declared).toMatchObject({ durable: true, autoDelete: false });
    expect(queues.get('raw')?.declared.durable).toBe(false);
    expect(['plain', 'raw', 'worded', 'safe', 'one'].map((name) => argumentsOf(here, name))).toEqual([
      {},
      { 'x-message-ttl': 1000 },
      {
        'x-message-ttl': 30_000,
        'x-max-length': 1000,
        'x-overflow': 'reject-publish',
        'x-dead-letter-exchange': 'dlx',
        'x-dead-letter-routing-key': 'key',
      },
      {
        'x-dead-letter-exchange': 'dlx',
        'x-dead-letter-strategy': 'at-least-once',
        'x-queue-type': 'quorum',
        'x-delivery-limit': 3,
        'x-overflow': 'reject-publish', // rule M1
      },
      { 'x-single-active-consumer': true, 'x-max-priority': 5, 'x-expires': 3_600_000, 'x-max-length-bytes': 9 },
    ]);
    // As by @DeadLetter: mentioned, so that nothing is dropped for want of it (rule A7).
    expect(exchanges.get('dlx')?.declared).toMatchObject({ type: 'topic', durable: true });
  });

  it('is bound as it is said, by one key or several', async () => {
    const here = await start({
      topology: {
        exchanges: ['shop', { name: 'all', type: 'fanout' }, { name: 'amq.direct', declare: false }],
        queues: ['q'],
        bindings: [
          binding('shop', 'q', ['order.*', 'parcel.#']),
          { source: 'all', destination: 'shop', destinationType: 'exchange' },
          binding('amq.direct', 'q', 'x'),
        ],
      },
    });
    const lines = here.app.get(DlxBroker).describeTopology();
    expect(lines).toContain("queue 'q' of option 'topology' of DlxBrokerModule");
    for (const line of ['shop --order.*--> q', 'shop --parcel.#--> q', 'all ----> shop', 'amq.direct --x--> q'])
      expect(lines).toContain(line);
  });

  it('says in plain words who contradicts whom', async () => {
    const Orders = classOf('Orders', { handle: [Consume('orders')] });
    const root = DlxBrokerModule.forRoot({ topology: { queues: [{ name: 'orders', durable: false }] } });
    await expect(contextApp({ imports: [root], providers: [Orders] })).rejects.toThrow(
      "queue 'orders': two declarations differ in durable: queue 'orders' of option 'topology' of DlxBrokerModule says false, Orders.handle says true",
    );
  });
});

describe('forFeatureAsync', () => {
  const settings: DynamicModule = {
    module: class SettingsModule {},
    providers: [{ provide: 'QUEUE', useValue: 'parcels' }],
    exports: ['QUEUE'],
  };

  it('declares what its function returns', async () => {
    const feature = (suffix: string): DynamicModule =>
      DlxBrokerModule.forFeatureAsync({
        imports: [settings],
        inject: ['QUEUE'],
        useFactory: async (name: string) => ({ queues: [queue(`${name}.${suffix}`, { ttl: '1h' })] }),
      });
    const here = await start({}, [feature('late'), feature('lost')]);
    expect(['late', 'lost'].map((suffix) => argumentsOf(here, `parcels.${suffix}`))).toEqual([
      { 'x-message-ttl': 3_600_000 },
      { 'x-message-ttl': 3_600_000 },
    ]);
  });

  it.each<readonly [string, unknown, string]>([
    [
      'no function',
      {},
      'useFactory of forFeatureAsync of DlxBrokerModule: undefined is not a function; write { inject',
    ],
    ['no result', { useFactory: () => undefined }, 'useFactory of forFeatureAsync of DlxBrokerModule: undefined'],
    ['a wrong declaration', { useFactory: () => ({ queues: [{ name: '' }] }) }, 'forFeature in'],
    ['a broker in the result', { useFactory: () => ({ broker: 'audit' }) }, "'broker' is no option"],
    ['a broker that does not exist', { broker: 'audit', useFactory: () => ({}) }, "there is no broker 'audit'"],
    ['a broker that is no text', { broker: 7, useFactory: () => ({}) }, 'broker is no text'],
  ])('refuses %s', async (_, options, error) => {
    const starting = async () => start({}, [DlxBrokerModule.forFeatureAsync(options as never)]);
    await expect(starting()).rejects.toThrow(error);
  });
});

describe('forFeature', () => {
  it('declares what a module needs for itself, and says for whom', async () => {
    const here = await start({}, [ParcelsModule]);
    expect(argumentsOf(here, 'parcels.late')).toEqual({ 'x-message-ttl': 3_600_000 });
    expect(here.app.get(DlxBroker).describeTopology()).toContain("queue 'parcels.late' of forFeature in ParcelsModule");
  });

  it('of two modules are two, also when they look alike; a named broker takes its own', async () => {
    @Module({ imports: [DlxBrokerModule.forFeature({ queues: ['one'] })] })
    class One {}
    @Module({ imports: [DlxBrokerModule.forFeature({ queues: ['two'] })] })
    class Two {}
    @Module({ imports: [DlxBrokerModule.forFeature({ broker: 'audit', queues: ['three'] })] })
    class Three {}
    const audit = harness();
    const { broker } = await start({}, [
      One,
      Two,
      Three,
      DlxBrokerModule.forRoot({ name: 'audit', broker: sharedBroker(audit.broker) }),
    ]);
    expect([...broker.virtualHost('/').queues.keys()]).toEqual(['one', 'two']);
    expect([...audit.broker.virtualHost('/').queues.keys()]).toEqual(['three']);
  });
});

describe('at start is refused', () => {
  it('the module without a broker, with the remedy', async () => {
    const compiled = Test.createTestingModule({ imports: [DlxBrokerModule] }).compile();
    await expect(compiled).rejects.toThrow(DlxConfigurationError);
    const again = Test.createTestingModule({ imports: [DlxBrokerModule] }).compile();
    await expect(again).rejects.toThrow('write imports: [DlxBrokerModule.forRoot()] in the root module');
  });

  it('but not the module beside a broker: a feature module may name it', async () => {
    @Module({ imports: [DlxBrokerModule] })
    class Feature {}
    await start({}, [Feature]);
  });

  it('a factory that returns nothing, or what has to be known before', async () => {
    const compile = (useFactory: () => object) =>
      Test.createTestingModule({ imports: [DlxBrokerModule.forRootAsync({ useFactory })] }).compile();
    await expect(compile(() => undefined as never)).rejects.toThrow('undefined is not an object of options');
    await expect(compile(() => ({ name: 'audit' }))).rejects.toThrow("useFactory returned 'name'");
    await expect(compile(() => ({ prefecth: 1 }))).rejects.toThrow("did you mean 'prefetch'?");
  });

  it.each(['Consume', 'Queue'])('two handlers of one queue and one key, by @%s', async (way) => {
    const key = { routingKey: 'order.created' };
    const One = classOf('One', {
      handle: [Consume(way === 'Consume' ? { queue: 'orders', ...key } : key), Queue('orders')],
    });
    const Two = classOf('Two', { handle: [Consume({ queue: 'orders', routingKey: ['order.paid', 'order.created'] })] });
    await expect(contextApp({ providers: [One, Two] })).rejects.toThrow(
      "One.handle and Two.handle both handle routing key 'order.created' of queue 'orders'",
    );
  });
});

describe('after the application was closed', () => {
  it('emit and send fail, in so many words', async () => {
    const app = await contextApp({});
    const client = app.get(DlxClient);
    await app.close();
    await expect(firstValueFrom(client.emit('x', {}))).rejects.toThrow('the client is closed');
    await expect(firstValueFrom(client.send('x', {}))).rejects.toThrow('the client is closed');
    await expect(client.connect()).rejects.toThrow('the client is closed');
  });

  it('a client that was closed by hand may connect again', async () => {
    const { app } = await start({});
    const client = app.get(DlxClient);
    client.close();
    await expect(firstValueFrom(client.emit('x', {}))).rejects.toThrow('the client is closed');
    await client.connect();
    await firstValueFrom(client.emit('x', {}));
  });
});
