import { Injectable, Logger } from '@nestjs/common';
import {
  binding,
  Consume,
  DeadLetter,
  DeadLetters,
  DlxBroker,
  DlxClient,
  DlxRecordBuilder,
  DlxServer,
  Idempotent,
  queue,
  Redrives,
  Retry,
  type IdempotencyStore,
} from 'dlx-broker';
import { EmbeddedBackend } from 'dlx-broker/engine';
import { createBroker } from 'dlx-broker/engine';
import { finalize, firstValueFrom, lastValueFrom, mergeMap, type Observable, throwError, timer } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { wouldEndProcess } from '../harnesses/would-end.js';
import { contextApp, handlerOf, microservice, Morgue } from './apps.js';
import { idle, isOfStart, isEmbedded, until } from './places.js';

const ends = wouldEndProcess();
afterEach(() => Logger.overrideLogger(false));

/** Long enough for all that happens by itself. */
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
const fails = (what = 'bad'): never => {
  throw new Error(what);
};
const lying = { durable: true, exclusive: false, autoDelete: false, arguments: new Map() };

/** @returns what is logged from now on */
function listen(): string[] {
  const lines: string[] = [];
  const keep = (text: unknown): void => void (isOfStart(text) || lines.push(String(text)));
  Logger.overrideLogger({ log: () => undefined, warn: keep, error: keep });
  return lines;
}

describe('what a handler returns that cannot be looked at', () => {
  const traps: readonly [string, () => unknown][] = [
    ['for its prototype', () => new Proxy({}, { getPrototypeOf: () => fails() })],
    ['for its fields', () => new Proxy({}, { get: (_, name) => (name === 'then' ? undefined : fails()) })],
    ['for what it has', () => new Proxy({}, { has: () => fails() })],
    // oxlint-disable-next-line unicorn/no-thenable -- that is what is tested
    ['for its result, as a thenable', () => ({ then: () => fails() })],
    ['for its values, as an observable', () => ({ subscribe: () => fails(), lift: () => 1 })],
  ];

  describe.each(['EventPattern', 'Consume'] as const)('@%s', (kind) => {
    it.each(traps)('is settled all the same: %s', async (_, what) => {
      const worker = handlerOf(kind, () => what(), [DeadLetter('dlx')]);
      const app = await (kind === 'Consume'
        ? contextApp({ providers: [worker, Morgue] })
        : microservice({ controllers: [worker], providers: [Morgue] }));
      await firstValueFrom(app.get(DlxClient).emit('work', 1));
      const { backend } = app.get(DlxBroker);
      await until(async () => expect(await backend.status('Worker.work')).toMatchObject(idle));
      await pause();
      expect(ends).toEqual([]);
    });
  });
});

// Only the embedded broker writes the error into a message that is rejected.
describe.runIf(isEmbedded)('the end of a stream that throws behind an error', () => {
  const throws = finalize(() => fails('at the end'));
  const mine = throwError(() => new Error('mine'));
  const streams: readonly (readonly [string, () => Observable<unknown>])[] = [
    ['at once', () => mine.pipe(throws)],
    [
      'later',
      () =>
        timer(1).pipe(
          mergeMap(() => mine),
          throws,
        ),
    ],
  ];

  describe.each(['EventPattern', 'Consume'] as const)('@%s', (kind) => {
    it.each(streams)('does not hide the error: %s', async (_, stream) => {
      const worker = handlerOf(kind, stream, [DeadLetter('dlx')]);
      const app = await (kind === 'Consume'
        ? contextApp({ providers: [worker, Morgue] })
        : microservice({ controllers: [worker], providers: [Morgue] }));
      await firstValueFrom(app.get(DlxClient).emit('work', 1));
      const { bodies } = app.get(Morgue);
      await until(() => expect(bodies).toHaveLength(1));
      expect(bodies[0]?.headers).toMatchObject({ 'dlx-error-class': 'Error', 'dlx-error-message': 'mine' });
    });
  });
});

describe('a processing hook', () => {
  const start = async (ran: () => void, ...above: MethodDecorator[]) => {
    const worker = handlerOf('EventPattern', ran, [DeadLetter('dlx'), ...above]);
    const topology = { queues: [queue('dead')], bindings: [binding('dlx', 'dead', '#')] };
    const app = await microservice({ controllers: [worker], options: { drainTimeout: '1h', topology } });
    return { app, broker: app.get(DlxBroker), emit: () => firstValueFrom(app.get(DlxClient).emit('work', 1)) };
  };
  const faulty: readonly [string, () => unknown][] = [
    ['throws', () => fails()],
    ['rejects', () => Promise.reject(new Error('bad'))],
  ];

  it.each(faulty)('that %s before the handler is a failed attempt', async (_, hook) => {
    let runs = 0;
    const { app, broker, emit } = await start(() => void runs++);
    app.get(DlxServer).setOnProcessingStartHook(hook as never);
    await emit();
    await until(async () => expect(await broker.backend.status('Worker.work')).toMatchObject(idle));
    expect([runs, broker.counts.rejected, broker.counts.undecodable]).toEqual([0, 1, 0]);
    expect(await broker.backend.status('dead')).toMatchObject({ messages: 1 });
    await app.close(); // nothing is at work: it would be waited for
    expect(ends).toEqual([]);
  });

  it('that fails before the handler uses attempts, and the message is parked in the end', async () => {
    const { app, broker, emit } = await start(() => undefined, Retry({ attempts: 2, backoff: 1 }));
    app.get(DlxServer).setOnProcessingStartHook((() => fails()) as never);
    await emit();
    await until(() => expect(broker.counts).toMatchObject({ retried: 1, parked: 1 }));
  });

  it('that fails after the handler is logged, and the outcome stands', async () => {
    const { app, broker, emit } = await start(() => undefined);
    const lines = listen();
    app.get(DlxServer).setOnProcessingStartHook((async (_: unknown, __: unknown, done: () => Promise<void>) => {
      await done();
      fails('late');
    }) as never);
    await emit();
    await until(() => expect(lines).toEqual(['Worker.work: a processing hook failed: Error: late']));
    expect(broker.counts).toMatchObject({ acked: 1, rejected: 0 });
    expect(ends).toEqual([]);
  });

  it('that fails at the end lets the one of the start go on', async () => {
    const { app, broker, emit } = await start(() => undefined);
    let isOver = false;
    app.get(DlxServer).setOnProcessingStartHook((async (_: unknown, __: unknown, done: () => Promise<void>) => {
      await done();
      isOver = true;
    }) as never);
    app.get(DlxServer).setOnProcessingEndHook((() => fails()) as never);
    await emit();
    await until(() => expect([broker.counts.acked, isOver]).toEqual([1, true]));
    expect(ends).toEqual([]);
  });
});

describe('a client', () => {
  const open = async (connected = true) => {
    const backend = new EmbeddedBackend(createBroker());
    const client = new DlxClient({ backend });
    if (connected) await client.connect();
    return { backend, client };
  };

  it.each([true, false])(
    'whose dispatch hook throws fails its events and requests: connected %s',
    async (connected) => {
      const { client } = await open(connected);
      client.setOnDispatchHook(() => fails('hook'));
      await expect(lastValueFrom(client.emit('a', 1))).rejects.toThrow('hook');
      await expect(lastValueFrom(client.send('a', 1))).rejects.toThrow('hook');
      client.emit('a', 1); // no handler gets this one
      await pause();
      expect(ends).toEqual([]);
    },
  );

  it('fails an event whose pattern cannot be written, also without a handler', async () => {
    const { client } = await open();
    const lines = listen();
    const pattern = new Proxy({}, { ownKeys: () => fails('unwritable') });
    await expect(lastValueFrom(client.emit(pattern, 1))).rejects.toThrow('unwritable');
    client.emit(pattern, 1);
    await until(() => expect(lines).toHaveLength(1));
    expect(lines).toEqual(["emit of 'object' failed: Error: unwritable"]);
    expect(ends).toEqual([]);
  });

  it.each([
    ['data', 'a', undefined, 'a', "emit of 'a': the data are undefined"],
    ['a pattern', null, 1, 'null', 'emit: the pattern is null'],
  ])('fails an event without %s, and logs it', async (_, pattern, data, name, text) => {
    const { client } = await open();
    const lines = listen();
    await expect(lastValueFrom(client.emit(pattern, data))).rejects.toThrow(text);
    client.emit(pattern, data);
    await until(() => expect(lines).toHaveLength(1));
    expect(lines[0]).toMatch(new RegExp(`^emit of '${name}' failed: .*${text}`));
  });

  it('keeps nothing of a request that could not be sent', async () => {
    const { backend, client } = await open();
    const record = new DlxRecordBuilder(1).setCorrelationId('c').build();
    const ask = (): Promise<unknown> => lastValueFrom(client.send('a', record) as Observable<unknown>);
    vi.spyOn(backend, 'openReplies').mockImplementationOnce(() => fails('no channel'));
    await expect(ask()).rejects.toThrow('no channel');
    await expect(ask()).rejects.toThrow("no exchange 'dlx.requests'"); // and not: it waits already
  });
});

describe('a schedule of redrives', () => {
  const aSecondLater = async (check: () => void): Promise<void> => {
    await vi.advanceTimersByTimeAsync(1_000);
    check();
  };
  const inVirtualTime = (): void =>
    void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'], now: Date.now() });
  afterEach(() => void vi.useRealTimers());

  it('goes on when the function that looks at its tasks throws, and says so', async () => {
    const app = await contextApp({});
    const lines = listen();
    let looks = 0;
    inVirtualTime();
    const schedule = app.get(Redrives).every(1_000, { from: 'nowhere' }, () => {
      looks++;
      fails('look');
    });
    await until(() => aSecondLater(() => expect(looks).toBeGreaterThan(2)));
    schedule.unsubscribe();
    expect(lines[0]).toBe('the function that looks at the tasks of a schedule failed: Error: look');
    expect(ends).toEqual([]);
  });

  it('warns once of a redrive that fails', async () => {
    const app = await contextApp({});
    const lines = listen();
    let looks = 0;
    inVirtualTime();
    const schedule = app.get(Redrives).every(1_000, { from: 'ded' }, () => void looks++);
    await until(() => aSecondLater(() => expect(looks).toBeGreaterThan(2)));
    const text =
      "the redrive of ded by a schedule failed, which the schedule tries again: UnknownQueueError: there is no queue 'ded' to redrive from";
    expect(lines).toEqual([text]);
    schedule.unsubscribe();
  });

  it('ends with its application, after which none begins', async () => {
    const app = await contextApp({});
    await app.get(DlxBroker).backend.declare({ exchanges: [], bindings: [], queues: [{ ...lying, name: 'dead' }] });
    const redrives = app.get(Redrives);
    let looks = 0;
    inVirtualTime();
    const schedule = redrives.every(1_000, { from: 'dead' }, () => void looks++);
    await until(() => aSecondLater(() => expect(looks).toBeGreaterThan(1)));
    await app.close();
    const before = looks;
    await vi.advanceTimersByTimeAsync(2_000);
    expect([looks, schedule.closed, redrives.every(1_000, { from: 'dead' }).closed]).toEqual([before, true, true]);
    expect((await redrives.start({ from: 'dead' }).ended).state).toBe('cancelled');
  });
});

describe('a logger that throws', () => {
  const throwing = { log: () => fails('logger'), warn: () => fails('logger'), error: () => fails('logger') };

  @Injectable()
  class Two {
    @Consume({ queue: 'two', routingKey: 'a.one' })
    @DeadLetter('dlx')
    one(): void {
      fails();
    }

    @Consume({ queue: 'two', routingKey: 'a.two' })
    @DeadLetter('dlx')
    @Idempotent()
    two(): void {}
  }
  const rows = [
    ['a pattern that no handler is for', '', 'two', '{}', 1],
    ['a body that is no JSON', 'dlx.events', 'a.one', '{', 1],
    ['a handler that fails', 'dlx.events', 'a.one', '{}', 1],
    ['a message without a key', 'dlx.events', 'a.two', '{}', 0],
  ] as const;

  it.each(rows)('is no matter for the message: %s', async (_, exchange, routingKey, body, deaths) => {
    const app = await contextApp({ providers: [Two, Morgue] });
    const { backend } = app.get(DlxBroker);
    Logger.overrideLogger(throwing);
    backend.publish({ exchange, routingKey, properties: {}, body: Buffer.from(body) });
    await until(() => expect(app.get(Morgue).bodies).toHaveLength(deaths));
    await pause();
    expect(await backend.status('two')).toMatchObject({ ...idle, consumers: 1 });
    expect([app.get(Morgue).bodies.length, ends]).toEqual([deaths, []]);
  });

  it('is no matter for the process: an event that is dropped, a pipeline that fails', async () => {
    const app = await contextApp({});
    Logger.overrideLogger(throwing);
    await firstValueFrom(app.get(DlxClient).emit('nobody', 1), { defaultValue: undefined });
    let tries = 0;
    const pipeline = (): never => {
      tries++;
      return fails();
    };
    const run = app.get(DeadLetters).run('dead', pipeline, { pause: 1 });
    await until(() => expect(tries).toBeGreaterThan(2));
    run.unsubscribe();
    expect(ends).toEqual([]);
  });
});

it('a store that answers none of the three words is an outage, and the message waits', async () => {
  const answers: unknown[] = [true, undefined, 'claimed'];
  const store = { claim: () => answers.shift(), done: () => undefined, release: () => undefined };
  let runs = 0;
  const worker = handlerOf('Consume', () => void runs++, [
    Idempotent({ key: () => 'k', store: store as unknown as IdempotencyStore }),
    Retry({ attempts: 3, backoff: 1 }),
  ]);
  const app = await contextApp({ providers: [worker] });
  const lines = listen();
  await firstValueFrom(app.get(DlxClient).emit('work', 1));
  await until(() => expect(runs).toBe(1));
  expect(lines).toHaveLength(2);
  for (const line of lines) expect(line).toContain("its claim answered none of 'claimed', 'busy' and 'done'");
});

describe('what clients wrote does nothing to the log', () => {
  const evil = 'x\u001b[2J\nERROR forged\u202e';
  const clean = (lines: readonly string[]): void => {
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  };

  it('routing keys, bodies, content types and keys of messages', async () => {
    @Injectable()
    class Two {
      @Consume({ queue: 'two', routingKey: 'a.one' })
      @DeadLetter('dlx')
      one(): void {}

      @Consume({ queue: 'two', routingKey: 'a.two' })
      @DeadLetter('dlx')
      @Idempotent({
        key: () => evil,
        store: { claim: () => 'claimed', done: () => fails(evil), release: () => fails(evil) },
      })
      two(): void {}
    }
    const app = await contextApp({ providers: [Two, Morgue] });
    const { backend } = app.get(DlxBroker);
    await backend.declare({
      exchanges: [],
      queues: [],
      bindings: [
        { source: 'dlx.events', destination: 'two', destinationType: 'queue', routingKey: '#', arguments: new Map() },
      ],
    });
    const lines = listen();
    const publish = (routingKey: string, body: string, contentType?: string): void =>
      backend.publish({
        exchange: 'dlx.events',
        routingKey,
        properties: contentType === undefined ? {} : { contentType },
        body: Buffer.from(body),
      });
    publish(evil, '{}');
    publish('a.one', evil);
    publish('a.one', '{', `a/b+json;${evil}`);
    publish('a.two', '{}');
    app.get(DlxClient).emit(evil, { n: 1n });
    await firstValueFrom(app.get(DlxClient).emit('dropped', new DlxRecordBuilder(1).setExchange('').build()), {
      defaultValue: undefined,
    });
    await until(() => expect(lines.length).toBeGreaterThanOrEqual(6));
    clean(lines);
  });

  it('what a pipeline failed of', async () => {
    const app = await contextApp({});
    const lines = listen();
    const run = app.get(DeadLetters).run('dead', () => fails(evil), { pause: 60_000 });
    run.unsubscribe();
    clean(lines);
  });
});
