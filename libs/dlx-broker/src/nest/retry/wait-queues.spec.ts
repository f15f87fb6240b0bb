import { describe, expect, it } from 'vitest';
import { silentOutbox } from '../../engine/broker/index.js';
import { parkingLotQueue } from './parking-lot.js';
import { waitQueueLease } from './wait-queue-names.js';

import type { Backend } from '../../backends/index.js';
import { harness, ManualClock } from '../../testing.js';
import { WaitQueues } from './wait-queues.js';

const arrange = () => {
  const { backend, clock, queue } = harness();
  return { waitQueues: new WaitQueues(backend), backend, clock, queue };
};

describe('the queues for those who wait', () => {
  it('are declared when first needed, once for all who need them at the same time', async () => {
    const { waitQueues, queue } = arrange();
    const first = waitQueues.wait(1_000);
    expect(first).toBeInstanceOf(Promise);
    expect(waitQueues.wait(1_000)).toBe(first);
    await first;
    expect(waitQueues.wait(1_000)).toBeUndefined();
    expect(queue('wait.1000').exists).toBe(true);
  });

  it('are declared again before their lease is over, so that none goes while it is in use (rule B12)', async () => {
    const { waitQueues, clock, queue } = arrange();
    await waitQueues.wait(1_000);
    for (let halves = 0; halves < 10; halves++) {
      clock.advance(waitQueueLease / 2);
      const renewed = waitQueues.wait(1_000);
      expect(renewed).toBeInstanceOf(Promise);
      await renewed;
      expect(queue('wait.1000').exists).toBe(true);
    }
  });

  it('disappear when no deployment needs them any more, and are there again when one does', async () => {
    const { waitQueues, clock, queue, backend } = arrange();
    await waitQueues.wait(1_000);
    clock.advance(waitQueueLease + 1_000);
    expect(queue('wait.1000').exists).toBe(false);
    expect(backend.broker.virtualHost('/').exchanges.has('wait.1000')).toBe(false);
    await waitQueues.wait(1_000);
    expect(queue('wait.1000').exists).toBe(true);
  });

  it('are for any delay up to 64: then it is rounded up by at most 28 %, and never down, until some have gone', async () => {
    const { waitQueues, clock } = arrange();
    for (let index = 0; index < 64; index++) await waitQueues.wait(1_000 + index);
    expect(waitQueues.atLeast(1_010)).toBe(1_010);
    expect(waitQueues.atLeast(5_000)).toBe(5_000);
    expect(waitQueues.atLeast(5_001)).toBe(6_300);
    expect(waitQueues.atLeast(999)).toBe(1_000);
    expect(waitQueues.atLeast(1)).toBe(1);
    expect(waitQueues.atLeast(315_360_000_000)).toBe(315_360_000_000);
    clock.advance(waitQueueLease + 999); // a lease begins when the last message is due
    expect(waitQueues.atLeast(5_001)).toBe(6_300);
    clock.advance(1);
    expect(waitQueues.atLeast(5_001)).toBe(5_001);
  });

  it('may be asked for again when they could not be declared', async () => {
    const { waitQueues, backend } = arrange();
    const channel = backend.broker.connect().openChannel(silentOutbox);
    channel.declareQueue('wait.7');
    await expect(waitQueues.wait(7)).rejects.toThrow(/wait\.7/);
    channel.deleteQueue('wait.7');
    await expect(waitQueues.wait(7)).resolves.toBeUndefined();
  });

  it('stay declared when an earlier declaration of the same delay fails afterwards', async () => {
    let fail!: (error: Error) => void;
    const declared = [new Promise<void>((_, reject) => (fail = reject)), Promise.resolve()];
    const backend = { clock: new ManualClock(0), declare: () => declared.shift() };
    const waitQueues = new WaitQueues(backend as unknown as Backend);
    const first = waitQueues.wait(7);
    waitQueues.forget(7);
    await waitQueues.wait(7);
    fail(new Error('the connection is closed'));
    await expect(first).rejects.toThrow('the connection is closed');
    expect(waitQueues.wait(7)).toBeUndefined();
  });

  it('of a cluster stay for ever, keep what cannot return, and round delays up (rules B12, M1)', async () => {
    const { backend, clock, queue } = arrange();
    const waitQueues = new WaitQueues(backend, 'quorum');
    expect([1, 1_000, 1_001, 86_400_001].map((delay) => waitQueues.atLeast(delay))).toEqual([
      1_000, 1_000, 5_000, 100_000_000,
    ]);
    expect([7_200_000, 86_400_001].map((delay) => waitQueues.above(delay))).toEqual([21_600_000, undefined]);
    await waitQueues.wait(5_000);
    const properties = { deliveryMode: 2 as const };
    backend.publish({ exchange: 'wait.keep.5000', routingKey: 'missing', properties, body: Buffer.from('kept') });
    clock.advance(30 * 24 * waitQueueLease);
    expect(waitQueues.wait(5_000)).toBeUndefined();
    await backend.declare({
      exchanges: [],
      queues: [parkingLotQueue('missing', 'a test', 'quorum')],
      bindings: [],
    });
    clock.advance(60_000);
    expect(backend.broker.virtualHost('/').queues.get('missing')?.length).toBe(1);
    expect(queue('wait.keep.5000').exists).toBe(true);
  });

  it('of a cluster are those that policies need, too', () => {
    const waitQueues = new WaitQueues(arrange().backend, 'quorum');
    waitQueues.declared([2_500]);
    expect([2_000, 2_501].map((delay) => waitQueues.atLeast(delay))).toEqual([2_500, 5_000]);
    expect([2_500, 900_000].map((delay) => waitQueues.wait(delay))).toEqual([undefined, undefined]);
  });

  it.each(['classic', 'quorum'] as const)('have a parking lot of their type: %s', async (type) => {
    const { backend } = arrange();
    await new WaitQueues(backend, type).lot('orders.parked');
    const declared = backend.broker.virtualHost('/').queues.get('orders.parked')!.declared;
    expect(declared).toMatchObject({ durable: true, autoDelete: false });
    expect(declared.arguments.get('x-queue-type')?.value).toBe(type);
  });

  it('say what it is that cannot be declared', async () => {
    const { waitQueues } = arrange();
    await expect(waitQueues.lot('amq.parked')).rejects.toThrow(
      /cannot declare queue 'amq\.parked' \(a parking lot\): /,
    );
  });
});
