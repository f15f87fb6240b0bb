import { type Type, UseInterceptors } from '@nestjs/common';
import { EventPattern, MessagePattern, RpcException } from '@nestjs/microservices';
import {
  Consume,
  DlxBroker,
  DlxClient,
  Idempotent,
  type IdempotencyStore,
  Retry,
  RetryLater,
  Unavailable,
} from 'dlx-broker';
import { createBroker, EmbeddedBackend } from 'dlx-broker/engine';
import { DlxTesting, type DlxTestingCreateOptions } from 'dlx-broker/testing';
import { lastValueFrom, map, type Observable, of, timer } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { wouldEndProcess } from '../harnesses/would-end.js';

const ends = wouldEndProcess();

const opened: DlxTesting[] = [];
afterEach(() => Promise.all(opened.splice(0).map((dlx) => dlx.close())));

/** A value each of whose uses throws a TypeError. */
function unreadable(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

/** A value that says what it is once, and throws from then on. */
function onceReadable(): object {
  let isRead = false;
  const getPrototypeOf = (): object => {
    if (isRead) throw new Error('read again');
    isRead = true;
    return Object.prototype;
  };
  return new Proxy({}, { getPrototypeOf });
}

/** An error with a property that throws when it is read. */
const unreadableIn = (error: Error, property: string): Error =>
  Object.defineProperty(error, property, {
    get: () => {
      throw new Error('no such thing');
    },
  });

function workerOf(handle: () => unknown, ...above: readonly MethodDecorator[]): Type {
  class Worker {
    work(): unknown {
      return handle();
    }
  }
  const method = Object.getOwnPropertyDescriptor(Worker.prototype, 'work')!;
  for (const decorate of above) decorate(Worker.prototype, 'work', method as never);
  return Worker;
}

const twice = Retry({ attempts: 2, backoff: '1s' });
const kinds: readonly (readonly [string, MethodDecorator])[] = [
  ['@Consume', Consume({ routingKey: 'work' })],
  ['@EventPattern', EventPattern('work') as MethodDecorator],
];

/** Starts a handler, and gives it a message. */
async function started(worker: Type, transport: DlxTestingCreateOptions['transport'] = {}) {
  const dlx = await DlxTesting.create({ controllers: [worker] }, { logger: false, transport });
  opened.push(dlx);
  const client = dlx.app.get(DlxClient);
  return { dlx, client, counts: () => dlx.app.get(DlxBroker).counts };
}

/** Ends RxJS's timers for errors that no observer takes. */
const aTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

describe.each(kinds)('%s', (_, entry) => {
  const emitted: readonly (readonly [string, () => Observable<unknown>])[] = [
    ['at once', () => of(unreadable(), 1)],
    ['later', () => timer(1).pipe(map(unreadable))],
  ];

  it.each(emitted)('fails an attempt that emits what cannot be read, %s', async (__, stream) => {
    const { dlx, client, counts } = await started(workerOf(stream, entry, twice));
    await lastValueFrom(client.emit('work', 1), { defaultValue: 0 });
    await aTurn();
    await dlx.advance('1s');
    await aTurn();
    await dlx.settled();
    expect(counts()).toMatchObject({ retried: 1, parked: 1, acked: 0 });
    expect(ends).toEqual([]);
  });

  it('fails an attempt whose interceptor emits what cannot be read', async () => {
    const interceptor = {
      intercept: (__: unknown, next: { handle(): Observable<unknown> }) => next.handle().pipe(map(unreadable)),
    };
    const { dlx, client, counts } = await started(workerOf(() => 1, entry, twice, UseInterceptors(interceptor)));
    await lastValueFrom(client.emit('work', 1), { defaultValue: 0 });
    await dlx.advance('1s');
    await dlx.settled();
    await aTurn();
    expect(counts()).toMatchObject({ retried: 1, parked: 1 });
    expect(ends).toEqual([]);
  });

  it.each([
    ['returns what can be read once', () => onceReadable()],
    ['emits what can be read once', () => of(onceReadable())],
  ])('settles a message whose handler %s', async (__, handle) => {
    const { dlx, client, counts } = await started(workerOf(handle, entry, twice));
    await lastValueFrom(client.emit('work', 1), { defaultValue: 0 });
    await dlx.advance('1s');
    await dlx.settled();
    await aTurn();
    expect(counts().acked + counts().parked).toBe(1);
    expect(ends).toEqual([]);
  });

  class Secretive extends RpcException {
    override getError(): never {
      throw new Error('secret');
    }
  }
  const thrown: readonly (readonly [string, () => unknown])[] = [
    ['can be read once', onceReadable],
    ['cannot be read', unreadable],
    ['has methods that throw', () => new Secretive('x')],
    ['has an unreadable name', () => unreadableIn(new Error('x'), 'name')],
    ['has an unreadable constructor', () => unreadableIn(new Error('x'), 'constructor')],
    ['has an unreadable wait', () => unreadableIn(new Unavailable('away'), 'wait')],
    ['has an unreadable delay', () => unreadableIn(new RetryLater(1), 'delay')],
  ];

  it.each(thrown)('uses the attempts after an error that %s', async (__, error) => {
    let attempts = 0;
    const handle = (): never => {
      attempts++;
      throw error();
    };
    const { dlx, client, counts } = await started(workerOf(handle, entry, twice));
    await lastValueFrom(client.emit('work', 1), { defaultValue: 0 });
    // A message that cannot be settled at once stays unsettled for a second.
    for (let second = 0; second < 4; second++) {
      await dlx.advance('1s', { except: ['Worker.work'] });
      await aTurn();
    }
    await dlx.settled();
    expect([attempts, counts().parked]).toEqual([2, 1]);
    expect(ends).toEqual([]);
  });
});

it('handlers that share a message use its attempts, also if tracing cannot read the error of one of them', async () => {
  let attempts = 0;
  class Worker {
    first(): never {
      attempts++;
      throw new Error('x');
    }
    second(): never {
      throw onceReadable();
    }
  }
  for (const name of ['first', 'second'] as const) {
    const method = Object.getOwnPropertyDescriptor(Worker.prototype, name)!;
    for (const above of [Consume({ queue: 'work', routingKey: name === 'first' ? 'work' : '#' }), twice]) {
      above(Worker.prototype, name, method as never);
    }
  }
  const span = {
    header: undefined,
    run: (handle: () => void) => handle(),
    handled: () => undefined,
    end: () => undefined,
  };
  const none = (): undefined => undefined;
  const tracing = { published: none, startProcess: () => span, moved: none, redrive: none };
  const { dlx, client, counts } = await started(Worker, { tracing });
  await lastValueFrom(client.emit('work', 1), { defaultValue: 0 });
  for (let second = 0; second < 4; second++) {
    await dlx.advance('1s', { except: ['work'] });
    await aTurn();
  }
  expect([attempts, counts().parked]).toEqual([2, 1]);
  expect(ends).toEqual([]);
});

it('a RetryLater whose delay cannot be read is an error like others, without a policy', async () => {
  const fails = (): never => {
    throw unreadableIn(new RetryLater(1), 'delay');
  };
  const { dlx, client, counts } = await started(workerOf(fails, Consume({ routingKey: 'work' })));
  await lastValueFrom(client.emit('work', 1), { defaultValue: 0 });
  await dlx.settled();
  await aTurn();
  expect(counts()).toMatchObject({ retried: 0, rejected: 1, acked: 0 });
  expect(ends).toEqual([]);
});

it('a request whose answer cannot be read is answered with an error', async () => {
  const worker = workerOf(() => of(1, unreadable()), MessagePattern('work'));
  const { client } = await started(worker);
  const reply = lastValueFrom(client.send('work', 1));
  await expect(reply).rejects.toMatchObject({ status: 'error' });
  await aTurn();
  expect(ends).toEqual([]);
});

describe.each<[string, () => unknown, () => unknown]>([
  ['a pattern', unreadable, () => 1],
  ['data', () => 'work', unreadable],
])('%s that cannot be read', (_, pattern, data) => {
  it.each([true, false])('fails its event: connected %s', async (isConnected) => {
    const client = new DlxClient({ backend: new EmbeddedBackend(createBroker()) });
    if (isConnected) await client.connect();
    await expect(lastValueFrom(client.emit(pattern(), data()))).rejects.toThrow(TypeError);
    await aTurn();
    expect(ends).toEqual([]);
  });
});

describe('a store for idempotency whose answer cannot be read', () => {
  const parts = { claim: () => 'claimed', done: () => undefined, release: () => undefined };

  it.each([
    ['claim', () => 1, { retried: 2, parked: 1, acked: 0, undecodable: 0 }],
    ['done', () => 1, { acked: 1 }],
    [
      'release',
      () => {
        throw new Error('down');
      },
      { retried: 2, parked: 1 },
    ],
  ])('%s: the message is settled', async (name, handle, expected) => {
    const store = { ...parts, [name]: unreadable } as unknown as IdempotencyStore;
    const retry = Retry({ attempts: 3, backoff: '1s' });
    const worker = workerOf(handle, Consume({ routingKey: 'work' }), retry, Idempotent({ key: () => 'k', store }));
    const { dlx, client, counts } = await started(worker);
    await lastValueFrom(client.emit('work', 1), { defaultValue: 0 });
    await dlx.advance('2s');
    await dlx.settled();
    expect(counts()).toMatchObject(expected);
    expect(ends).toEqual([]);
  });
});
