import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { apiHarness } from '../../../../../test/harnesses/api-harness.js';
import { createApi } from '../http/app.js';
import { listenHttp } from '../http/http-listener.js';
import { consoleFiles, consolePolicy } from './console.js';

const script = `export const words = '${'dead letters '.repeat(20_000)}';`;
const page = '<!doctype html><script type="module" src="./console/main-Ab12_-cd.js"></script>';

const built = {
  'index.html': page,
  'console/icon-x_1.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
  'console/main-Ab12_-cd.js': script,
};

/** Asks for a path, without a login. */
function ask(method: string, path: string, headers: Record<string, string> = {}, files = consoleFiles(built)) {
  const api = createApi(apiHarness().host, {}, files);
  const request = new Request('http://localhost:15672/', { method, headers: { host: 'localhost:15672', ...headers } });
  const incoming = { url: path, socket: { remoteAddress: '127.0.0.1' } };
  return Promise.resolve(api.fetch(request, { incoming } as never));
}

const asset = '/console/main-Ab12_-cd.js';

describe('the console', () => {
  it('is the page at /, without a login, with a policy of its own', async () => {
    const answer = await ask('GET', '/?x=1');
    expect([answer.status, await answer.text()]).toEqual([200, page]);
    expect(Object.fromEntries(answer.headers)).toEqual({
      'cache-control': 'no-cache',
      'content-length': String(page.length),
      'content-security-policy': consolePolicy,
      'content-type': 'text/html; charset=utf-8',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      etag: expect.stringMatching(/^W\/"[\w-]{22}"$/) as string,
      'referrer-policy': 'no-referrer',
      vary: 'accept-encoding',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    expect(consolePolicy).not.toContain('unsafe');
  });

  it('has scripts and pictures that browsers may keep for ever', async () => {
    const answer = await ask('GET', asset);
    expect(answer.headers.get('cache-control')).toBe('max-age=31536000, immutable');
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(await answer.text()).toBe(script);
    const icon = await ask('GET', '/console/icon-x_1.svg');
    expect(icon.headers.get('content-type')).toBe('image/svg+xml');
  });

  it.each([
    ['gzip', true],
    ['br, GZIP;q=0.5', true],
    ['gzip;q=0', false],
    ['gzip; q=0.0, br', false],
    ['x', false],
    ['', false],
  ])('is compressed for clients that accept it: %j', async (accepted, expected) => {
    const answer = await ask('GET', asset, { 'accept-encoding': accepted });
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(answer.headers.get('content-encoding')).toBe(expected ? 'gzip' : null);
    expect(bytes.length).toBe(Number(answer.headers.get('content-length')));
    expect((expected ? gunzipSync(bytes) : bytes).toString()).toBe(script);
  });

  it('is not sent again to a client that has it, and the 304 keeps the policy of the page', async () => {
    const { headers } = await ask('GET', '/');
    const etag = headers.get('etag')!;
    for (const known of [etag, etag.slice(2), `"x", ${etag}`, '*']) {
      const answer = await ask('GET', '/', { 'if-none-match': known });
      expect([answer.status, await answer.text()]).toEqual([304, '']);
      expect(answer.headers.get('content-security-policy')).toBe(consolePolicy);
      expect(answer.headers.get('etag')).toBe(etag);
    }
    expect((await ask('GET', '/', { 'if-none-match': '"x"' })).status).toBe(200);
  });

  it('answers HEAD without a body, and refuses other methods', async () => {
    for (const path of ['/', asset]) {
      const head = await ask('HEAD', path);
      expect([head.status, await head.text()]).toEqual([200, '']);
      expect(head.headers.get('content-length')).toBe(String((path === '/' ? page : script).length));
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'BREW']) {
        const answer = await ask(method, path);
        expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
      }
    }
  });

  it.each([
    '/console',
    '/console/',
    '/console/index.html',
    '/index.html',
    '/console/secret.txt',
    '/console/../secret.txt',
    '/console/..%2fsecret.txt',
    '/console/%2e%2e/secret.txt',
    '/console/console/../../../secret.txt',
    '/console/..\\..\\secret.txt',
    '/console//etc/passwd',
    '/console/main-Ab12_-cd.js%00',
    '/console/__proto__',
    '/console/console/main-Ab12_-cd.js',
  ])('has no file at %s', async (path) => {
    const answer = await ask('GET', path);
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; frame-ancestors/);
    expect(await answer.text()).not.toContain('secret');
  });

  it('is closed to other names of this machine and to pages of other origins', async () => {
    expect((await ask('GET', '/', { host: 'rebound.example' })).status).toBe(421);
    const foreign = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' };
    expect((await ask('GET', asset, foreign)).status).toBe(403);
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    expect((await ask('GET', '/', link)).status).toBe(200);
  });

  it('that was not built says how to build it', async () => {
    const none = consoleFiles({});
    const answer = await ask('GET', '/', {}, none);
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain('npm run build');
    expect((await ask('GET', asset, {}, none)).status).toBe(404);
  });
});

describe('the port', () => {
  it.each([
    ['with the console', built, undefined, 200],
    ['without it (console: false)', built, false, 404],
    ['with a console that was not built', {}, undefined, 404],
  ])('%s', async (_, files, console, status) => {
    const listener = await listenHttp(
      { ...apiHarness().host, console: () => Promise.resolve(files) },
      { port: 0, ...(console !== undefined && { console }) },
    );
    try {
      const base = `http://127.0.0.1:${listener.port}/`;
      expect(listener.urls).toEqual({ api: `${base}api`, console: status === 200 ? base : undefined });
      const answer = await fetch(base);
      expect(answer.status).toBe(status);
      expect((await answer.text()) === page).toBe(status === 200);
      const sent = await fetch(`http://127.0.0.1:${listener.port}${asset}`);
      expect([sent.status, (await sent.text()) === script]).toEqual([status, status === 200]);
    } finally {
      await listener.close();
    }
  });
});
