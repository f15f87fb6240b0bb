import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { beforeAll, describe, expect, it } from 'vitest';
import { amount } from '../amounts.js';
import { missing } from './chromium.js';
import { consoleHarness } from './harness.js';
import { Shop } from './letters.js';

const queues = amount('CONSOLE_QUEUES', 10_000, 10_000);
const letters = amount('CONSOLE_LETTERS', 50_000, 1_000_000);

const house = consoleHarness();
const kinds = ['TimeoutError', 'TypeError', 'CardDeclined', 'NoStock', 'HttpError'];
const times: string[] = [];

/** Runs a step and notes its time, and the longest turn of the process of the broker in it. Times are printed, not expected. */
async function timed(name: string, step: () => Promise<void>): Promise<void> {
  const delays = monitorEventLoopDelay({ resolution: 5 });
  delays.enable();
  const begun = performance.now();
  await step();
  delays.disable();
  times.push(`${name}: ${(performance.now() - begun).toFixed(0)} ms, longest turn ${(delays.max / 1e6).toFixed(0)} ms`);
}

describe(`${queues} queues and ${letters} dead letters`, () => {
  beforeAll(async () => {
    if (missing !== undefined) return;
    const shop = new Shop(house.served.broker);
    for (let index = 0; index < queues - 2; index++) {
      shop.queue(`queue.${index}`, index % 10 === 0 ? { 'x-dead-letter-exchange': '', 'x-message-ttl': 60_000 } : {});
    }
    const headers = kinds.map((name) => shop.table({ 'dlx-error-class': name, 'dlx-error-message': `${name} 7` }));
    const body = Buffer.from('{"order":1}');
    for (let index = 0; index < letters; index++) {
      shop.publish('shop', 'order.created', body, {
        headers: headers[index % kinds.length],
        contentType: 'application/json',
      });
      if (index % 1_000 === 999) shop.reject('orders');
      if (index % 10_000 === 9_999) await new Promise((resolve) => setImmediate(resolve));
    }
    shop.reject('orders');
  }, 120_000);

  it('are listed, sorted, filtered, grouped and turned over', async () => {
    const { page } = house;
    const rows = (label: string) => page.getByRole('region', { name: label }).locator('tbody tr');
    await timed('overview', () => house.open('#/'));
    expect(await page.locator('main').textContent()).toContain(`Dead letters${letters.toLocaleString('en-GB')} in`);
    await timed('queues by ready messages', () => house.open('#/queues?sort=messages_ready&sort_reverse=true'));
    expect(await rows('Queues').first().textContent()).toContain('orders.dead');
    await timed('queues by name', () => house.open('#/queues?name=queue.123'));
    expect(await rows('Queues').count()).toBe(11);
    await timed('last page of queues', () => house.open('#/queues?page=100'));
    await timed('queue', () => house.open('#/queues/%2F/orders.dead'));
    await timed('groups', async () => {
      await house.open('#/dead-letters');
      await rows('Groups of dead letters').first().waitFor({ timeout: 20_000 });
    });
    expect(await rows('Groups of dead letters').count()).toBe(kinds.length);
    await timed('messages', () => house.open('#/dead-letters?vhost=%2F&queue=orders.dead&view=messages'));
    await timed('next page', async () => {
      await page.getByRole('button', { name: 'Next page' }).click();
      await page.getByRole('checkbox', { name: 'Choose message 51' }).waitFor();
    });
    await timed('dry run of a redrive of all', async () => {
      await page.locator('.page-head').getByRole('button', { name: 'Redrive…' }).click();
      await page.getByRole('dialog').getByText('would be redriven').first().waitFor({ timeout: 30_000 });
    });
    expect(await page.getByRole('dialog').textContent()).toMatch(new RegExp(letters.toLocaleString('en-GB')));
    await timed('topology', () => house.open('#/topology'));
    console.info(`the console with ${queues} queues and ${letters} dead letters:\n${times.join('\n')}`);
  }, 120_000);
});
