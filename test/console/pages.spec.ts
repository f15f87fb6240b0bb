import { beforeAll, describe, expect, it } from 'vitest';
import { missing } from './chromium.js';
import { consoleHarness } from './harness.js';
import { declareHostile, hostileQueue } from './hostile.js';
import { Shop } from './letters.js';

const hostile = encodeURIComponent(hostileQueue);

/** Each page of the console, by its address, and a text of its heading. */
const pages: readonly (readonly [hash: string, heading: RegExp])[] = [
  ['#/', /Overview/],
  ['#/dead-letters', /Dead letters/],
  [`#/dead-letters?vhost=%2F&queue=${hostile}&view=messages`, /Dead letters|script/],
  [`#/dead-letters/%2F/${hostile}/1`, /./],
  ['#/dead-letters/%2F/orders.dead/1', /./],
  ['#/queues', /Queues/],
  ['#/queues/%2F/orders', /orders/],
  [`#/queues/%2F/${hostile}`, /script/],
  ['#/topology', /Topology/],
  ['#/redrives', /Redrives/],
  ['#/audit', /Audit/],
  ['#/policies', /Policies/],
  ['#/users', /Users/],
  ['#/connections', /Connections/],
];

/** The width of a telephone. */
const narrow = { width: 380, height: 720 };

describe('the pages of the console', () => {
  const house = consoleHarness();
  beforeAll(async () => {
    if (missing !== undefined) return;
    const shop = new Shop(house.served.broker);
    shop.die(
      {
        body: '{"order": 1, "amount": 12345678901234567890.5}',
        error: { class: 'TimeoutError', message: 'no answer' },
      },
      { body: Uint8Array.from({ length: 300 }, (_, index) => index % 256), contentType: 'application/octet-stream' },
    );
    declareHostile(shop);
    await house.api('PUT', '/policies/%2F/%3Cb%3Epolicy', {
      pattern: '^<b>',
      definition: { 'message-ttl': 1000 },
      'apply-to': 'queues',
    });
    await house.api('POST', '/dlx/redrives', { vhost: '/', queue: 'orders.dead', dry_run: true });
    await house.api('PUT', '/dlx/queues/%2F/orders/pause', { reason: '<img src=x onerror=alert(1)>\u202e', for: '1h' });
    await house.api('DELETE', `/dlx/queues/%2F/${hostile}/messages?error=none&dry_run=true`);
  });

  it.each(pages)(
    '%s breaks no rule of accessibility, runs nothing that a client wrote, and fits the window',
    async (hash, heading) => {
      const { page } = house;
      const check = async (): Promise<void> => {
        expect(await page.locator('main h1').first().textContent()).toMatch(heading);
        expect(await page.locator('main .notice-failed').allTextContents()).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
        expect(await page.locator('main script, main img, main svg[onload], main [onerror]').count()).toBe(0);
        expect(await page.locator('main a[href^="javascript:"]').count()).toBe(0);
      };
      await house.open(hash);
      await check();
      expect(await house.violations()).toEqual([]);
      // The dark colours are the same document in other colours.
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await house.violations('contrast')).toEqual([]);
      // A narrow window hides and moves things, in the colours of the wide one.
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize(narrow);
      await check();
      expect(await house.violations('all but contrast')).toEqual([]);
    },
  );

  it('pause a queue and resume it', async () => {
    const { page } = house;
    const paused = async () =>
      (await house.api<{ paused: object | null }>('GET', '/dlx/queues/%2F/orders.dead')).paused;
    await house.open('#/queues/%2F/orders.dead');
    await page.getByRole('button', { name: 'Pause', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Pause the queue' });
    await dialog.getByLabel('Reason').fill('a look at it');
    await dialog.getByLabel('How long').selectOption('1h');
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByText('a look at it').waitFor();
    expect(await paused()).toMatchObject({ reason: 'a look at it', by: 'guest', until: expect.any(Number) });
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('a look at it').waitFor({ state: 'detached' });
    expect(await paused()).toBeNull();
  });
});
