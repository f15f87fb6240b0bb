import { Injectable, type Type } from '@nestjs/common';
import { Ctx, Payload } from '@nestjs/microservices';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { classOf } from '../../../../../../test/harnesses/class-of.js';
import {
  Batch,
  Circuit,
  Consume,
  DlxBroker,
  DlxContext,
  Ordered,
  Prefetch,
  Queue,
  RateLimit,
  type RateLimitOptions,
  Retry,
  type TransportOptions,
  Unavailable,
} from '../../index.js';
import { DlxTesting } from '../../testing/dlx-testing.js';
import { ManualClock } from '../../testing/manual-clock.js';
import { RateGate } from './rate-gate.js';

const running: DlxTesting[] = [];
afterEach(async () => {
  for (const dlx of running.splice(0)) await dlx.close();
});

/** An application whose handler of `work` notes when each message began, in milliseconds after the start. */
async function arrange(
  rate: RateLimitOptions,
  above: readonly MethodDecorator[] = [],
  work: (context: DlxContext, id: number) => unknown = () => undefined,
) {
  const begun: [id: number, at: number, attempt: number][] = [];
  @Injectable()
  class Worker {
    handle(@Payload() data: { id: number } | readonly { id: number }[], @Ctx() context: DlxContext): unknown {
      for (const { id } of [data].flat()) begun.push([id, dlx.clock.now() - start, context.attempt]);
      return work(context, [data].flat()[0]!.id);
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(Worker.prototype, 'handle')!;
  for (const decorate of [Consume('work') as MethodDecorator, RateLimit(rate), ...above]) {
    decorate(Worker.prototype, 'handle', descriptor);
  }
  const dlx: DlxTesting = await DlxTesting.create({ providers: [Worker] }, { logger: false });
  running.push(dlx);
  const start = dlx.clock.now();
  const publish = async (from: number, to: number): Promise<void> => {
    for (let id = from; id <= to; id++) await dlx.publish('work', { id });
    await dlx.settled();
  };
  const handler = dlx.handler('Worker.handle');
  return { dlx, begun, publish, handler, times: () => begun.map(([id, at]) => [id, at]) };
}

describe('a rate limit', () => {
  it('lets so many messages begin in any time of its length, in order, as the first attempt', async () => {
    const { dlx, begun, publish } = await arrange({ limit: 2, per: '1s' });
    await publish(1, 1);
    await dlx.advance(600);
    await publish(2, 5);
    await dlx.advance('5s');
    // 1 and 2 begin at once; 3 a second after 1, and 4 a second after 2.
    expect(begun).toEqual([
      [1, 0, 1],
      [2, 600, 1],
      [3, 1_000, 1],
      [4, 1_600, 1],
      [5, 2_000, 1],
    ]);
    expect(dlx.app.get(DlxBroker).counts).toMatchObject({ acked: 5, retried: 0, held: 0 });
  });

  it('leaves messages in the queue: at most as many are in hand as begin within a minute', async () => {
    const { dlx, publish } = await arrange({ limit: 3, per: '1m' });
    await publish(1, 10);
    expect(dlx.queue('work')).toMatchObject({ unacknowledged: 3, ready: 4 });
  });

  it('holds no message in hand for longer than a minute: the consumer ends until the next turn', async () => {
    const { dlx, publish, times } = await arrange({ limit: 2, per: '1h' });
    await publish(1, 5);
    expect(dlx.queue('work')).toMatchObject({ unacknowledged: 0, ready: 3, consumers: 0 });
    await dlx.advance(3_599_999);
    expect(times()).toHaveLength(2);
    await dlx.advance(1);
    expect(times().slice(2)).toEqual([
      [3, 3_600_000],
      [4, 3_600_000],
    ]);
    await dlx.advance('1h');
    expect(times().at(-1)).toEqual([5, 7_200_000]);
  });

  it('counts attempts, too, and leaves their waits as they are', async () => {
    const { dlx, begun, publish } = await arrange(
      { limit: 1, per: '1s' },
      [Retry({ attempts: 2, backoff: '100ms' })],
      ({ attempt }) => {
        if (attempt === 1) throw new Error('once');
      },
    );
    await publish(1, 2);
    await dlx.advance('10s');
    expect(begun).toEqual([
      [1, 0, 1],
      [2, 1_000, 1],
      [1, 2_000, 2],
      [2, 3_000, 2],
    ]);
  });

  it('changes while messages wait, and counts what began before', async () => {
    const { dlx, handler, publish, times } = await arrange({ limit: 1, per: '10s' });
    await publish(1, 6);
    expect(handler.rateLimit).toEqual({ limit: 1, per: 10_000 });
    handler.setRateLimit({ limit: 3, per: '10s' });
    await dlx.settled();
    expect(times()).toEqual([1, 2, 3].map((id) => [id, 0]));
    handler.setRateLimit({ limit: 1, per: '1h' });
    await dlx.settled();
    expect(dlx.queue('work')).toMatchObject({ unacknowledged: 0, ready: 3 });
    await dlx.advance('59m');
    handler.setRateLimit({ limit: 2, per: '1s' });
    await dlx.advance('1s');
    expect(times().slice(3)).toEqual([
      [4, 3_540_000],
      [5, 3_540_000],
      [6, 3_541_000],
    ]);
  });

  it('holds no message in hand for longer than a minute, also if its turn becomes far while it waits', async () => {
    const { dlx, handler, publish, times } = await arrange({ limit: 1, per: '1s' }, [Prefetch(1)]);
    await publish(1, 3);
    handler.setRateLimit({ limit: 1, per: '1h' });
    await dlx.settled();
    expect(dlx.queue('work')).toMatchObject({ unacknowledged: 0, ready: 2, consumers: 0 });
    await dlx.advance('1h');
    expect(times()).toEqual([
      [1, 0],
      [2, 3_600_000],
    ]);
  });

  it('gives messages that wait back when the handler is paused, which so does not wait for them', async () => {
    const { dlx, handler, publish, times } = await arrange({ limit: 1, per: '10s' });
    await publish(1, 4);
    expect(dlx.queue('work').unacknowledged).toBe(3);
    await handler.pause();
    expect(dlx.queue('work')).toMatchObject({ unacknowledged: 0, ready: 3, consumers: 0 });
    await dlx.advance('1m');
    expect(times()).toHaveLength(1);
    handler.resume();
    await dlx.advance('20s');
    expect(times()).toEqual([
      [1, 0],
      [2, 60_000],
      [3, 70_000],
      [4, 80_000],
    ]);
  });

  it('stands beside a circuit: what waits while the circuit is open is not tried, and takes no turn', async () => {
    let isUp = true;
    const { dlx, publish, times } = await arrange(
      { limit: 2, per: '1s' },
      [Circuit({ pause: '10s' }), Retry({ attempts: 1 })],
      () => {
        if (!isUp) throw new Unavailable('the bank is away');
      },
    );
    isUp = false;
    await publish(1, 4);
    expect(dlx.handler('Worker.handle').status.state).toBe('open');
    await dlx.advance('5s');
    isUp = true;
    const tried = times().length;
    expect(tried).toBeLessThanOrEqual(2);
    await dlx.advance('1m');
    expect(dlx.app.get(DlxBroker).counts).toMatchObject({ acked: 4, parked: 0 });
    const at = times()
      .slice(tried)
      .map(([, time]) => time!);
    for (const [place, time] of at.entries())
      if (place > 1) expect(time - at[place - 2]!).toBeGreaterThanOrEqual(1_000);
  });

  it('fills batches as far as messages may begin', async () => {
    const { dlx, publish, times } = await arrange({ limit: 2, per: '1s' }, [Batch({ size: 10, within: '100ms' })]);
    await publish(1, 4);
    await dlx.advance('2s');
    expect(times()).toEqual([
      [1, 100],
      [2, 100],
      [3, 1_100],
      [4, 1_100],
    ]);
  });

  it('works without a limit of the prefetch', async () => {
    const { dlx, publish, times } = await arrange({ limit: 1, per: '1s' }, [Prefetch(0)]);
    await publish(1, 100);
    expect(dlx.queue('work').unacknowledged).toBe(60);
    await dlx.advance('99s');
    expect(times()).toEqual(Array.from({ length: 100 }, (_, place) => [place + 1, place * 1_000]));
  });

  it('leaves nothing behind when the application closes', async () => {
    const { dlx, publish, times } = await arrange({ limit: 1, per: '1h' });
    await publish(1, 3);
    await dlx.app.close();
    expect(times()).toHaveLength(1);
    expect(dlx.queue('work')).toMatchObject({ unacknowledged: 0, ready: 2 });
  });
});

it('begins nothing after its end, also when a handler at work raises it', () => {
  const clock = new ManualClock();
  const gate = new RateGate({ limit: 1, per: 1_000 }, clock, () => undefined);
  const run = vi.fn<() => void>();
  const message = { run, hold: () => undefined, giveBack: () => undefined };
  expect([gate.admits(message), gate.admits(message)]).toEqual([true, false]);
  gate.close();
  gate.limit = { limit: 5, per: 1_000 };
  clock.advance(5_000);
  expect(run).not.toHaveBeenCalled();
});

const good = RateLimit({ limit: 1, per: '1s' });
const worker = (...above: readonly MethodDecorator[]): Type => classOf('Orders', { work: [Consume('work'), ...above] });
const start = async (provider: Type, transport: TransportOptions = {}): Promise<void> => {
  const dlx = await DlxTesting.create({ providers: [provider] }, { logger: false, transport });
  await dlx.close();
};
const sharing = (...above: readonly MethodDecorator[]): Type =>
  classOf('Orders', {
    created: [Consume({ queue: 'work', exchange: 'shop', routingKey: 'created' }), good],
    paid: [Consume({ queue: 'work', exchange: 'shop', routingKey: 'paid' }), ...above],
  });

describe('@RateLimit refuses', () => {
  it.each<[string, Type, RegExp]>([
    [
      'no options',
      worker(RateLimit(undefined as never)),
      /@RateLimit on Orders\.work: undefined .*write \{ limit: 100/,
    ],
    ['a limit of 0', worker(RateLimit({ limit: 0, per: '1s' })), /limit of @RateLimit on Orders\.work: 0/],
    ['no time', worker(RateLimit({ limit: 1 } as never)), /per of @RateLimit on Orders\.work/],
    ['more than a day', worker(RateLimit({ limit: 1, per: '25h' })), /'25h' is not between 1 ms and a day/],
    ['another option', worker(RateLimit({ limits: 1, per: 1 } as never)), /did you mean 'limit'/],
    ['@Ordered', worker(Ordered({ key: String }), good), /@Ordered is beside it/],
    [
      'another limit of the same queue',
      sharing(RateLimit({ limit: 2, per: '1s' })),
      /Orders\.paid shares queue 'work'/,
    ],
    ['a handler without one in its queue', sharing(), /Orders\.paid shares queue 'work'/],
    [
      'a queue that goes with its consumer',
      worker(Queue({ autoDelete: true }), RateLimit({ limit: 1, per: '2m' })),
      /may be deleted while its consumer waits/,
    ],
  ])('%s', async (_, provider, error) => {
    await expect(start(provider)).rejects.toThrow(error);
  });

  it('to be changed by a bad value, or where there is none', async () => {
    const { handler } = await arrange({ limit: 1, per: '1s' });
    expect(() => handler.setRateLimit({ limit: -1, per: '1s' })).toThrow(
      /limit of setRateLimit of handler 'Worker\.handle': -1/,
    );
    const dlx = await DlxTesting.create({ providers: [worker()] }, { logger: false });
    running.push(dlx);
    expect(dlx.handler('Orders.work').rateLimit).toBeUndefined();
    expect(() => dlx.handler('Orders.work').setRateLimit({ limit: 1, per: 1 })).toThrow(
      /no limit to change; add @RateLimit/,
    );
  });

  it('to be changed to more than a minute where the queue goes with its consumer', async () => {
    const { dlx, handler, publish } = await arrange({ limit: 1, per: '1s' }, [Queue({ autoDelete: true })]);
    await publish(1, 3);
    expect(() => handler.setRateLimit({ limit: 1, per: '2m' })).toThrow(
      /'work' may be deleted while its consumer waits/,
    );
    expect(handler.rateLimit).toEqual({ limit: 1, per: 1_000 });
    expect(dlx.queue('work').unacknowledged).toBe(2);
  });

  it('nothing of handlers that share a queue and the limit', async () => {
    await start(sharing(good));
  });
});
