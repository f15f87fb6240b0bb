import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { chapters } from '../../apps/playground/src/lessons/index.js';
import { World } from '../../apps/playground/src/world/world.js';
import { consoleHarness, type Front } from './harness.js';

const dist = new URL('../../apps/playground/dist/', import.meta.url);
const types: Readonly<Record<string, string>> = {
  html: 'text/html',
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
};

/** The built page behind a server that has nothing else, in a folder as on the site. */
async function playground(): Promise<Front> {
  const server = createServer(({ url = '' }, response) => {
    const path = url.replace(/^\/playground\//, '') || 'index.html';
    try {
      response.setHeader('content-type', types[path.split('.').at(-1) ?? ''] ?? 'text/plain');
      response.end(readFileSync(new URL(path, dist)));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/playground/`,
    close: async () => void server.close(),
  };
}

/** What the drawing says of each queue, after the steps of a lesson. */
const queuesOf = (world: World): string[] =>
  world.state.queues.map(({ name, length, unacked }) => `Queue ${name}: ${length} ready, ${unacked} unacknowledged`);

const looks = [
  { name: 'light', rules: 'all' },
  { name: 'dark', dark: true, rules: 'contrast' },
  { name: 'narrow', width: 360, rules: 'all but contrast' },
] as const;

describe.each(looks)('each lesson, $name', ({ rules, ...options }) => {
  const house = consoleHarness({ ...options, front: playground });

  it.each(chapters)(
    '$title',
    async (chapter) => {
      const { page } = house;
      for (const { id, title, topology, steps } of chapter.lessons) {
        await page.goto(`${house.url}#${id}`);
        await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
        await page.getByRole('button', { name: 'Run', exact: true }).click();
        await page.locator('.why').waitFor();
        const labels = await page
          .locator('.node-queue > [role=button]')
          .evaluateAll((nodes) => nodes.map((node) => node.getAttribute('aria-label')?.split('. ')[0]));
        expect(labels.toSorted(), id).toEqual(queuesOf(World.replay({ topology, profile: '4' }, steps)).toSorted());
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), id).toBe(true);
        expect(await house.violations(rules), id).toEqual([]);
      }
    },
    240_000,
  );
});

describe('the playground', () => {
  const house = consoleHarness({ front: playground });
  const queue = (name: string) => house.page.getByRole('button', { name: new RegExp(`^Queue ${name}:`) });

  it('is small, and asks for nothing but its own files', async () => {
    const asked: string[] = [];
    house.page.on('request', (request) => asked.push(request.url()));
    await house.page.goto(house.url);
    await house.page.getByRole('heading', { level: 1 }).waitFor();
    await house.page.getByRole('button', { name: 'Run', exact: true }).click();
    const sizes = asked.map(
      (url) => gzipSync(readFileSync(new URL(url.slice(house.url.length) || 'index.html', dist))).length,
    );
    expect(asked.every((url) => url.startsWith(house.url))).toBe(true);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(120 * 1024);
    expect(await house.page.evaluate('localStorage.length + sessionStorage.length + document.cookie.length')).toBe(0);
  });

  it('goes back and on, and shows where a message died', async () => {
    const { page } = house;
    await page.goto(`${house.url}#rejected`);
    await expect.poll(() => page.locator('legend code').allTextContents()).toEqual(['a', 'a']);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('button', { name: /^Message a, died of rejected in work/ }).press('Enter');
    await page.getByRole('button', { name: /rejected ×1/ }).focus();
    await expect.poll(() => page.locator('.node-queue.near').count()).toBe(1);
    await page.getByRole('button', { name: 'Back' }).click();
    await expect.poll(() => queue('dead').getAttribute('aria-label')).toContain('0 ready');
    await page.getByRole('button', { name: 'Step' }).click();
    await expect.poll(() => queue('dead').getAttribute('aria-label')).toContain('1 ready');
    await page.getByRole('button', { name: '3.10' }).click();
    await page.locator('.why').waitFor();
  });

  it('opens a topology of the reader, does what its buttons say, and keeps it in the address', async () => {
    const { page } = house;
    await page.goto(house.url);
    await page.getByText('Your own topology').click();
    const text = page.getByRole('textbox', { name: 'Definitions' });
    const open = page.getByRole('button', { name: 'Open' });
    await text.fill('{"queues": [{"name": "mine", "argument": {}}]}');
    await open.click();
    expect(await page.getByRole('alert').textContent()).toContain("queues[0] has 'argument'");
    expect(await house.violations()).toEqual([]);
    await text.fill('{"queues": [{"name": "mine", "arguments": {"x-message-ttl": 5000}}]}');
    await open.click();
    await queue('mine').click();
    await page.getByRole('button', { name: 'Publish' }).click();
    await page.getByRole('button', { name: 'To the next expiry' }).waitFor();
    await expect.poll(() => page.url()).toContain('#=');
    await page.waitForFunction('document.querySelector(".message") !== null');
    await page.reload();
    await expect.poll(() => queue('mine').getAttribute('aria-label')).toContain('1 ready');
    await page.getByRole('button', { name: 'To the next expiry' }).click();
    await expect.poll(() => queue('mine').getAttribute('aria-label')).toContain('0 ready');
    await page.getByRole('button', { name: 'As a test' }).click();
    expect(await page.getByRole('textbox', { name: 'A test' }).inputValue()).toContain('clock.advance(5000);');
    expect(await house.violations()).toEqual([]);
  });

  it('says what is wrong with a link', async () => {
    await house.page.goto(`${house.url}#%`);
    expect(await house.page.getByRole('alert').textContent()).toBe('The link names no lesson.');
    await house.page.goto(`${house.url}#=AAAA`);
    await house.page.getByText('The link is not whole.').waitFor();
  });

  it('goes on after a broken link, and after a version that refuses the topology', async () => {
    const { page } = house;
    await page.goto(`${house.url}#=AAAA`);
    await page.getByText('The link is not whole.').waitFor();
    await page.locator('summary', { hasText: 'Your own topology' }).click();
    const policies = [{ name: 'p', pattern: '', definition: { 'delivery-limit': -1 } }];
    const text = JSON.stringify({ queues: [{ name: 'mine' }], policies });
    await page.getByRole('textbox', { name: 'Definitions' }).fill(text);
    await page.getByRole('button', { name: 'Open' }).click();
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
    await page.getByRole('button', { name: '3.10' }).click();
    await page.getByText('-1 is not a valid delivery limit').waitFor();
    await queue('mine').click();
    await page.getByRole('button', { name: 'Publish' }).click();
    await expect.poll(() => queue('mine').getAttribute('aria-label')).toContain('1 ready');
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
  });

  it('stays awake under ten thousand messages and a fast cycle', async () => {
    const { page } = house;
    await page.goto(house.url);
    await page.getByText('Your own topology').click();
    const spin = { 'x-message-ttl': 1, 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'b' };
    const queues = [
      { name: 'a', arguments: { ...spin, 'x-max-length': 4_000 } },
      { name: 'b', arguments: { ...spin, 'x-dead-letter-routing-key': 'a' } },
      { name: 'c', arguments: { 'x-max-length': 5_000 } },
    ];
    await page.getByRole('textbox', { name: 'Definitions' }).fill(JSON.stringify({ queues }));
    await page.getByRole('button', { name: 'Open' }).click();
    for (const name of ['c', 'a']) {
      await queue(name).click();
      await page.getByRole('button', { name: /^Fill/ }).click();
    }
    await page.getByRole('button', { name: '×60' }).click();
    await page.getByRole('button', { name: 'Pause' }).or(page.getByText('It stops here')).first().waitFor();
    await expect.poll(() => queue('c').getAttribute('aria-label')).toContain('5,000 ready');
  });
});
