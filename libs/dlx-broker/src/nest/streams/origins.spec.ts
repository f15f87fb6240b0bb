import { describe, expect, it } from 'vitest';
import { deadQueue, lettersHarness as arrange } from '../../../../../test/harnesses/letters-harness.js';
import { attemptOf } from '../../platform/history/index.js';
import { park, retryIn, UnprovenOriginError, WaitQueues } from '../retry/index.js';

import type { BackendDelivery } from '../../backends/index.js';
import { array, type Field, int64, longstr, table } from '../../engine/message/index.js';
import type { HarnessOptions } from '../testing/harness.js';
import { Redrives } from './redrives.js';

const target = 'hospital';
const forged = (): Map<string, Field> =>
  new Map<string, Field>([
    ['dlx-first-exchange', longstr('')],
    ['dlx-first-routing-key', longstr(target)],
    ['dlx-queue', longstr(target)],
  ]);
const shop = { exchange: 'shop', routingKey: 'order.created' };

async function harness(options?: HarnessOptions) {
  const world = await arrange(options);
  const waitQueues = new WaitQueues(world.backend);
  /** What came to a queue, one at a time. */
  const taken = new Map<string, BackendDelivery[]>();
  const next = (queue: string): BackendDelivery => {
    const known = taken.get(queue);
    if (known !== undefined) return known.shift()!;
    const got: BackendDelivery[] = [];
    taken.set(queue, got);
    world.backend.consume(queue, { prefetch: 1 }, (delivery) => got.push(delivery));
    return got.shift()!;
  };
  /** The first letter of a queue. */
  const letterIn = async (queue: string) => (await world.take(world.letters, 1, 10, queue))[0]!;
  return { ...world, waitQueues, next, letterIn };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('headers that a client made up', () => {
  it('are no origin of a message that a handler retries and parks', async () => {
    const { publish, waitQueues, next, clock, letterIn, queue } = await harness();
    publish('forged', { headers: forged() });
    retryIn(next('orders'), 1_000, waitQueues, { queue: 'orders' });
    await turn();
    clock.advance(1_000);
    const back = next('orders');
    expect(back.message.origin).toEqual({ ...shop, queue: 'orders' });
    expect(back.message.properties.headers?.get('dlx-first-routing-key')).toEqual(longstr('order.created'));
    park(back, 'lot', waitQueues);
    await turn();
    const letter = await letterIn('lot');
    expect(letter).toMatchObject({ origin: shop, workQueue: 'orders', claimedOrigin: undefined });
    await letter.redrive();
    expect([next('orders').message.exchange, queue(target).payloads()]).toEqual(['shop', []]);
  });

  it('are no origin of a dead letter, whose record outlives further deaths', async () => {
    const { publish, reject, letterIn, queue } = await harness();
    publish('forged', { headers: forged() });
    reject('orders');
    reject(deadQueue);
    const letter = await letterIn('graveyard');
    expect(letter).toMatchObject({ origin: shop, workQueue: 'orders' });
    await letter.redrive(letter.workQueue);
    expect([queue('orders').payloads(), queue(target).payloads()]).toEqual([['forged'], []]);
  });

  it('move nothing that never died: its letter says what it needs', async () => {
    const { publish, letterIn, letters, backend, queue } = await harness();
    publish('forged', { headers: forged() }, { exchange: '', routingKey: deadQueue });
    const claimed = { exchange: '', routingKey: target };
    const task = new Redrives(backend, letters);
    const request = { from: deadQueue, perSecond: Infinity };
    expect(await task.dryRun(request)).toMatchObject({ left: 1, unproven: 1, destinations: {} });
    expect(await task.start(request).ended).toMatchObject({ redriven: 0, left: 1, unproven: 1 });
    const letter = await letterIn(deadQueue);
    expect(letter).toMatchObject({ origin: { exchange: '', routingKey: deadQueue }, claimedOrigin: claimed });
    expect(letter.workQueue).toBe(deadQueue);
    await expect(letter.redrive()).rejects.toBeInstanceOf(UnprovenOriginError);
    await expect(letter.redrive()).rejects.toThrow(/only its headers tell of that.*name a target$/);
    await letter.redrive('orders');
    expect([queue('orders').payloads(), queue(target).payloads()]).toEqual([['forged'], []]);
  });

  it.each(['retried', 'parked'] as const)('do not take it elsewhere when it is %s', async (how) => {
    const { publish, letterIn, clock, queue } = await harness();
    publish('forged', { headers: forged() }, { exchange: '', routingKey: deadQueue });
    const letter = await letterIn(deadQueue);
    await (how === 'retried' ? letter.retryIn(10) : letter.park());
    clock.advance(10);
    expect([queue(target).payloads(), queue(`${target}.parked`).exists]).toEqual([[], false]);
    const arrived = how === 'retried' ? queue(deadQueue).unacknowledged : queue(`${deadQueue}.parked`).ready;
    expect(arrived).toBe(1);
  });

  it('cannot make a message be tried for ever by a count below 0 on a RabbitMQ 3.10', async () => {
    const { publish, reject, letterIn, next } = await harness({ rabbitmq: '3.10' });
    const death = table(
      new Map<string, Field>([
        ['count', int64(-1_000_000n)],
        ['reason', longstr('rejected')],
        ['queue', longstr('orders')],
        ['exchange', longstr('shop')],
        ['routing-keys', array([longstr('order.created')])],
      ]),
    );
    publish('forged', { headers: new Map([['x-death', array([death])]]) });
    expect(attemptOf(next('orders').message, 'orders')).toBeGreaterThan(1_000_000);
    reject('orders');
    publish('another', { headers: new Map([['x-death', array([death])]]) });
    reject('orders');
    expect((await letterIn(deadQueue)).failures).toBeGreaterThan(1_000_000);
  });
});
