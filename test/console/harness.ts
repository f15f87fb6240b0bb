import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { ServedUser } from '../../libs/dlx-broker/src/platform/logins/index.js';
import { type Served, serve } from '../../libs/dlx-broker/src/server/serve/serve.js';
import { chromiumPath, missing } from './chromium.js';

/** Users of the harness besides guest. */
export const users = {
  viewer: { name: 'viewer', password: 'viewer', tags: ['monitoring'] },
  /** May use the management API, and may read and write only what begins with `own.`. */
  clerk: {
    name: 'clerk',
    password: 'clerk',
    tags: ['management'],
    permissions: { '/': { configure: '^own\\.', write: '^own\\.', read: '^own\\.' } },
  },
} as const satisfies Record<string, ServedUser>;

const guest: ServedUser = {
  name: 'guest',
  password: 'guest',
  tags: ['administrator'],
  permissions: { '/': { configure: '.*', write: '.*', read: '.*' } },
};

const viewerRights = { '/': { configure: '^$', write: '^$', read: '.*' } };

/** A broker and a browser for the cases of one file. */
export interface ConsoleHarness {
  readonly served: Served;
  readonly page: Page;
  /** The address of the console. */
  readonly url: string;
  /** Opens a page of the console, signed in as a user, and waits until it shows its heading and has loaded. */
  open(hash: string, user?: string): Promise<void>;
  /** A request of an administrator to the API of the same broker. */
  api<T = unknown>(method: string, path: string, body?: unknown): Promise<T>;
  /** Violations that axe finds on the page, one line each. @param which rules. Default: all */
  violations(which?: keyof typeof rules): Promise<string[]>;
}

/** Options of axe, which describes every element that passes, too, unless it is asked for violations only. */
const rules = {
  all: '{ resultTypes: ["violations"] }',
  contrast: '{ resultTypes: ["violations"], runOnly: ["color-contrast"] }',
  'all but contrast': '{ resultTypes: ["violations"], rules: { "color-contrast": { enabled: false } } }',
} as const;

/** An application whose console shows a broker of another process. */
export interface Front {
  /** The address of its console, with a slash at the end. */
  readonly url: string;
  close(): Promise<void>;
}

interface HarnessOptions {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
  /** Opens an application; the pages are those of its console. Default: the console of the broker itself. */
  readonly front?: (served: Served) => Promise<Front>;
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/**
 * Starts a broker with its management port for all cases of a file, and opens a page for each case. After each case, the
 * page must have shown no dialog of the browser, written no error to its console, and broken no rule of its policy.
 * @param options of the page: its size and colours
 */
export function consoleHarness(options: HarnessOptions = {}): ConsoleHarness {
  const { width = 1280, height = 900, dark = false } = options;
  let front: Front | undefined;
  let served: Served;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    if (missing !== undefined) return;
    browser = await chromium.launch({
      ...(chromiumPath !== undefined && { executablePath: chromiumPath }),
      args: ['--no-sandbox'],
    });
    served = await serve({
      amqp: { host: '127.0.0.1', port: 0 },
      http: { port: 0, edits: true },
      users: [guest, { ...users.viewer, permissions: viewerRights }, users.clerk],
    });
    front = await options.front?.(served);
  }, 60_000);
  afterAll(async () => {
    await front?.close();
    await browser?.close();
    await served?.close();
  });

  beforeEach(async ({ skip }) => {
    skip(missing !== undefined, missing);
    context = await browser.newContext({
      viewport: { width, height },
      colorScheme: dark ? 'dark' : 'light',
      reducedMotion: 'reduce',
    });
    // Below the time of a case, so that its error names what the page did not show.
    context.setDefaultTimeout(10_000);
    page = await context.newPage();
    complaints = [];
    page.on('dialog', (dialog) => {
      complaints.push(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('pageerror', (error) => complaints.push(`an error: ${error.message}`));
    page.on('console', (message) => {
      // The browser writes a line for each answer that is not 2xx; the cases say which answers they expect.
      const isRefusal = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !isRefusal) complaints.push(`in the browser's console: ${message.text()}`);
    });
  });
  afterEach(async () => {
    await context?.close();
    expect(complaints ?? []).toEqual([]);
  });

  const url = (): string => front?.url ?? `http://127.0.0.1:${served.http?.port}/`;

  return {
    get served() {
      return served;
    },
    get page() {
      return page;
    },
    get url() {
      return url();
    },
    async open(hash, user = 'guest') {
      // A small answer of the same origin, for the storage of the tab; then one load of the console, also for the same address.
      await page.goto(`${url()}console/none`);
      const authorization = `Basic ${btoa(`${user}:${user}`)}`;
      const session = JSON.stringify({ user, tags: tagsOf(user), authorization });
      await page.evaluate(`sessionStorage.setItem('dlx-console-session', ${JSON.stringify(session)})`);
      await page.goto(`${url()}${hash}`);
      await page.locator('main h1, main .notice h2').first().waitFor();
      await page.locator('main .loading').first().waitFor({ state: 'detached' });
    },
    async api<T>(method: string, path: string, body?: unknown) {
      const response = await fetch(`${url()}api${path}`, {
        method,
        headers: { authorization: `Basic ${btoa('guest:guest')}`, 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return (text === '' ? undefined : JSON.parse(text)) as T;
    },
    async violations(which = 'all') {
      if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe);
      const { violations } = (await page.evaluate(`axe.run(${rules[which]})`)) as {
        violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[];
      };
      return violations.flatMap(({ id, help, nodes }) =>
        nodes.map(({ html, failureSummary = '' }) => `${id} (${help}): ${html.slice(0, 200)} ${failureSummary}`),
      );
    },
  };
}

const tagsOf = (user: string): readonly string[] =>
  Object.values(users).find(({ name }) => name === user)?.tags ?? ['administrator'];
