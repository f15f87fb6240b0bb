import { describe, expect, it } from 'vitest';
import { silentOutbox } from '../../engine/broker/index.js';
import { harness } from '../../nest/testing/harness.js';
import type { BackendDelivery } from '../backend.js';

const arrange = async () => {
  const { backend, broker, queue } = harness();
  const other = broker.connect().openChannel(silentOutbox);
  const declare = (): void => void other.declareQueue('work', { durable: true });
  const publish = (): void => backend.publish({ exchange: '', routingKey: 'work', properties: {}, body: Buffer.of(1) });
  declare();
  other.declareQueue('elsewhere', { durable: true });
  publish(); // opens the channel for publishing
  other.purgeQueue('work');
  const channels = (): number => {
    let count = -1; // the one of the test
    for (const { channels: open } of broker.virtualHost('/').connections) count += open.size;
    return count;
  };
  return { backend, queue, publish, declare, channels, remove: () => other.deleteQueue('work') };
};

describe('a consumer whose queue is deleted (rule Q6)', () => {
  it('leaves no channel behind', async () => {
    const { backend, declare, channels, remove } = await arrange();
    const before = channels();
    let cancelled = 0;
    for (let round = 1; round <= 20; round++) {
      backend.consume('work', { prefetch: 1, onCancel: () => cancelled++ }, () => undefined);
      expect(channels()).toBe(before + 1);
      remove();
      declare();
    }
    expect([cancelled, channels()]).toEqual([20, before]);
    await backend.close();
  });

  it.each<[string, (delivery: BackendDelivery) => void]>([
    ['acked', (delivery) => delivery.ack()],
    ['rejected', (delivery) => delivery.reject()],
    ['requeued', (delivery) => delivery.requeue()],
    [
      'replaced',
      (delivery) =>
        delivery.replaceBy({ exchange: '', routingKey: 'elsewhere', properties: {}, body: delivery.message.body }),
    ],
  ])('keeps it until what is in hand is settled, which can still be %s', async (how, settle) => {
    const { backend, queue, publish, channels, remove } = await arrange();
    const before = channels();
    const taken: BackendDelivery[] = [];
    backend.consume('work', { prefetch: 2 }, (delivery) => taken.push(delivery));
    publish();
    publish();
    remove();
    expect([taken.length, taken[0]!.settled, channels()]).toEqual([2, false, before + 1]);
    settle(taken[0]!);
    expect([taken[1]!.settled, channels()]).toEqual([false, before + 1]);
    settle(taken[1]!);
    expect(channels()).toBe(before);
    expect(queue('elsewhere').ready).toBe(how === 'replaced' ? 2 : 0);
    await backend.close();
  });
});
