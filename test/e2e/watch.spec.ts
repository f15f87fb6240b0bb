import { Injectable } from '@nestjs/common';
import { Consume, type DlxAlert, DlxBroker, Retry, type WatchOptions } from 'dlx-broker';
import { DlxTesting } from 'dlx-broker/testing';
import type { Subscription } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type BackendDelivery } from '../../libs/dlx-broker/src/backend/index.js';
import { silentOutbox } from '../../libs/dlx-broker/src/broker/index.js';
import { toFieldTable } from '../../libs/dlx-broker/src/message/index.js';

const opened: DlxTesting[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((dlx) => dlx.close()));
});

@Injectable()
class Orders {
  @Consume('orders')
  @Retry({ attempts: 1 })
  ship({ error }: { error: string }): never {
    throw new RangeError(error);
  }
}

const seconds = (alerts: readonly DlxAlert[], start: number) =>
  alerts.map(({ kind, rule, value, at }) => `${kind} ${rule} ${value} at ${(at - start) / 1_000}`);

async function start() {
  const dlx = new DlxTesting({ logger: false });
  opened.push(dlx);
  await dlx.start({ providers: [Orders] });
  const broker = dlx.app.get(DlxBroker);
  const from = dlx.clock.now();
  const alerts: DlxAlert[] = [];
  let isComplete = false;
  const watch = (options: WatchOptions): Subscription =>
    broker.watch(options).subscribe({ next: (alert) => alerts.push(alert), complete: () => (isComplete = true) });
  const park = async (count: number, error = 'no stock'): Promise<void> => {
    for (let index = 0; index < count; index++) await dlx.publish('orders', { error });
    await dlx.settled();
  };
  /** Takes messages out of the parking lot. */
  const take = async (count: number): Promise<void> => {
    const taken: BackendDelivery[] = [];
    const consumption = broker.backend.consume('orders.parked', { prefetch: count }, (delivery) =>
      taken.push(delivery),
    );
    consumption.cancel();
    for (const delivery of taken) delivery.ack();
    await dlx.settled();
  };
  return { dlx, broker, watch, park, take, alerts, told: () => seconds(alerts, from), ended: () => isComplete };
}

describe('DlxBroker.watch', () => {
  it('raises once at the length, and clears a minute after the queue is at 80 %', async () => {
    const { dlx, watch, park, take, alerts, told } = await start();
    watch({ atLeast: 5 });
    await park(4);
    await dlx.advance('1m');
    expect(told()).toEqual([]);
    await park(1);
    await dlx.advance('1m');
    expect(told()).toEqual(['raised atLeast 5 at 70']);
    expect(alerts[0]).toMatchObject({ queue: 'orders.parked', limit: 5 });
    await take(1);
    await dlx.advance('2m');
    expect(told().slice(1)).toEqual(['cleared atLeast 4 at 190']);
  });

  it('raises once while the length goes up and down around the limit', async () => {
    const { dlx, watch, park, take, told } = await start();
    watch({ atLeast: 1 });
    for (let round = 0; round < 30; round++) {
      await park(1);
      await dlx.advance('20s');
      await take(1);
      await dlx.advance('20s');
    }
    expect(told()).toEqual(['raised atLeast 1 at 10']);
  });

  it('raises at the age of the oldest, which need not be the first', async () => {
    const { dlx, broker, watch, park, told } = await start();
    await park(1);
    await dlx.advance('30m');
    await park(1);
    // The first goes behind the second.
    const { backend } = broker;
    const taken: BackendDelivery[] = [];
    const consumption = backend.consume('orders.parked', { prefetch: 1 }, (delivery) => taken.push(delivery));
    consumption.cancel();
    const { own: properties, body } = taken[0]!.message;
    const done = vi.fn<(failure?: Error) => void>();
    taken[0]!.replaceBy({ exchange: '', routingKey: 'orders.parked', properties, body }, done);
    expect(done.mock.calls.map(([failure]) => failure)).toEqual([undefined]);
    watch({ olderThan: '1h' });
    await dlx.advance('29m');
    expect(told()).toEqual([]);
    await dlx.advance('1m');
    expect(told()).toEqual(['raised olderThan 3600000 at 3600']);
  });

  it('raises at the age of the oldest of very many', async () => {
    const { broker, watch, told } = await start();
    const { backend } = broker;
    const put = (since: number): void => {
      const headers = toFieldTable({ 'dlx-failing-since': since });
      const properties = { headers };
      backend.publish({ exchange: '', routingKey: 'orders.parked', properties, body: Buffer.from('{}') });
    };
    const now = backend.clock.now();
    for (let n = 0; n < 5_000; n++) put(now - n);
    put(now - 3_600_000);
    for (let n = 0; n < 5_000; n++) put(now - n);
    watch({ olderThan: '1h' });
    await vi.waitFor(() => expect(told()).toEqual(['raised olderThan 3600000 at 0']));
  });

  it('raises at the number of messages within a minute, and not by slow ones', async () => {
    const { dlx, watch, park, told } = await start();
    await park(50);
    watch({ perMinute: 10 });
    await dlx.advance('1m');
    for (let minute = 0; minute < 5; minute++) {
      await park(9);
      await dlx.advance('80s');
    }
    expect(told()).toEqual([]);
    await park(6);
    await dlx.advance('30s');
    await park(6);
    await dlx.advance('10m');
    expect(told()).toEqual(['raised perMinute 12 at 500', 'cleared perMinute 0 at 590']);
  });

  it('raises for a fingerprint that the queue did not have', async () => {
    const { dlx, watch, park, alerts } = await start();
    await park(1, 'no stock of 17');
    watch({ newFingerprint: true });
    await dlx.advance('1m');
    await park(3, 'no stock of 18');
    expect(alerts).toEqual([]);
    await park(3, 'no address');
    await park(1, 'no price');
    await dlx.advance('5m');
    expect(alerts.map(({ kind, value }) => [kind, value])).toEqual([
      ['raised', 1],
      ['cleared', 2],
    ]);
    expect(alerts[0]!.fingerprint).toMatch(/^1:[0-9a-f]{16}$/);
  });

  it('watches queues by pattern, also those declared later, and clears the alert of a deleted one', async () => {
    const { dlx, broker, watch, alerts } = await start();
    watch({ queues: /\.dead$/g, atLeast: 1, perMinute: 3 });
    await dlx.advance('1m');
    const { backend } = broker;
    const queue = { name: 'late.dead', durable: true, exclusive: false, autoDelete: false, arguments: new Map() };
    await backend.declare({ exchanges: [], queues: [queue], bindings: [] } as never);
    const publication = { exchange: '', routingKey: 'late.dead', properties: {}, body: Buffer.from('{}') };
    for (let count = 0; count < 3; count++) backend.publish(publication);
    await dlx.advance('10s');
    expect(alerts.map(({ rule, queue: name, value }) => [rule, name, value])).toEqual([
      ['atLeast', 'late.dead', 3],
      ['perMinute', 'late.dead', 3],
    ]);
    dlx.broker.connect({ vhost: '/' }).openChannel(silentOutbox).deleteQueue('late.dead');
    await dlx.advance('10m');
    expect(alerts.slice(2).map(({ kind, rule, value }) => [kind, rule, value])).toEqual([
      ['cleared', 'atLeast', 0],
      ['cleared', 'perMinute', 0],
    ]);
  });

  it('looks at nothing without a subscriber, or after it left', async () => {
    const { dlx, broker, watch, park } = await start();
    broker.watch({ atLeast: 1 });
    expect(dlx.clock.nextWakeUp()).toBeUndefined();
    await park(1);
    const idle = dlx.clock.nextWakeUp();
    const subscription = watch({ atLeast: 1, newFingerprint: true });
    await dlx.settled();
    expect(dlx.clock.nextWakeUp()).toBe(dlx.clock.now() + 10_000);
    subscription.unsubscribe();
    expect(dlx.clock.nextWakeUp()).toBe(idle);
  });

  it('completes with the application, also for later subscribers', async () => {
    const { dlx, broker, watch, ended } = await start();
    watch({ atLeast: 1 });
    await dlx.close();
    expect(ended()).toBe(true);
    let isComplete = false;
    broker.watch({ atLeast: 1 }).subscribe({ complete: () => (isComplete = true) });
    expect(isComplete).toBe(true);
  });

  it.each<[unknown, RegExp]>([
    [{}, /watch\(\): there is no rule; write \{ atLeast: 100 \}/],
    [undefined, /watch\(\): undefined is not an object of options/],
    [{ atleast: 3 }, /'atleast' is no option; did you mean 'atLeast'\?/],
    [{ atLeast: 0 }, /atLeast of watch\(\): 0 is not between 1 and/],
    [{ perMinute: 1.5 }, /perMinute of watch\(\): 1.5 is not a whole number/],
    [{ olderThan: '10' }, /olderThan of watch\(\): '10' has no unit/],
    [{ olderThan: 5 }, /olderThan of watch\(\): 5 is less than 1000 ms/],
    [{ newFingerprint: 1 }, /newFingerprint of watch\(\): 1 is neither true nor false/],
    [{ newFingerprint: false }, /there is no rule/],
    [{ atLeast: 1, every: '2m' }, /every of watch\(\): '2m' is more than 60000 ms/],
    [{ atLeast: 1, clearAfter: '2d' }, /clearAfter of watch\(\): '2d' is more than/],
    [{ atLeast: 1, queues: [] }, /queues of watch\(\): \[\] is an empty list/],
    [{ atLeast: 1, queues: [''] }, /queues of watch\(\): '' is empty/],
    [{ atLeast: 1, queues: 7 }, /queues of watch\(\): 7 is no name of a queue and no regular expression/],
    [{ atLeast: 1, queues: Array.from({ length: 101 }, () => '') }, /101 entries are more than 100/],
  ])('refuses case %# of wrong options', async (options, message) => {
    const { broker } = await start();
    expect(() => broker.watch(options as WatchOptions)).toThrow(message);
  });
});
