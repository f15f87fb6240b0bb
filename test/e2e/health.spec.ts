import { setImmediate as soon } from 'node:timers/promises';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Controller, Get, Inject, Injectable, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventPattern, type MicroserviceOptions } from '@nestjs/microservices';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import {
  Consume,
  DeadLetter,
  DlxBroker,
  DlxBrokerModule,
  type DlxBrokerOptions,
  DlxConfigurationError,
  DlxServer,
  embedded,
  getDlxToken,
  Retry,
} from 'dlx-broker';
import { EmbeddedBackend } from 'dlx-broker/engine';
import { DlxTesting } from 'dlx-broker/testing';
import { describe, expect, it, vi } from 'vitest';
import { endsAfterEach } from '../harnesses/ends.js';
import { classOf } from '../harnesses/class-of.js';

const ends = endsAfterEach();

/** An application in virtual time. */
async function started(providers: readonly Type[], options: Omit<DlxBrokerOptions, 'broker'> = {}) {
  const dlx = new DlxTesting({ logger: false });
  ends.push(() => dlx.close());
  await dlx.start({ providers: [...providers] }, options);
  return { dlx, broker: dlx.app.get(DlxBroker) };
}

@Injectable()
class Orders {
  @Consume('orders')
  @Retry({ attempts: 1 })
  handle(): void {
    throw new Error('down');
  }
}

const names = ({ problems }: { readonly problems: readonly { readonly name: string }[] }) =>
  problems.map(({ name }) => name);

/** The journal of an application, which has a data directory of its own. */
const journalOf = (broker: DlxBroker) =>
  (broker.backend as EmbeddedBackend).broker.virtualHost('/').journal as unknown as { fail(cause: unknown): void };

async function onDisk(diskFreeLimit?: number) {
  const directory = await mkdtemp(join(tmpdir(), 'dlx-health-'));
  ends.push(() => rm(directory, { recursive: true, force: true }));
  const limit = diskFreeLimit === undefined ? {} : { diskFreeLimit };
  return embedded({ dataDir: join(directory, 'data'), ...limit });
}

/** The answer of terminus. */
interface Body {
  readonly status: string;
  readonly details: { readonly dlx: object };
  readonly error: { readonly dlx: { readonly problems: readonly { readonly reason: string }[] } };
}

/** An application with an HTTP server and checks of terminus. It is not started. */
async function withTerminus(options: DlxBrokerOptions = {}, providers: readonly Type[] = [Orders]) {
  @Controller('health')
  class HealthController {
    constructor(
      @Inject(HealthCheckService) private readonly health: HealthCheckService,
      @Inject(DlxBroker) private readonly dlx: DlxBroker,
    ) {}

    @Get('live')
    @HealthCheck()
    live() {
      return this.health.check([() => this.dlx.isAlive('dlx')]);
    }

    @Get('ready')
    @HealthCheck()
    ready() {
      return this.health.check([() => this.dlx.isHealthy('dlx')]);
    }
  }
  const module = {
    module: class {},
    imports: [DlxBrokerModule.forRoot(options), TerminusModule.forRoot({ logger: false })],
    controllers: [HealthController],
    providers: [...providers],
  };
  const app = await NestFactory.create(module, { logger: false, abortOnError: false });
  ends.push(() => app.close());
  const ask = async (probe: 'live' | 'ready') => {
    const address = app.getHttpServer().address() as { port: number };
    const response = await fetch(`http://127.0.0.1:${address.port}/health/${probe}`);
    return { status: response.status, body: (await response.json()) as Body };
  };
  return { app, ask, broker: app.get(DlxBroker) };
}

describe('the health of a broker', () => {
  it('is ready once it is started, with facts', async () => {
    const { broker } = await started([Orders]);
    expect(await broker.health()).toEqual({
      isAlive: true,
      isReady: true,
      problems: [],
      broker: 'default',
      server: 'embedded 4',
      connection: 'ready',
      consumers: 1,
      handling: 0,
      stopped: [],
      stuck: [],
      parked: 0,
      oldestDeadLetter: undefined,
      loopDelay: undefined,
    });
  });

  it('is the same answer within a second', async () => {
    const { dlx, broker } = await started([Orders]);
    const first = await broker.health();
    await dlx.publish('orders', {});
    await dlx.settled();
    expect(await broker.health()).toBe(first);
    await dlx.advance('1s');
    expect(await broker.health()).toMatchObject({ isReady: true, parked: 1 });
  });

  it('is not ready before the start and during the shutdown, and alive', async () => {
    let finish = (): void => undefined;
    @Injectable()
    class Slow {
      @Consume('slow')
      @DeadLetter(false)
      handle(): Promise<void> {
        return new Promise((resolve) => (finish = resolve));
      }
    }
    const module = { module: class {}, imports: [DlxBrokerModule.forRoot()], providers: [Slow] };
    const app = await NestFactory.create(module, { logger: false, abortOnError: false });
    const broker = app.get(DlxBroker);
    expect(await broker.health()).toMatchObject({ isAlive: true, isReady: false, consumers: 0 });
    expect(names(await broker.health())).toEqual(['not-started']);
    await app.init();
    expect(await broker.health()).toMatchObject({ isReady: true });
    broker.backend.publish({ exchange: '', routingKey: 'slow', properties: {}, body: Buffer.from('{}') });
    await soon();
    const closing = app.close();
    await soon(); // Nest calls the hooks of a shutdown one by one
    expect(await broker.health()).toMatchObject({ isAlive: true, isReady: false, handling: 1 });
    expect(names(await broker.health())).toEqual(['closing']);
    finish();
    await closing;
  });

  it('is not ready while its server is connected and not started', async () => {
    const Listener = classOf('Listener', { created: [EventPattern<string>('order.created')] }, Controller());
    const module = { module: class {}, imports: [DlxBrokerModule.forRoot()], controllers: [Listener] };
    const app = await NestFactory.create(module, { logger: false, abortOnError: false });
    ends.push(() => app.close());
    app.connectMicroservice<MicroserviceOptions>({ strategy: app.get(DlxServer) }, { inheritAppConfig: true });
    await app.init();
    const broker = app.get(DlxBroker);
    expect((await broker.health()).problems).toEqual([
      { name: 'not-started', reason: "the DlxServer is not started, for 'order.created'" },
    ]);
    await app.startAllMicroservices();
    await vi.waitFor(async () => expect((await broker.health()).isReady).toBe(true), { timeout: 5_000 });
  });

  it('is not ready while the broker ended a consumer, until it is restored', async () => {
    const { dlx, broker } = await started([Orders]);
    await dlx.advance('1s');
    dlx.broker
      .connect()
      .openChannel({} as never)
      .deleteQueue('orders');
    expect((await broker.health()).problems).toEqual([
      { name: 'consumers', reason: "the broker ended the consumers of 'orders'" },
    ]);
    await vi.waitFor(
      async () => {
        await dlx.advance('1s');
        expect((await broker.health()).isReady).toBe(true);
      },
      { timeout: 5_000 },
    );
  });

  it('answers many at once by one look, and for a named broker as well', async () => {
    const module = { module: class {}, imports: [DlxBrokerModule.forRoot({ name: 'audit' })] };
    const app = await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
    ends.push(() => app.close());
    const indicator = app.get<DlxBroker>(getDlxToken(DlxBroker, 'audit'));
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => indicator.isHealthy('dlx')));
    expect(answers[999]).toMatchObject({ dlx: { status: 'up', broker: 'audit' } });
  });
});

describe('dead letters', () => {
  it('have an age, and are no problem without a limit', async () => {
    const { dlx, broker } = await started([Orders], { health: { deadLetters: {} } });
    expect(await broker.health()).toMatchObject({ oldestDeadLetter: undefined });
    await dlx.publish('orders', { card: '4111-2222-3333' });
    await dlx.settled();
    await dlx.advance('90s');
    const health = await broker.health();
    expect(health).toMatchObject({ isReady: true, oldestDeadLetter: { queue: 'orders.parked', age: 90 } });
    expect(JSON.stringify(health)).not.toContain('4111-2222-3333');
  });

  it('of any queue that gets them make it not ready above the limit', async () => {
    @Injectable()
    class Parcels {
      @Consume('parcels')
      @DeadLetter('dlx', 'late')
      handle(): void {
        throw new Error('down');
      }
    }
    const topology = {
      queues: ['parcels.dead'],
      bindings: [{ source: 'dlx', destination: 'parcels.dead', routingKey: '#' }],
    };
    const { dlx, broker } = await started([Orders, Parcels], { topology, health: { deadLetters: { maxAge: '1h' } } });
    await dlx.publish('parcels', {});
    await dlx.advance('30m');
    await dlx.publish('orders', {});
    await dlx.advance('30m');
    expect(await broker.health()).toMatchObject({ isReady: true, oldestDeadLetter: { queue: 'parcels.dead' } });
    await dlx.advance('1s');
    expect(await broker.health()).toMatchObject({
      isAlive: true,
      isReady: false,
      problems: [
        {
          name: 'dead-letters',
          reason: "the oldest dead letter, in queue 'parcels.dead', is 3601 s old; the limit is 3600 s",
        },
      ],
    });
  });

  it('count in the queues that the option names', async () => {
    const health = { deadLetters: { maxAge: '1s', queues: ['nowhere'] } };
    const { dlx, broker } = await started([Orders], { health });
    await dlx.publish('orders', {});
    await dlx.advance('1h');
    expect(await broker.health()).toMatchObject({ isReady: true, oldestDeadLetter: undefined });
  });
});

it('the event loop makes it not ready when it was blocked for longer than the limit', async () => {
  const { dlx, broker } = await started([], { health: { loopDelay: 50 } });
  await vi.waitFor(
    async () => {
      for (const end = performance.now() + 250; performance.now() < end;);
      await new Promise((resolve) => setTimeout(resolve, 30)); // the measure runs every 20 ms
      await dlx.advance('1s');
      const { problems, isAlive } = await broker.health();
      expect(problems).toMatchObject([{ name: 'event-loop', reason: expect.stringContaining('the limit is 50 ms') }]);
      expect(isAlive).toBe(true);
    },
    { timeout: 5_000 },
  );
});

it.each<[object, string]>([
  [{ loopDelay: 'soon' }, "option 'health.loopDelay' of "],
  [{ loopDelay: 0 }, 'is 0, which nothing can meet'],
  [{ deadLetters: { maxAge: '5' } }, 'has no unit'],
  [{ deadLetters: { maxAge: 1 } }, "option 'health.deadLetters.maxAge' of "],
  [{ deadLetters: { maxAge: 30 } }, "30 is less than 1000 ms; a number is milliseconds, write '30s' for seconds"],
  [{ deadLetters: { queues: [] } }, 'is no list of names'],
  [{ deadLetters: { maxage: '1d' } }, 'maxAge'],
  [{ eventLoop: '1s' }, 'loopDelay'],
])('bad limits are refused: %j', (health, text) => {
  const refused = () => DlxBrokerModule.forRoot({ health } as DlxBrokerOptions);
  expect(refused).toThrow(DlxConfigurationError);
  expect(refused).toThrow(text);
});

describe('checks by terminus, over HTTP', () => {
  it('answer 200 with the facts', async () => {
    const { app, ask } = await withTerminus();
    await app.listen(0, '127.0.0.1');
    expect(await ask('live')).toEqual({
      status: 200,
      body: {
        status: 'ok',
        info: { dlx: { status: 'up', broker: 'default' } },
        error: {},
        details: { dlx: { status: 'up', broker: 'default' } },
      },
    });
    const { status, body } = await ask('ready');
    expect(status).toBe(200);
    expect(body.details.dlx).toEqual({
      status: 'up',
      broker: 'default',
      server: 'embedded 4',
      connection: 'ready',
      consumers: 1,
      handling: 0,
      stopped: [],
      stuck: [],
      parked: 0,
    });
  });

  it('answer 503 after the journal failed, and the process is not alive', async () => {
    const { app, ask, broker } = await withTerminus({ broker: await onDisk() });
    await app.listen(0, '127.0.0.1');
    expect((await ask('live')).status).toBe(200);
    journalOf(broker).fail(Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO' }));
    await vi.waitFor(async () => expect((await ask('live')).status).toBe(503), { timeout: 5_000, interval: 100 });
    const { body } = await ask('live');
    expect(body.error.dlx).toMatchObject({ status: 'down', problems: [{ name: 'storage-failed' }] });
    expect(body.error.dlx.problems[0]?.reason).toContain('EIO');
    const ready = await ask('ready');
    expect([ready.status, ready.body.status]).toEqual([503, 'error']);
  });

  it('answer 503 while the disk has too little room, and the process is alive', async () => {
    const { app, ask } = await withTerminus({ broker: await onDisk(Number.MAX_SAFE_INTEGER) });
    await app.listen(0, '127.0.0.1');
    const { status, body } = await ask('ready');
    expect(status).toBe(503);
    expect(body.error.dlx).toMatchObject({
      status: 'down',
      problems: [{ name: 'alarm', reason: 'the broker takes no publishes: it is low on disk' }],
    });
    expect((await ask('live')).status).toBe(200);
  });
});
