import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { DlxTesting } from 'dlx-broker/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AppModule } from '../src/app.module.js';

let dlx: DlxTesting;
let app: INestApplication;
let url: string;
const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined);
const tables = vi.spyOn(console, 'table').mockImplementation(() => undefined);

beforeEach(async () => {
  dlx = new DlxTesting({ start: Date.UTC(2026, 0, 1) });
  const module = await dlx.override(Test.createTestingModule({ imports: [AppModule] })).compile();
  app = module.createNestApplication({ logger: false });
  await app.listen(0, '127.0.0.1');
  url = await app.getUrl();
  tables.mockClear();
  printed.mockClear();
});
afterEach(async () => {
  await app.close();
  await dlx.close();
});

const get = async (path: string): Promise<unknown> => (await fetch(`${url}/${path}`)).json();

async function place(order: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/orders`, { method: 'POST', headers, body: JSON.stringify(order) });
  await dlx.settled();
  return response;
}

describe('the shop', () => {
  it('ships what it has', async () => {
    const response = await place({ item: 'tea', quantity: 2 });
    expect(response.status).toBe(202);
    expect(await response.json()).toEqual({ id: 1, item: 'tea', quantity: 2, routingKey: 'order.standard' });
    expect(await get('orders/shipped')).toEqual([{ id: 1, item: 'tea', quantity: 2 }]);
    expect(await get('dead-letters')).toEqual([]);
  });

  it('dead-letters what the warehouse rejects', async () => {
    await place({ item: 'tea', quantity: 11 });
    const death = { queue: 'orders', reason: 'rejected', exchange: 'shop', routingKeys: ['order.standard'], count: 1 };
    expect(await get('dead-letters')).toEqual([
      {
        order: { id: 1, item: 'tea', quantity: 11 },
        routingKey: 'dead.rejected',
        error: '11 × tea, and 10 is all there is',
        deaths: [{ ...death, time: '2026-01-01T00:00:00.000Z' }],
      },
    ]);
    expect(printed.mock.calls).toEqual([['order 1 is dead (11 × tea, and 10 is all there is), its x-death:']]);
    expect(tables.mock.calls).toEqual([
      [[{ ...death, routingKeys: 'order.standard', time: '2026-01-01T00:00:00.000Z' }]],
    ]);
  });

  it('dead-letters a reservation after five seconds, and not before', async () => {
    await place({ kind: 'reserved', item: 'cup' });
    await dlx.advance(4_999);
    expect(await get('dead-letters')).toEqual([]);
    expect(await get('queues')).toMatchObject({ reservations: 1 });
    await dlx.advance(1);
    expect(await get('queues')).toMatchObject({ reservations: 0, 'dead-orders': 0 });
    expect(await get('dead-letters')).toMatchObject([
      {
        routingKey: 'dead.expired',
        deaths: [{ queue: 'reservations', reason: 'expired', time: '2026-01-01T00:00:05.000Z' }],
      },
    ]);
  });

  it('dead-letters the oldest of six orders in a flash sale for five, under the key it was placed with', async () => {
    for (let n = 1; n <= 6; n++) await place({ kind: 'flash', item: 'pot' });
    expect(await get('queues')).toMatchObject({ 'flash-sale': 5 });
    expect(await get('dead-letters')).toMatchObject([
      { order: { id: 1 }, routingKey: 'order.flash', deaths: [{ queue: 'flash-sale', reason: 'maxlen', count: 1 }] },
    ]);
  });

  it.each([[{}], [{ item: '' }], [{ item: 'tea', quantity: 0 }], [{ item: 'tea', kind: 'other' }]])(
    'refuses %j',
    async (order) => {
      expect((await place(order)).status).toBe(400);
    },
  );
});
