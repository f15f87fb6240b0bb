import { Injectable, Logger } from '@nestjs/common';
import { Consume, type DlxAlert, DlxBroker, DlxClient, Retry, type WatchOptions } from 'dlx-broker';
import { config, lastValueFrom } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { contextApp } from './apps.js';
import { isRabbitMq, missing, until } from './places.js';

afterEach(() => {
  config.onUnhandledError = null;
  Logger.overrideLogger(false);
});

@Injectable()
class Orders {
  @Consume({ queue: 'orders', routingKey: 'order' })
  @Retry({ attempts: 1 })
  ship({ error }: { error: string }): never {
    throw new RangeError(error);
  }
}

/** An application whose messages are parked. */
async function start() {
  const lines: string[] = [];
  const write = (text: string): void => void lines.push(text);
  const app = await contextApp({ providers: [Orders] });
  Logger.overrideLogger({ log: () => undefined, warn: write, error: () => undefined });
  const broker = app.get(DlxBroker);
  const parked = () => broker.backend.status('orders.parked').then((status) => status?.messages);
  const park = async (count: number, error = 'no stock'): Promise<void> => {
    const before = broker.counts.parked;
    for (let index = 0; index < count; index++) {
      await lastValueFrom(app.get(DlxClient).emit('order', { error }), { defaultValue: undefined });
    }
    await until(() => expect(broker.counts.parked).toBe(before + count));
  };
  const watch = (options: WatchOptions) => {
    const alerts: DlxAlert[] = [];
    const about = { every: '1s', clearAfter: 0, ...options } as const;
    const subscription = broker.watch(about).subscribe((alert) => void alerts.push(alert));
    return { alerts, subscription, told: () => alerts.map(({ kind, rule, value }) => `${kind} ${rule} ${value}`) };
  };
  /** Takes all messages out of the parking lot. */
  const empty = (): void => {
    const consumption = broker.backend.consume('orders.parked', { prefetch: 10 }, (delivery) => {
      delivery.ack();
    });
    void until(async () => expect(await parked()).toBe(0)).then(() => consumption.cancel());
  };
  return { app, broker, park, watch, empty, lines };
}

describe.skipIf(missing !== undefined)('DlxBroker.watch', () => {
  it('raises an alert for each rule that the server can measure, and clears them', async () => {
    const { app, park, watch, empty, lines } = await start();
    await park(2);
    const { told } = watch({ atLeast: 2 });
    const byPattern = watch({ queues: /\.parked$/, atLeast: 1 });
    const aged = watch({ olderThan: '1s' });
    const rate = watch({ perMinute: 2 });
    const news = watch({ newFingerprint: true });
    await until(() => expect([told(), byPattern.told()]).toEqual([['raised atLeast 2'], ['raised atLeast 2']]));
    if (!isRabbitMq)
      await until(() => expect(aged.told()).toEqual([expect.stringMatching(/^raised olderThan \d{4}$/)]));
    await park(2, 'no address');
    expect(news.told()[0]).toBe('raised newFingerprint 1');
    await until(() => expect(rate.told()).toEqual(['raised perMinute 2']));
    empty();
    await until(() => {
      expect(told()[1]).toMatch(/^cleared atLeast [01]$/);
      expect(byPattern.told()[1]).toBe('cleared atLeast 0');
      expect(news.told()[1]).toBe('cleared newFingerprint 1');
      if (!isRabbitMq) expect(aged.told()[1]).toMatch(/^cleared olderThan/);
    });
    const unknown = lines.filter((line) => line.includes('watch()'));
    if (isRabbitMq) expect(unknown).toEqual([expect.stringMatching(/^watch\(\): olderThan of queue 'orders.parked'/)]);
    else expect(unknown).toEqual([]);
    await app.close();
  });

  it('goes on after a subscriber threw, ends for one that left, and completes with the application', async () => {
    const { app, broker, park, empty } = await start();
    const thrown: unknown[] = [];
    config.onUnhandledError = (error) => void thrown.push((error as Error).message);
    const heard: string[] = [];
    let isComplete = false;
    const options = { queues: ['orders.parked', 'none'], atLeast: 1, every: '1s', clearAfter: 0 } as const;
    broker.watch(options).subscribe({
      next: ({ kind }) => {
        heard.push(kind);
        throw new Error(`no pager for ${kind}`);
      },
      complete: () => (isComplete = true),
    });
    const left: string[] = [];
    const leaving = broker.watch(options).subscribe(({ kind }) => {
      left.push(kind);
      leaving.unsubscribe();
    });
    await park(1);
    await until(() => expect([heard, left]).toEqual([['raised'], ['raised']]));
    empty();
    await until(() => expect(heard).toEqual(['raised', 'cleared']));
    await until(() => expect(thrown).toEqual(['no pager for raised', 'no pager for cleared']));
    expect(left).toEqual(['raised']);
    await app.close();
    expect(isComplete).toBe(true);
  });
});
