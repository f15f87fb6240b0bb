import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type HttpLimits, type HttpListener, listenHttp } from '../../libs/dlx-broker/src/server/http/http-listener.js';
import { apiHarness } from '../harnesses/api-harness.js';

const authorization = `Basic ${Buffer.from('guest:guest').toString('base64')}`;
const silent: Socket[] = [];
let listener: HttpListener;
afterEach(async () => {
  for (const socket of silent.splice(0)) socket.destroy();
  await listener.close();
});

async function open(limits: Partial<HttpLimits> = {}): Promise<void> {
  listener = await listenHttp(apiHarness().host, { port: 0, limits });
}

/** @returns when the system has connected them, and how many the server has ended since */
async function besiege(count: number, say = ''): Promise<() => number> {
  let ended = 0;
  const sockets = Array.from({ length: count }, () =>
    connect(listener.port, '127.0.0.1')
      .on('error', () => {})
      .on('close', () => ended++)
      .resume(),
  );
  silent.push(...sockets);
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
  for (const socket of sockets) if (say !== '') socket.write(say);
  return () => ended;
}

/** @returns milliseconds until an operator has an answer */
async function ask(): Promise<number> {
  const begun = performance.now();
  const headers = { authorization, connection: 'close' };
  const { status } = await fetch(`http://127.0.0.1:${listener.port}/api/whoami`, { headers });
  expect(status).toBe(200);
  return performance.now() - begun;
}

describe('an operator gets in at once beside', () => {
  it('eleven hundred connections that say nothing', async () => {
    await open();
    const ended = await besiege(1_100);
    expect(await ask()).toBeLessThan(2_000);
    await expect.poll(ended).toBeGreaterThanOrEqual(100);
  });

  it('as many that begin a request and do not end it', async () => {
    await open();
    await besiege(1_100, 'GET /api/whoami HTTP/1.1\r\nhost: localhost\r\nx-slow: ');
    expect(await ask()).toBeLessThan(2_000);
  });

  it('a crowd of one address, of which no more stay than one address may have', async () => {
    await open({ pendingLoginsOfAddress: 50, headersTimeout: 60_000 });
    const ended = await besiege(300);
    expect(await ask()).toBeLessThan(2_000);
    // Each client that comes ends those that have been silent for a second.
    const another = (): Promise<number> => ask().then(ended);
    await expect.poll(another, { timeout: 8_000, interval: 200 }).toBeGreaterThan(240);
  });

  it('connections of a user who may have only so many', async () => {
    await open({ connectionsOfUser: 3 });
    const head = `GET /api/dlx/events HTTP/1.1\r\nhost: localhost\r\nauthorization: ${authorization}\r\n\r\n`;
    const sockets = Array.from({ length: 3 }, () => connect(listener.port, '127.0.0.1').on('error', () => {}));
    silent.push(...sockets);
    for (const socket of sockets) {
      socket.write(head);
      await new Promise((resolve) => socket.once('data', resolve));
    }
    const { status, headers } = await fetch(`http://127.0.0.1:${listener.port}/api/whoami`, {
      headers: { authorization },
    });
    expect([status, headers.get('connection')]).toEqual([429, 'close']);
    sockets[0]?.destroy();
    await expect.poll(() => ask().catch(() => Infinity)).toBeLessThan(2_000);
  });

  it('and two hundred honest clients that come together are all answered', async () => {
    await open();
    const answers = Array.from({ length: 200 }, () => ask());
    await Promise.all(answers);
  });
});
