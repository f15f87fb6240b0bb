import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { array, type Field, int32, int64, longstr, table } from '../../libs/dlx-broker/src/engine/message/index.js';
import { missing } from './chromium.js';
import { consoleHarness } from './harness.js';
import { Shop } from './letters.js';

const house = consoleHarness();
let shop: Shop;
const list = '#/dead-letters?vhost=%2F&queue=orders.dead&view=messages';

const timeout = (ms: number) => ({ class: 'TimeoutError', message: `no answer after ${ms} ms` });

/** The dead letters of each case: three of one kind of error, and one of another. */
function fill(): void {
  shop.purge('orders.dead', 'orders', 'parked');
  shop.die(
    { body: '{"order":1}', error: timeout(250) },
    { body: '{"order":2}', error: timeout(31_250) },
    { body: '{"order":3}', error: timeout(99) },
    { body: '{"order":4}', error: { class: 'TypeError', message: 'card is undefined' } },
  );
}

beforeAll(() => {
  if (missing !== undefined) return;
  shop = new Shop(house.served.broker);
  shop.queue('parked');
});

describe('dead letters in the console', () => {
  const button = (name: string | RegExp) => house.page.getByRole('button', { name });
  const dialog = () => house.page.getByRole('dialog');

  it('are grouped by queue, reason and kind of error', async () => {
    fill();
    await house.open('#/dead-letters');
    const rows = house.page.getByRole('region', { name: 'Groups of dead letters' }).locator('tbody tr');
    const texts = await rows.allTextContents();
    expect(texts).toHaveLength(2);
    expect(texts[0]).toMatch(/TimeoutError.*no answer after # ms.*rejected.*orders.*orders\.dead.*3/);
    expect(texts[1]).toMatch(/TypeError.*card is undefined.*1/);
    await rows.first().getByRole('link').first().click();
    await house.page.getByRole('region', { name: 'Messages' }).waitFor();
    expect(await house.page.getByRole('region', { name: 'Messages' }).locator('tbody tr').count()).toBe(3);
    expect(decodeURIComponent(house.page.url())).toContain('error=TimeoutError');
  });

  it('are grouped by fingerprint in one queue, and each group leads to its letters', async () => {
    fill();
    await house.open('#/dead-letters?queue=orders.dead');
    await house.page.getByLabel('Group by').selectOption('fingerprint');
    const rows = house.page.getByRole('region', { name: 'Groups of dead letters' }).locator('tbody tr');
    await rows
      .first()
      .getByText(/1:[0-9a-f]{16}/)
      .waitFor();
    expect(decodeURIComponent(house.page.url())).toContain('by=fingerprint');
    const texts = await rows.allTextContents();
    expect(texts).toHaveLength(2);
    expect(texts[0]).toMatch(/TimeoutError.*no answer after # ms.*1:[0-9a-f]{16}.*3/);
    expect(texts[1]).toMatch(/TypeError.*card is undefined.*1:[0-9a-f]{16}.*1/);
    await rows.first().getByRole('link').first().click();
    const list = house.page.getByRole('region', { name: 'Messages' });
    await list.waitFor();
    expect(await list.locator('tbody tr').count()).toBe(3);
    expect(decodeURIComponent(house.page.url())).toContain('fingerprint=1:');
    await list.getByRole('link').first().click();
    await house.page.getByText('Messages of the same fingerprint').getByRole('link').click();
    await list.waitFor();
    expect(await list.locator('tbody tr').count()).toBe(3);
    // The filter of the group is that of an action, too.
    await house.page.locator('.page-head').getByRole('button', { name: 'Delete…' }).click();
    await dialog().getByRole('button', { name: 'Delete 3 messages' }).click();
    await house.page.getByText('Deleted 3 messages.').waitFor();
    expect(shop.bodies('orders.dead')).toEqual(['{"order":4}']);
  });

  it('show the history of their attempts, with what was left out, as text', async () => {
    shop.purge('orders.dead', 'orders', 'parked');
    const at = 1_767_268_800_000;
    const entry = (attempt: number, more: Readonly<Record<string, Field>>): Field =>
      table(new Map(Object.entries({ attempt: int32(attempt), at: int64(at + attempt), ...more })));
    const hostile = longstr('<img src=x onerror=alert(1)>\u202e');
    const headers = new Map<string, Field>([
      ['dlx-state', longstr('{"page":2,"of":"<img>"}')],
      ['dlx-errors-omitted', int32(190)],
      [
        'dlx-errors',
        array([
          entry(200, { name: hostile, message: hostile, handler: hostile, host: hostile, took: int64(1_500) }),
          entry(199, { name: longstr('Redrive'), message: longstr(''), redrive: int32(2) }),
          entry(1, { name: longstr('TypeError'), message: longstr('card is undefined'), took: int64(12) }),
        ]),
      ],
    ]);
    shop.publish('', 'orders.dead', '{"order":1}', { headers });
    await house.open(list);
    await house.page.getByRole('region', { name: 'Messages' }).getByRole('link').first().click();
    const rows = house.page.getByRole('region', { name: 'Attempts' }).locator('tbody tr');
    await rows.first().waitFor();
    const texts = await rows.allTextContents();
    expect(texts).toHaveLength(4);
    expect(texts[0]).toMatch(/^200.*(<img src=x onerror=alert\(1\)>\\u\{202e\}.*){4}1,500 ms$/);
    expect(texts[1]).toMatch(/Redrive 2$/);
    expect(texts[2]).toMatch(/^190 entries left out$/);
    expect(texts[3]).toMatch(/^1.*TypeError card is undefined.*12 ms$/);
    expect(await house.page.locator('#state pre').textContent()).toBe('{"page":2,"of":"<img>"}');
  });

  it('are not changed by looking', async () => {
    fill();
    const messages = (): Promise<{ items: readonly unknown[] }> =>
      house.api('GET', '/dlx/queues/%2F/orders.dead/messages');
    const before = await messages();
    await house.open(list);
    await house.page.getByRole('region', { name: 'Messages' }).getByRole('link').first().click();
    await house.page.locator('main h1').waitFor();
    expect(await messages()).toEqual(before);
    expect(before.items).toHaveLength(4);
  });

  it('are shown whatever time a publisher wrote', async () => {
    shop.purge('orders.dead', 'orders', 'parked');
    const time: Field = { type: 'T', value: 2 ** 52 }; // beyond the last date of JavaScript
    const texts = { queue: 'elsewhere', reason: 'rejected', exchange: '' };
    const fields = Object.entries(texts).map(([name, value]) => [name, longstr(value)] as const);
    const death: Field = { type: 'F', value: new Map<string, Field>([...fields, ['count', int32(1)], ['time', time]]) };
    const headers = new Map<string, Field>([['x-death', { type: 'A', value: [death] }]]);
    shop.publish('', 'orders.dead', '{"order":1}', { headers, timestamp: 2 ** 52 });
    const { items } = await house.api<{ items: { oldest: number | null }[] }>('GET', '/dlx/queues?name=orders.dead');
    expect(items[0]?.oldest).toBeNull();
    for (const hash of ['#/', '#/queues', '#/queues/%2F/orders.dead', '#/dead-letters', list]) {
      await house.open(hash);
      await house.page.getByText('orders.dead').first().waitFor();
    }
    await house.page.getByRole('region', { name: 'Messages' }).getByRole('link').first().click();
    await house.page.getByText('elsewhere').first().waitFor();
  });

  it('are followed by a stream in the visible tab only', async () => {
    fill();
    const isStream = (request: { url(): string }): boolean => request.url().includes('/api/dlx/events');
    const show = (hidden: boolean): Promise<unknown> =>
      house.page.evaluate(
        `Object.defineProperty(document, 'hidden', { configurable: true, value: ${hidden} });` +
          `document.dispatchEvent(new Event('visibilitychange'))`,
      );
    const first = house.page.waitForResponse(isStream);
    await house.open(list);
    await first;
    const ended = house.page.waitForEvent('requestfailed', isStream);
    await show(true);
    await ended;
    const again = house.page.waitForResponse(isStream);
    await show(false);
    await again;
  });

  it('go back to their origin: the chosen ones, after their number was shown', async () => {
    fill();
    await house.open(list);
    await house.page
      .getByRole('checkbox', { name: /^Choose message/ })
      .nth(1)
      .check();
    await house.page
      .getByRole('checkbox', { name: /^Choose message/ })
      .nth(3)
      .check();
    await house.page.getByRole('region', { name: 'Chosen messages' }).getByRole('button', { name: 'Redrive…' }).click();
    await dialog().getByText('would be redriven').first().waitFor();
    expect(await dialog().textContent()).toMatch(/2 would be redriven.*orders/s);
    await dialog().getByRole('button', { name: 'Redrive 2 messages' }).click();
    await dialog().getByText('Done', { exact: true }).first().waitFor();
    await dialog().getByRole('button', { name: 'Close', exact: true }).last().click();
    expect(shop.bodies('orders')).toEqual(['{"order":2}', '{"order":4}']);
    expect(shop.bodies('orders.dead')).toEqual(['{"order":1}', '{"order":3}']);
  });

  it('are parked with their deaths in a queue of the choice of the user', async () => {
    fill();
    await house.open(list);
    await house.page
      .getByRole('checkbox', { name: /^Choose message/ })
      .first()
      .check();
    await house.page.getByRole('region', { name: 'Chosen messages' }).getByRole('button', { name: 'Park…' }).click();
    await dialog().getByLabel('Queue', { exact: true }).fill('parked');
    await dialog().getByRole('button', { name: 'Park 1 message' }).click();
    await dialog().getByText('Done', { exact: true }).first().waitFor();
    const { items } = await house.api<{ items: { deaths: unknown[] }[] }>('GET', '/dlx/queues/%2F/parked/messages');
    expect(items.map(({ deaths }) => deaths.length)).toEqual([1]);
  });

  it('are deleted: all that match a filter, after their number was shown', async () => {
    fill();
    await house.open(`${list}&error=TimeoutError`);
    await house.page.locator('.page-head').getByRole('button', { name: 'Delete…' }).click();
    await dialog().getByText('would be deleted').waitFor();
    expect(await dialog().textContent()).toMatch(/3 would be deleted/);
    await dialog().getByRole('button', { name: 'Delete 3 messages' }).click();
    await house.page.getByText('Deleted 3 messages.').waitFor();
    expect(shop.bodies('orders.dead')).toEqual(['{"order":4}']);
  });

  it('are not deleted if they died after their number was shown', async () => {
    fill();
    await house.open(`${list}&error=TimeoutError`);
    await house.page.locator('.page-head').getByRole('button', { name: 'Delete…' }).click();
    await dialog().getByText('would be deleted').waitFor();
    shop.die({ body: '{"order":5}', error: timeout(70) });
    await dialog().getByRole('button', { name: 'Delete 3 messages' }).click();
    await house.page.getByText('Deleted 3 messages.').waitFor();
    expect(shop.bodies('orders.dead')).toEqual(['{"order":4}', '{"order":5}']);
  });

  it('are deleted all, when the name of the queue was typed', async () => {
    fill();
    await house.open(list);
    await house.page.locator('.page-head').getByRole('button', { name: 'Delete…' }).click();
    const confirm = dialog().getByRole('button', { name: 'Delete 4 messages' });
    await confirm.waitFor();
    expect(await confirm.isDisabled()).toBe(true);
    await dialog().getByRole('textbox').fill('orders.dead');
    await confirm.click();
    await house.page.getByText('Deleted 4 messages.').waitFor();
    expect(shop.bodies('orders.dead')).toEqual([]);
  });

  it('are exported as one line of JSON each', async () => {
    fill();
    await house.open(list);
    const download = house.page.waitForEvent('download');
    await button('Export').first().click();
    const lines = readFileSync(await (await download).path(), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { payload: string });
    expect(lines.map(({ payload }) => payload)).toEqual([1, 2, 3, 4].map((order) => `{"order":${order}}`));
    expect(shop.bodies('orders.dead')).toHaveLength(4);
  });

  it('are edited, and the original leaves only when the new one is in its queue', async () => {
    fill();
    await house.open(list);
    await house.page.getByRole('region', { name: 'Messages' }).getByRole('link').first().click();
    await button(/^Edit/).first().click();
    const body = house.page.getByRole('textbox', { name: 'Body' });
    await body.fill('{"order": 1, "card": "4000');
    await house.page.getByText('The body was JSON, and this is not').waitFor();
    expect(await button('Review…').isDisabled()).toBe(true);
    await body.fill('{"order":1,"card":"4000"}');
    await button('Add a header').click();
    await house.page.getByRole('textbox', { name: 'Name' }).last().fill('mended');
    await house.page.getByRole('textbox', { name: 'Value' }).last().fill('card');
    await button('Review…').click();
    await dialog().getByText('It would go by').waitFor();
    expect(shop.bodies('orders')).toEqual([]);
    await dialog().getByRole('button', { name: 'Send and remove the original' }).click();
    await expect.poll(() => shop.ready('orders'), { timeout: 10_000 }).toBe(1);
    const { items } = await house.api<{ items: { headers: Record<string, { value: unknown }> }[] }>(
      'GET',
      '/dlx/queues/%2F/orders/messages',
    );
    expect([items[0]?.headers['mended']?.value, items[0]?.headers['dlx-edited']?.value]).toEqual(['card', 1]);
    expect(shop.bodies('orders')).toEqual(['{"order":1,"card":"4000"}']);
    expect(shop.bodies('orders.dead')).toEqual(['{"order":2}', '{"order":3}', '{"order":4}']);
    const audit = await house.api<{ items: { user: string }[] }>('GET', '/dlx/audit?action=message%20edited');
    expect(audit.items.map(({ user }) => user)).toEqual(['guest']);
  });
});
