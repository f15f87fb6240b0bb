import { BadRequestException, Injectable, type Type } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import {
  Consume,
  DeadLetter,
  DlxBroker,
  DlxContext,
  Drop,
  HandlerTimeoutError,
  Park,
  Redrives,
  Reject,
  Retry,
  RetryLater,
  type OutcomeEvent,
  type RetryPolicy,
} from 'dlx-broker';
import { DlxTesting, type TransportOptions } from 'dlx-broker/testing';
import { afterEach, describe, expect, it } from 'vitest';

const opened: DlxTesting[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((dlx) => dlx.close()));
});

async function start(provider: Type, options: TransportOptions = {}): Promise<DlxTesting> {
  const dlx = new DlxTesting({ logger: false });
  opened.push(dlx);
  await dlx.start({ providers: [provider] }, options);
  return dlx;
}

/** An application with one handler of the queue `work`, which does what the test says. */
async function app(policy: RetryPolicy | false | undefined, work: Work, options: TransportOptions = {}) {
  @Injectable()
  class Worker {
    @Consume('work')
    @DeadLetter({ exchange: '', routingKey: 'dead' })
    @(policy === undefined ? nothing : Retry(policy))
    handle(@Payload() data: unknown, @Ctx() context: DlxContext): unknown {
      return work(context, data);
    }
  }
  const queues = [{ name: 'dead', durable: true, exclusive: false, autoDelete: false, arguments: new Map() }];
  const dlx = await start(Worker, { topology: { queues }, ...options });
  const events: OutcomeEvent[] = [];
  dlx.app.get(DlxBroker).events.subscribe((event) => events.push(event));
  const kinds = (): string[] => events.filter(({ queue }) => queue === 'work').map(({ kind }) => kind);
  const advance = (duration: string | number) => dlx.advance(duration, { except: ['work'] });
  await dlx.publish('work', { id: 1 });
  return { dlx, events, kinds, advance, dead: () => dlx.queue('dead').ready };
}

type Work = (context: DlxContext, data: unknown) => unknown;
const nothing: MethodDecorator = () => undefined;

describe('a handler says what shall become of its message', () => {
  const policy: RetryPolicy = { attempts: 5, backoff: '1s' };

  it('RetryLater: at its own time, and counted', async () => {
    const attempts: number[] = [];
    const { dlx, kinds, advance } = await app(policy, ({ attempt }) => {
      attempts.push(attempt);
      if (attempt < 3) throw new RetryLater('10m');
    });
    await advance('10m');
    await advance('9m');
    expect(attempts).toEqual([1, 2]);
    await advance('1m');
    expect(attempts).toEqual([1, 2, 3]);
    expect(kinds()).toEqual(['delivered', 'retried', 'delivered', 'retried', 'delivered', 'acked']);
    expect(dlx.queue('work').ready).toBe(0);
  });

  it('RetryLater: no more often than the policy allows', async () => {
    const { dlx, advance } = await app({ attempts: 2 }, () => {
      throw new RetryLater(1_000);
    });
    await advance('5s');
    expect(dlx.queue('work.parked').payloads()).toEqual([{ id: 1 }]);
  });

  it('RetryLater: also without a policy, as often as it likes', async () => {
    const attempts: number[] = [];
    const { advance } = await app(undefined, ({ attempt, attempts: most }) => {
      attempts.push(attempt);
      expect(most).toBeUndefined();
      if (attempt < 8) throw new RetryLater(0);
    });
    await advance(0);
    expect(attempts).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it.each([policy, undefined])('Park: to the parking lot at once, with the reason', async (given) => {
    const { dlx, kinds, advance } = await app(given, () => {
      throw new Park('no such customer');
    });
    await advance(0);
    const [parked] = dlx.queue('work.parked').messages();
    expect(parked?.headers['dlx-error-class']).toBe('Park');
    expect(parked?.headers['dlx-error-message']).toBe('no such customer');
    expect(kinds()).toEqual(['delivered', 'parked']);
  });

  it('Reject: to the dead-letter exchange of its queue, whatever the policy says', async () => {
    const { kinds, advance, dead } = await app(policy, () => {
      throw new Reject('not ours');
    });
    await advance(0);
    expect(dead()).toBe(1);
    expect(kinds()).toEqual(['delivered', 'rejected']);
  });

  it('Drop: acknowledged and gone', async () => {
    const { dlx, kinds, advance, dead } = await app(policy, () => {
      throw new Drop();
    });
    await advance('1h');
    expect([dead(), dlx.queue('work').ready, dlx.queue('work.parked').ready]).toEqual([0, 0, 0]);
    expect(kinds()).toEqual(['delivered', 'dropped']);
    expect(dlx.app.get(DlxBroker).counts).toMatchObject({ dropped: 1, acked: 0, rejected: 0, retried: 0, parked: 0 });
  });
});

describe('which errors are worth another attempt', () => {
  class Busy extends Error {}

  it.each<[string, Partial<RetryPolicy>, unknown, string]>([
    ['any but a bad request', {}, new Busy(), 'retried'],
    ['never a bad request', {}, new BadRequestException(), 'parked'],
    ['never what a validation library found', {}, Object.assign(new Error(), { name: 'ZodError' }), 'parked'],
    ['a bad request if that is said', { neverRetry: [] }, new BadRequestException(), 'retried'],
    ['only those in retryOn', { retryOn: Busy }, new Error(), 'parked'],
    ['those in retryOn', { retryOn: [Busy] }, new Busy(), 'retried'],
    ['not those of which a function says so', { neverRetry: (error) => error instanceof Busy }, new Busy(), 'parked'],
  ])('%s', async (_, more, error, outcome) => {
    const { kinds, advance } = await app({ attempts: 2, backoff: '1h', ...more }, () => {
      throw error;
    });
    await advance(0);
    expect(kinds()).toEqual(['delivered', outcome]);
  });
});

it('a success asks its policy nothing', async () => {
  const asked: string[] = [];
  const ask = (what: string) => () => {
    asked.push(what);
    return what === 'retryOn';
  };
  const policy: RetryPolicy = {
    attempts: 3,
    backoff: () => asked.push('backoff'),
    retryOn: ask('retryOn'),
    neverRetry: ask('neverRetry'),
  };
  const { advance, kinds } = await app(policy, () => 'done');
  await advance(0);
  expect([kinds(), asked]).toEqual([['delivered', 'acked'], []]);
});

describe('time', () => {
  it('ends an attempt that takes longer than its policy allows, and tells the handler', async () => {
    const signals: AbortSignal[] = [];
    const { dlx, events, kinds, advance } = await app({ attempts: 2, backoff: '1s', timeout: '30s' }, (context) => {
      signals.push(context.signal);
      return new Promise(() => undefined);
    });
    await advance('29s');
    expect(kinds()).toEqual(['delivered']);
    await advance('1s');
    expect(kinds()).toEqual(['delivered', 'retried']);
    expect(signals[0]?.reason).toBeInstanceOf(HandlerTimeoutError);
    expect(events.at(-1)?.error).toBeInstanceOf(HandlerTimeoutError);
    await advance('1m');
    expect(dlx.queue('work.parked').payloads()).toEqual([{ id: 1 }]);
  });

  it('is over for a handler that succeeds in the end, but too late: what it did does not count twice', async () => {
    let finish = (): void => undefined;
    const { kinds, advance } = await app({ attempts: 2, backoff: '1s', timeout: '5s' }, ({ attempt }) => {
      return attempt === 1 ? new Promise<void>((resolve) => (finish = resolve)) : undefined;
    });
    await advance('5s');
    finish();
    await advance('1s');
    expect(kinds()).toEqual(['delivered', 'retried', 'delivered', 'acked']);
  });

  it('does not run on after a success', async () => {
    const signals: AbortSignal[] = [];
    const { kinds, advance } = await app({ attempts: 2, backoff: '1s', timeout: '5s' }, ({ signal }) => {
      signals.push(signal);
    });
    await advance('1m');
    expect([kinds(), signals.map(({ aborted }) => aborted)]).toEqual([['delivered', 'acked'], [false]]);
  });

  it('runs out for a message as a whole', async () => {
    const since: (Date | undefined)[] = [];
    const { dlx, advance } = await app({ attempts: 100, backoff: '10s', deadline: '25s' }, (context) => {
      since.push(context.failingSince);
      throw new Error('down');
    });
    const begin = new Date(dlx.clock.now());
    await advance('1h');
    expect(since).toEqual([undefined, begin, begin]);
    expect(dlx.queue('work.parked').messages()).toHaveLength(1);
  });
});

describe('a policy for many', () => {
  const failing: Work = () => {
    throw new Error('down');
  };

  it('of the module holds for handlers that have none', async () => {
    const { kinds, advance } = await app(undefined, failing, { retry: { attempts: 2, backoff: '1h' } });
    await advance(0);
    expect(kinds()).toEqual(['delivered', 'retried']);
  });

  it('of a queue goes before it, and a handler may refuse both', async () => {
    const options: TransportOptions = { retry: { attempts: 2, backoff: '1h' }, queueRetry: { work: { attempts: 1 } } };
    const parked = await app(undefined, failing, options);
    await parked.advance(0);
    expect(parked.kinds()).toEqual(['delivered', 'parked']);
    const none = await app(false, failing, options);
    await none.advance(0);
    expect(none.kinds()).toEqual(['delivered', 'rejected']);
  });

  it('draws its jitter from what the test lends', async () => {
    const backoff = { type: 'fixed', delay: '1s', jitter: 'full' } as const;
    const { events, advance } = await app({ attempts: 3, backoff }, failing, { random: () => 0.5 });
    await advance('1h');
    expect(events.flatMap(({ delay }) => delay ?? [])).toEqual([500, 500]);
  });
});

describe('what a handler knows of its attempts', () => {
  it('is how many there are, which this is, and what went wrong before', async () => {
    const known: unknown[] = [];
    const { advance } = await app({ attempts: 2, backoff: '1s' }, (context) => {
      const { attempt, attempts, isLastAttempt, lastError } = context;
      known.push({ attempt, attempts, isLastAttempt, lastError });
      throw new TypeError('down');
    });
    await advance('1s');
    expect(known).toEqual([
      { attempt: 1, attempts: 2, isLastAttempt: false, lastError: undefined },
      { attempt: 2, attempts: 2, isLastAttempt: true, lastError: { name: 'TypeError', message: 'down' } },
    ]);
  });
});

describe('the events of a broker', () => {
  it('tell which message, which handler and which attempt, and where it went', async () => {
    const { dlx, events, advance } = await app({ attempts: 2, backoff: '1s' }, (_, data) => {
      if ((data as { id: number }).id === 2) throw new Error('down');
    });
    await advance(0);
    await dlx.publish({ exchange: '', routingKey: 'work' }, { id: 2 }, { messageId: 'two' });
    await advance('1s');
    await dlx.app.get(Redrives).start({ from: 'work.parked', to: 'dead' }).ended;
    const told = events
      .filter(({ messageId }) => messageId === 'two')
      .map(({ kind, queue, handler, attempt, delay, to }) => ({ kind, queue, handler, attempt, delay, to }));
    const handler = 'Worker.handle';
    const of = { queue: 'work', handler, delay: undefined, to: undefined };
    expect(told.filter(({ kind }) => kind !== 'expired')).toEqual([
      { ...of, kind: 'delivered', attempt: 1 },
      { ...of, kind: 'retried', attempt: 1, delay: 1_000 },
      { ...of, kind: 'delivered', attempt: 2 },
      { ...of, kind: 'parked', attempt: 2, to: 'work.parked' },
      { ...of, kind: 'redriven', queue: 'work.parked', handler: undefined, attempt: 2, to: '/dead' },
    ]);
    const acked = events.filter(({ kind }) => kind === 'acked');
    expect(acked).toMatchObject([{ queue: 'work', handler, attempt: 1, at: expect.any(Number) as number }]);
  });

  it('tell of what expires, also where no handler is, and of dead letters that are redriven', async () => {
    @Injectable()
    class Worker {
      @Consume('work')
      @Retry({ attempts: 2, backoff: '5s' })
      handle(): never {
        throw new Error('down');
      }
    }
    const dlx = await start(Worker);
    const events: string[] = [];
    const subscription = dlx.app.get(DlxBroker).events.subscribe(({ kind, queue }) => events.push(`${kind} ${queue}`));
    await dlx.publish('work', {});
    await dlx.advance('1m');
    expect(events).toEqual(['delivered work', 'retried work', 'expired wait.5000', 'delivered work', 'parked work']);
    const task = dlx.app.get(Redrives).start({ from: 'work.parked' });
    expect((await task.ended).redriven).toBe(1);
    await dlx.settled();
    subscription.unsubscribe();
    expect(events).toContain('redriven work.parked');
    await dlx.close(); // its timeline watches, too
    expect(dlx.broker.virtualHost('/').deathListeners.size).toBe(0);
  });
});
