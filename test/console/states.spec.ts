import { beforeAll, describe, expect, it } from 'vitest';
import { missing } from './chromium.js';
import { consoleHarness } from './harness.js';
import { Shop } from './letters.js';

const house = consoleHarness();
const list = '#/dead-letters?vhost=%2F&queue=orders.dead&view=messages';

describe('a broker without any message', () => {
  it.each(['#/', '#/dead-letters', '#/queues', '#/topology', '#/redrives', '#/audit', '#/policies', '#/connections'])(
    '%s says that there is nothing yet',
    async (hash) => {
      await house.open(hash);
      expect(await house.page.locator('main .notice-failed').count()).toBe(0);
      expect(await house.violations()).toEqual([]);
    },
  );
});

describe('users with fewer rights', () => {
  beforeAll(() => {
    if (missing !== undefined) return;
    new Shop(house.served.broker).die({ body: '{"order":1}' });
  });

  it('a user who may only look sees everything, and no button that changes something', async () => {
    for (const hash of [
      '#/',
      '#/dead-letters',
      list,
      '#/dead-letters/%2F/orders.dead/1',
      '#/queues/%2F/orders',
      '#/redrives',
      '#/audit',
    ]) {
      await house.open(hash, 'viewer');
      expect(await house.page.locator('main .notice-failed, main .notice-forbidden').allTextContents()).toEqual([]);
      const names = await house.page.locator('main').getByRole('button').allTextContents();
      expect(names.filter((name) => /redrive|park|delete|purge|publish|edit|cancel|close/i.test(name))).toEqual([]);
    }
  });

  it.each([list, '#/audit', '#/users'])('%s says that a right is missing, and which', async (hash) => {
    await house.open(hash, 'clerk');
    const notice = house.page.locator('main .notice-forbidden').first();
    await notice.waitFor();
    expect(await notice.textContent()).toMatch(/No permission|needs the tag/);
    expect(await house.violations()).toEqual([]);
  });
});

describe('a broker that does not answer', () => {
  it('is said on the page, which works again when the broker does', async () => {
    await house.open('#/queues');
    await house.page.route('**/api/**', (route) => route.abort());
    await house.page.getByRole('link', { name: 'Dead letters', exact: true }).click();
    await house.page.getByText('does not answer').first().waitFor();
    await house.page.unroute('**/api/**');
    await house.page.getByRole('button', { name: 'Try again' }).first().click();
    await house.page.locator('main .notice-failed').first().waitFor({ state: 'detached' });
  });

  it('keeps what it showed, and says that it is old', async () => {
    await house.open('#/');
    await house.page.route('**/api/**', (route) => route.abort());
    await house.page.getByText('Not up to date').waitFor({ timeout: 20_000 });
    expect(await house.page.locator('main .figure').count()).toBeGreaterThan(0);
  });
});

describe('addresses', () => {
  it.each(['#/nowhere', '#/queues/%2F/none', '#/dead-letters/%2F/orders.dead/999', '#/redrives/none', '#/%E0%A4%A'])(
    '%s of nothing says so',
    async (hash) => {
      await house.open(hash);
      expect(await house.page.locator('main').textContent()).toMatch(
        /not found|no such|does not exist|left|gone|not known/i,
      );
    },
  );
});
