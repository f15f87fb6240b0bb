import type { NestExpressApplication } from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import { DlxTesting } from 'dlx-broker/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { AppModule } from '../src/app.module.js';
import { prepare, withoutParsers } from '../src/prepare.js';
import { Warehouse } from '../src/warehouse.js';

let dlx: DlxTesting;
let app: NestExpressApplication;
let url: string;

beforeEach(async () => {
  dlx = new DlxTesting({ start: Date.UTC(2026, 0, 1) });
  const { clock } = dlx;
  const module = await dlx.override(Test.createTestingModule({ imports: [AppModule] })).compile();
  app = module.createNestApplication<NestExpressApplication>({ ...withoutParsers, logger: false });
  // Two seconds of the virtual time, and not of the machine.
  vi.spyOn(app.get(Warehouse), 'weigh').mockImplementation(
    () => new Promise<void>((resolve) => clock.wakeAt(clock.now() + 2_000, () => resolve())),
  );
  await prepare(app);
  await app.listen(0, '127.0.0.1');
  url = await app.getUrl();
});
afterEach(async () => {
  await advance('1m');
  await app.close();
  await dlx.close();
});

/** The packer holds one order, and the stream of dead orders holds the others. */
const except = ['orders', 'orders.dead'];
const advance = (time: string): Promise<void> => dlx.advance(time, { except });
interface Shown {
  readonly dead: readonly { readonly letter: number; readonly deaths: readonly { readonly time: string }[] }[];
}
const state = async (): Promise<Shown> => (await fetch(`${url}/shop`)).json() as Promise<Shown>;

function post(path: string, body: unknown): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(`${url}/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}
async function place(quantity: number, count = 1): Promise<void> {
  for (let left = count; left > 0; left--) expect((await post('orders', { tea: 'Assam', quantity })).status).toBe(202);
  await advance('0s');
}
const death = (reason: string) => [{ queue: 'orders', reason, exchange: 'dlx.events', routingKeys: ['order.placed'] }];

describe('the shop', () => {
  it.each(['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x'])(
    'takes no form that a page of another site may send: %s',
    async (type) => {
      const body = type.startsWith('text') ? '{"tea":"Assam"}' : 'tea=Assam';
      const answer = await fetch(`${url}/orders`, { method: 'POST', headers: { 'content-type': type }, body });
      expect([answer.status, await answer.json()]).toMatchObject([400, { message: 'the body must be JSON' }]);
      expect((await fetch(`${url}/redrives`, { method: 'POST' })).status).toBe(400);
      expect(await state()).toMatchObject({ stock: 10, waiting: 0, shipped: [] });
    },
  );

  it('packs one order after the other, two seconds each', async () => {
    await place(2, 3);
    expect(await state()).toMatchObject({ packing: { id: 1 }, waiting: 2, shipped: [], stock: 8 });
    await advance('2s');
    expect(await state()).toMatchObject({ packing: { id: 2 }, waiting: 1, shipped: [{ id: 1 }] });
    await advance('4s');
    expect(await state()).toMatchObject({ waiting: 0, shipped: [{ id: 1 }, { id: 2 }, { id: 3 }], stock: 4, dead: [] });
  });

  it('dead-letters what it does not have, and ships it after a restock and a redrive', async () => {
    await place(11);
    const [letter] = (await state()).dead;
    expect(letter).toMatchObject({
      order: { id: 1 },
      error: '11 × Assam, and 10 are left',
      deaths: death('rejected'),
    });
    expect(letter?.deaths[0]?.time).toBe('2026-01-01T00:00:00.000Z');
    expect(await (await post('stock', { quantity: 5 })).json()).toEqual({ stock: 15 });
    expect(await (await post('redrives', { letters: [letter?.letter, 99] })).json()).toEqual({ redriven: 1 });
    await advance('2s');
    expect(await state()).toMatchObject({ shipped: [{ id: 1, tea: 'Assam', quantity: 11 }], stock: 4, dead: [] });
  });

  it('dead-letters the oldest waiting orders of nine, and after six seconds those that still wait', async () => {
    await place(1, 9);
    const pushedOut = [2, 3, 4].map((id) => ({ order: { id }, deaths: death('maxlen') }));
    expect(await state()).toMatchObject({ packing: { id: 1 }, waiting: 5, dead: pushedOut });
    await advance('6s');
    const expired = [7, 8, 9].map((id) => ({ order: { id }, deaths: death('expired') }));
    expect(await state()).toMatchObject({ waiting: 0, dead: [...pushedOut, ...expired] });
  });

  it.each([
    ['orders', {}],
    ['orders', { tea: '' }],
    ['orders', { tea: 'Assam', quantity: 0 }],
    ['redrives', {}],
    ['redrives', { letters: ['1'] }],
    ['stock', { quantity: -1 }],
  ])('refuses %s of %j', async (path, body) => {
    expect((await post(path, body)).status).toBe(400);
  });

  it('has a page that runs no script but its own', async () => {
    const page = await fetch(url);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
    const names = [...(await page.text()).matchAll(/(?:href|src)="(page\.\w+)"/g)].map(([, name]) => name);
    expect(names).toEqual(['page.css', 'page.js']);
    for (const name of names) expect((await fetch(`${url}/${name}`)).status).toBe(200);
  });
});
