import { type INestApplication, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import type { Timeline } from '../../apps/sample-retry/src/timeline.js';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { freshUrl, isEmbedded, keepBrokers, missing } from './places.js';

/*
 * The samples read BROKER_URL when they are imported, so both use one broker. `vi.resetModules()` before a second `serve` would not do:
 * `serve` imports its listener when it starts, and a second copy of the modules does not know the errors of the first.
 */
describe.skipIf(isEmbedded)('the samples on a server, by BROKER_URL', () => {
  beforeAll(async () => {
    if (missing !== undefined) return;
    vi.stubEnv('BROKER_URL', await freshUrl());
    keepBrokers();
    vi.spyOn(console, 'log').mockReturnValue();
    vi.spyOn(console, 'table').mockReturnValue();
  });
  afterAll(() => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  });

  it('sample-retry tells the same story', { timeout: 30_000 }, async () => {
    const { AppModule } = await import('../../apps/sample-retry/src/app.module.js');
    const { tell } = await import('../../apps/sample-retry/src/story.js');
    const timeline = await import('../../apps/sample-retry/src/timeline.js');
    const lines: string[] = [];
    const stage = { now: () => 0, write: (line: string) => void lines.push(line) };
    const module = await Test.createTestingModule({ imports: [AppModule] })
      .overrideProvider(timeline.Timeline as Type<Timeline>)
      .useValue(new timeline.Timeline(stage))
      .compile();
    module.useLogger(false);
    const app = await module.init();
    await tell(app, async () => undefined);
    await app.close();
    const of = (payment: string) => lines.filter((line) => line.includes(payment)).map((line) => line.slice(28));
    expect(of('pay-1')).toEqual(['paid 30 EUR']);
    expect(of('pay-2')).toEqual([
      'BankTimeout: no answer; again in 500 ms',
      'BankTimeout: no answer; again in 1000 ms  [x-death: expired in wait.500, count 1]',
      'paid 20 USD  [x-death: expired in wait.1000, count 1]',
    ]);
    expect(of('pay-3').slice(3)).toEqual([
      'UnknownCurrency: JPY; that was the last attempt  [x-death: expired in wait.2000, count 1]',
      'parked after 4 failures, the last: UnknownCurrency',
      'redriven to where it came from',
      'paid 10 JPY',
    ]);
  });

  it('sample-orders ships, dead-letters and counts', { timeout: 30_000 }, async () => {
    const { AppModule } = await import('../../apps/sample-orders/src/app.module.js');
    const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
    const app: INestApplication = module.createNestApplication({ logger: false });
    await app.listen(0, '127.0.0.1');
    const url = await app.getUrl();
    const get = async (path: string): Promise<unknown> => (await fetch(`${url}/${path}`)).json();
    const place = async (order: object): Promise<number> => {
      const headers = { 'content-type': 'application/json' };
      return (await fetch(`${url}/orders`, { method: 'POST', headers, body: JSON.stringify(order) })).status;
    };
    try {
      expect(await place({ item: 'tea', quantity: 2 })).toBe(202);
      expect(await place({ item: 'tea', quantity: 11 })).toBe(202);
      for (let n = 0; n < 6; n++) expect(await place({ kind: 'flash', item: 'pot' })).toBe(202);
      await vi.waitFor(async () => {
        expect(await get('orders/shipped')).toEqual([{ id: 1, item: 'tea', quantity: 2 }]);
        expect(await get('dead-letters')).toMatchObject([
          { deaths: [{ queue: 'orders', reason: 'rejected', exchange: 'shop', count: 1 }] },
          { order: { id: 3, item: 'pot' }, deaths: [{ queue: 'flash-sale', reason: 'maxlen' }] },
        ]);
        expect(await get('queues')).toMatchObject({ 'flash-sale': 5, orders: 0, 'dead-orders': 0 });
      }, 5_000);
    } finally {
      await app.close();
    }
  });
});
