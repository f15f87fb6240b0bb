import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Ctx, Payload } from '@nestjs/microservices';
import {
  Consume,
  DeadLetter,
  DlxBroker,
  DlxBrokerModule,
  DlxClient,
  DeadLetters,
  DlxContext,
  Drop,
  getDlxToken,
  Ordered,
  Redrives,
  embedded,
  Retry,
  sharedBroker,
  type DlxBrokerOptions,
} from 'dlx-broker';
import { registerDlxMetrics } from 'dlx-broker/metrics';
import { DlxTesting } from 'dlx-broker/testing';
import { type OpenMetricsContentType, Registry } from 'prom-client';
import { lastValueFrom, mergeMap } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { HandlerMeter } from '../../libs/dlx-broker/src/nest/core/handler-meter.js';
import { openBroker } from '../../libs/dlx-broker/src/server/serve/open-broker.js';
import { type Exposition, readExposition, valueOf } from './exposition.js';
import { classOf } from '../harnesses/class-of.js';

@Injectable()
class Orders {
  @Consume({ queue: 'orders', routingKey: 'order.*' })
  @DeadLetter('', 'orders.dead')
  handle(@Payload() { wish }: { wish: string }): void {
    if (wish === 'die') throw new Error('no');
    if (wish === 'drop') throw new Drop();
  }

  @Consume({ queue: 'slow', routingKey: 'slow' })
  @Retry({ attempts: 2, backoff: 1 })
  park(): void {
    throw new Error('never');
  }
}

const topology = { queues: ['orders.dead'] };

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
});

async function start(options: DlxBrokerOptions = {}) {
  @Module({ imports: [DlxBrokerModule.forRoot({ logFailures: 'none', topology, ...options })], providers: [Orders] })
  class App {}
  const app = await NestFactory.createApplicationContext(App, { logger: false, abortOnError: false });
  opened.push(app);
  return { app, broker: app.get(DlxBroker), client: app.get(DlxClient) };
}

const emit = (client: DlxClient, pattern: string, data: object): Promise<unknown> =>
  lastValueFrom(client.emit(pattern, data), { defaultValue: undefined });

const read = async (registry: Pick<Registry, 'metrics'>): Promise<Exposition> =>
  readExposition((await registry.metrics()).replace(/\n\n/g, '\n'));

const orders = { broker: 'default', handler: 'Orders.handle', queue: 'orders' };

describe('the registry of an application', () => {
  it('has the metrics of the handlers and of the broker', async () => {
    const { broker, client } = await start();
    const registry = new Registry();
    registerDlxMetrics(registry, broker);
    expect(valueOf(await read(registry), 'dlx_handler_attempts_total', orders)).toBe(0);
    for (const wish of ['go', 'go', 'die', 'drop']) await emit(client, 'order.created', { wish });
    await emit(client, 'slow', {});
    await vi.waitFor(() => expect(broker.counts.parked).toBe(1), { timeout: 8_000 });
    await vi.waitFor(
      async () => {
        const page = await read(registry);
        expect(valueOf(page, 'dlx_handler_attempts_total', orders)).toBe(4);
        expect(valueOf(page, 'dlx_handlers_in_flight', orders)).toBe(0);
      },
      { timeout: 8_000 },
    );
    const page = await read(registry);
    const slow = { broker: 'default', handler: 'Orders.park', queue: 'slow' };
    expect(valueOf(page, 'dlx_handler_rejected_total', orders)).toBe(1);
    expect(valueOf(page, 'dlx_handler_dropped_total', orders)).toBe(1);
    expect(valueOf(page, 'dlx_handler_attempts_total', slow)).toBe(2);
    expect(valueOf(page, 'dlx_handler_retries_total', slow)).toBe(1);
    expect(valueOf(page, 'dlx_handler_parked_total', slow)).toBe(1);
    expect(valueOf(page, 'dlx_handler_duration_seconds_count', { ...orders, outcome: 'success' })).toBe(2);
    expect(valueOf(page, 'dlx_handler_duration_seconds_count', { ...orders, outcome: 'failure' })).toBe(2);
    expect(valueOf(page, 'dlx_backend_state', { broker: 'default', state: 'ready' })).toBe(1);
    expect(valueOf(page, 'dlx_dead_letters_total', { vhost: '/', queue: 'orders', reason: 'rejected' })).toBe(1);
    expect(valueOf(page, 'dlx_dead_letter_messages', { vhost: '/', queue: 'orders.dead' })).toBe(1);
    expect(page.samples.find(({ name }) => name === 'rabbitmq_identity_info')?.value).toBe(1);
    expect(page.types.get('rabbitmq_identity_info')).toBe('untyped');
  });

  it('has the letters that streams and redrives retried, parked and redrove', async () => {
    const { app, broker, client } = await start();
    const registry = new Registry();
    registerDlxMetrics(registry, broker);
    const counted = async (outcome: string) =>
      valueOf(await read(registry), 'dlx_letters_total', { broker: 'default', outcome });
    expect(await counted('redriven')).toBe(0);
    for (const wish of ['die', 'die', 'die']) await emit(client, 'order.created', { wish });
    await vi.waitFor(() => expect(broker.counts.rejected).toBe(3), { timeout: 8_000 });
    const letters = app.get(DeadLetters);
    const parking = letters.run('orders.dead', (all) => all.pipe(mergeMap((letter) => letter.park('orders.lot'))));
    await vi.waitFor(() => expect(broker.counts.parked).toBe(3), { timeout: 8_000 });
    parking.unsubscribe();
    await app.get(Redrives).start({ from: 'orders.lot', to: 'orders.dead' }).ended;
    expect(await Promise.all(['parked', 'redriven', 'retried'].map(counted))).toEqual([3, 3, 0]);
  });

  it('has the same numbers as the port of the application', async () => {
    const { broker, client } = await start({ broker: embedded({ listen: { metrics: { port: 0 } } }) });
    const registry = new Registry();
    registerDlxMetrics(registry, broker);
    await emit(client, 'order.created', { wish: 'die' });
    await vi.waitFor(() => expect(broker.counts.rejected).toBe(1), { timeout: 8_000 });
    const counted = ({ samples }: Exposition) =>
      samples
        .filter(({ name }) => /_total$|_count$/.test(name) && !/connections|channels/.test(name))
        .map(({ name, labels, value }) => [name, [...labels].sort(), value]);
    const { url } = broker.metrics!;
    const ofPort = counted(readExposition(await (await fetch(url)).text()));
    expect(ofPort.length).toBeGreaterThan(50);
    expect(counted(await read(registry)).toSorted()).toEqual(ofPort.toSorted());
  });

  it('is one that OpenMetrics readers understand, too', async () => {
    const { broker } = await start();
    const registry = new Registry<OpenMetricsContentType>();
    registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
    registerDlxMetrics(registry, broker);
    const text = await registry.metrics();
    expect(text).toContain('# TYPE rabbitmq_identity_info unknown\n');
    expect(text).toContain('# TYPE rabbitmq_queues_created counter\nrabbitmq_queues_created_total ');
    expect(text.endsWith('# EOF\n')).toBe(true);
  });

  it('keeps the counts when it is reset', async () => {
    const { broker } = await start();
    const registry = new Registry();
    registerDlxMetrics(registry, broker);
    registry.resetMetrics();
    expect(valueOf(await read(registry), 'rabbitmq_queues_created_total')).toBeGreaterThan(0);
  });

  it('gets a broker once', async () => {
    const { broker } = await start();
    const registry = new Registry();
    registerDlxMetrics(registry, broker);
    expect(() => registerDlxMetrics(registry, broker)).toThrow(
      "registerDlxMetrics: broker 'default' is in this registry already: register it once",
    );
  });

  it('refuses a second broker of the process, and names of other code, and stays as it was', async () => {
    const [{ broker }, { broker: other }] = [await start(), await start()];
    const registry = new Registry();
    registerDlxMetrics(registry, broker);
    expect(() => registerDlxMetrics(registry, other)).toThrow(
      /another broker of this process .* a registry of its own/,
    );
    const taken = new Registry();
    taken.registerMetric({ name: 'rabbitmq_queues' } as never);
    expect(() => registerDlxMetrics(taken, other)).toThrow(/has a metric 'rabbitmq_queues' of other code/);
    expect(taken.getMetricsAsArray()).toHaveLength(1);
  });

  it('takes the handlers of two applications on a shared broker', async () => {
    const own = await openBroker({}, {});
    opened.push(own);
    const one = await start({ broker: sharedBroker(own.broker) });
    const Others = classOf('Others', {
      handle: [Consume({ queue: 'orders', broker: 'other' }), DeadLetter('', 'orders.dead')],
    });
    const module = DlxBrokerModule.forRoot({ name: 'other', broker: sharedBroker(own.broker) });
    @Module({ imports: [module], providers: [Others] })
    class Other {}
    const other = await NestFactory.createApplicationContext(Other, { logger: false, abortOnError: false });
    opened.push(other);
    const registry = new Registry();
    registerDlxMetrics(registry, one.broker);
    registerDlxMetrics(registry, other.get(getDlxToken(DlxBroker, 'other')));
    const page = await read(registry);
    expect(valueOf(page, 'dlx_handler_attempts_total', orders)).toBe(0);
    expect(valueOf(page, 'dlx_handler_attempts_total', { ...orders, handler: 'Others.handle', broker: 'other' })).toBe(
      0,
    );
  });
});

it.each([
  [false, 0],
  [true, 1],
])('measures the handlers only if it is asked to: %s', async (metrics, times) => {
  const begin = vi.spyOn(HandlerMeter.prototype, 'begin');
  const { broker, client } = await start({ metrics });
  await emit(client, 'order.created', { wish: 'go' });
  await vi.waitFor(() => expect(broker.counts.acked).toBe(1), { timeout: 8_000 });
  expect(begin).toHaveBeenCalledTimes(times);
  begin.mockRestore();
});

class Keyed {
  @Consume('keyed')
  @Retry({ attempts: 2, backoff: '1m' })
  @Ordered({ key: (data: { key: string }) => data.key, window: 7 })
  handle(@Payload() { fails }: { fails: boolean }, @Ctx() { isLastAttempt }: DlxContext): void {
    if (fails && !isLastAttempt) throw new Error('later');
  }
}

it('shows what waits in hand of the handlers that keep an order', async () => {
  const dlx = await DlxTesting.create({ providers: [Keyed] }, { logger: false });
  const registry = new Registry();
  registerDlxMetrics(registry, dlx.app.get(DlxBroker));
  const labels = { broker: 'default', handler: 'Keyed.handle', queue: 'keyed' };
  const names = ['lanes', 'held', 'in_hand', 'window'];
  const values = async () => {
    const page = await read(registry);
    return names.map((name) => valueOf(page, `dlx_ordered_${name}`, labels));
  };
  for (const key of ['a', 'a', 'b', 'c']) await dlx.publish('keyed', { key, fails: key !== 'c' });
  await dlx.settled();
  expect(await values()).toEqual([2, 2, 3, 7]);
  await dlx.advance('5m');
  expect(await values()).toEqual([0, 0, 0, 7]);
  await dlx.close();
});
