import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import type { DeadOrder } from '../../apps/sample-orders/src/dead-orders.js';
import type { Order } from '../../apps/sample-orders/src/order.js';
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
    const { runStory } = await import('../../apps/sample-retry/src/story.js');
    const timeline = await import('../../apps/sample-retry/src/timeline.js');
    const lines: string[] = [];
    const stage = { now: () => 0, write: (line: string) => void lines.push(line) };
    const module = await Test.createTestingModule({ imports: [AppModule] })
      .overrideProvider(timeline.Timeline)
      .useValue(new timeline.Timeline(stage))
      .compile();
    module.useLogger(false);
    const app = await module.init();
    await runStory(app, async () => undefined);
    await app.close();
    const of = (payment: string) => lines.filter((line) => line.includes(payment)).map((line) => line.slice(28));
    expect(of('pay-1')).toEqual(['paid 30 EUR']);
    expect(of('pay-2')).toEqual([
      'BankTimeout: no answer; again in 500 ms',
      'BankTimeout: no answer; again in 1000 ms  [wait.500 expired 1, payments rejected 1]',
      'paid 20 USD  [wait.1000 expired 1, payments rejected 2, wait.500 expired 1]',
    ]);
    expect(of('pay-3').slice(3)).toEqual([
      'UnknownCurrency: JPY; that was the last attempt  [wait.2000 expired 1, payments rejected 3, wait.1000 expired 1, wait.500 expired 1]',
      'parked after 4 failures, the last: UnknownCurrency',
      'redriven to where it came from',
      'paid 10 JPY',
    ]);
    expect(of('pay-4')).toEqual([
      'BankAway: closed for a moment; held until it is back',
      'paid 40 EUR  [wait.1000 expired 1]',
    ]);
  });

  it('sample-orders ships, dead-letters and redrives', { timeout: 30_000 }, async () => {
    const { AppModule } = await import('../../apps/sample-orders/src/app.module.js');
    const { prepare } = await import('../../apps/sample-orders/src/prepare.js');
    const { Warehouse } = await import('../../apps/sample-orders/src/warehouse.js');
    const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
    const app = module.createNestApplication<NestExpressApplication>({ logger: false });
    let go = (): void => undefined;
    const until = new Promise<void>((resolve) => (go = resolve));
    vi.spyOn(app.get(Warehouse), 'weigh').mockReturnValue(until);
    await prepare(app);
    await app.listen(0, '127.0.0.1');
    const url = await app.getUrl();
    const state = async (): Promise<{ dead: readonly DeadOrder[]; shipped: readonly Order[] }> =>
      (await fetch(`${url}/shop`)).json() as never;
    const deaths = async () =>
      Object.fromEntries((await state()).dead.map(({ order, deaths: [last] }) => [order.id, last]));
    const post = async (path: string, body: object): Promise<number> => {
      const headers = { 'content-type': 'application/json' };
      return (await fetch(`${url}/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).status;
    };
    try {
      expect(await post('orders', { tea: 'Assam', quantity: 11 })).toBe(202);
      await vi.waitFor(async () => expect(await state()).toMatchObject({ dead: [{ order: { id: 1 } }] }), 5_000);
      expect(await post('orders', { tea: 'Assam' })).toBe(202);
      await vi.waitFor(async () => expect(await state()).toMatchObject({ packing: { id: 2 } }), 5_000);
      // The packer holds the second order. Five more may wait.
      for (let n = 0; n < 6; n++) expect(await post('orders', { tea: 'Assam' })).toBe(202);
      await vi.waitFor(async () => {
        expect(await deaths()).toMatchObject({ 1: { queue: 'orders', reason: 'rejected' }, 3: { reason: 'maxlen' } });
      }, 5_000);
      expect(await post('stock', { quantity: 20 })).toBe(200);
      go();
      const [first] = (await state()).dead;
      expect(await post('redrives', { letters: [first?.letter] })).toBe(200);
      await vi.waitFor(async () => {
        expect((await state()).shipped).toContainEqual({ id: 1, tea: 'Assam', quantity: 11 });
      }, 5_000);
      expect(await deaths()).not.toHaveProperty('1');
    } finally {
      go();
      await app.close();
    }
  });
});
