import { beforeAll, describe, expect, it } from 'vitest';
import { missing } from './chromium.js';
import { consoleHarness } from './harness.js';
import { Shop } from './letters.js';

const house = consoleHarness();

beforeAll(() => {
  if (missing !== undefined) return;
  const shop = new Shop(house.served.broker);
  shop.die({ body: '{"order":1}' }, { body: '{"order":2}' }, { body: '{"order":3}' });
});

describe('the keys of the console', () => {
  it('walk through a list, choose, act, filter and go to other pages, without a pointer', async () => {
    const { page } = house;
    await house.open('#/dead-letters?vhost=%2F&queue=orders.dead&view=messages');
    const press = (...keys: string[]) =>
      keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());
    await press('j', 'x', 'j', 'x');
    expect(await page.getByRole('region', { name: 'Chosen messages' }).textContent()).toContain('2 messages chosen');
    await press('r');
    await page.getByRole('dialog', { name: 'Redrive' }).waitFor();
    await press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await press('k', 'x');
    expect(await page.getByRole('region', { name: 'Chosen messages' }).textContent()).toContain('1 message chosen');
    await press('/');
    expect(await page.evaluate('document.activeElement?.tagName')).toBe('INPUT');
    await page.keyboard.type('order":3');
    await press('Enter');
    await expect
      .poll(() => page.getByRole('region', { name: 'Messages' }).locator('tbody tr').count(), { timeout: 10_000 })
      .toBe(1);
    expect(decodeURIComponent(page.url())).toContain('text=order');
    await press('Escape');
    await page.evaluate('document.activeElement?.blur()');
    await press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    expect(await house.violations()).toEqual([]);
    await press('Escape', 'g', 'q');
    await page.getByRole('heading', { level: 1, name: 'Queues' }).waitFor();
    await press('g', 'd');
    await page.getByRole('heading', { level: 1, name: 'Dead letters' }).waitFor();
  });

  it('open the present row by Enter, and reach every control by Tab', async () => {
    await house.open('#/dead-letters?vhost=%2F&queue=orders.dead&view=messages');
    await house.page.keyboard.press('j');
    await house.page.keyboard.press('Enter');
    await expect
      .poll(() => new URL(house.page.url()).hash, { timeout: 10_000 })
      .toMatch(/^#\/dead-letters\/%2F\/orders\.dead\/1/);
    const reached = new Set<string>();
    for (let step = 0; step < 60; step++) {
      await house.page.keyboard.press('Tab');
      reached.add(
        String(await house.page.evaluate('document.activeElement?.textContent || document.activeElement?.ariaLabel')),
      );
    }
    expect([...reached].join('\n')).toMatch(/Redrive/);
  });
});
