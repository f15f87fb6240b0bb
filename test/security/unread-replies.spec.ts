import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type HttpLimits, type HttpListener, listenHttp } from '../../libs/dlx-broker/src/server/http/http-listener.js';
import { hashPassword } from '../../libs/dlx-broker/src/platform/logins/index.js';
import { apiHarness } from '../harnesses/api-harness.js';

const basic = (user: string): string => `Basic ${Buffer.from(`${user}:guest`).toString('base64')}`;
const deaf: Socket[] = [];
let listener: HttpListener;
afterEach(async () => {
  for (const socket of deaf.splice(0)) socket.destroy();
  await listener.close();
});

/** A broker whose `/global-parameters` are a reply of eight megabytes. */
async function open(limits: Partial<HttpLimits> = {}): Promise<void> {
  const { host, broker } = apiHarness();
  broker.access.setUser('operator', { tags: ['administrator'], passwordHash: hashPassword('guest') });
  for (let name = 0; name < 8; name++) broker.parameters.set(`p${name}`, 'x'.repeat(1_000_000));
  listener = await listenHttp(host, { port: 0, limits });
}

/** Clients that ask and do not read. They do not see either that the server has ended them. */
async function ask(count: number, user = 'guest'): Promise<void> {
  const head = `GET /api/global-parameters HTTP/1.1\r\nhost: localhost\r\nauthorization: ${basic(user)}\r\n\r\n`;
  for (let each = 0; each < count; each++) {
    const socket = connect(listener.port, '127.0.0.1').on('error', () => {});
    socket.pause();
    socket.write(head);
    deaf.push(socket);
  }
  await new Promise((resolve) => setTimeout(resolve, 200));
}

const whoami = async (user: string): Promise<number> => {
  const headers = { authorization: basic(user), connection: 'close' };
  return (await fetch(`http://127.0.0.1:${listener.port}/api/whoami`, { headers })).status;
};

describe('replies that are not read', () => {
  it('by sixty clients of one user hold a bounded part of the memory, and others are answered at once', async () => {
    await open();
    global.gc?.();
    const before = process.memoryUsage();
    await ask(60);
    let most = 0;
    const begun = performance.now();
    expect(await whoami('operator')).toBe(200);
    // Before those replies have ended, with their connections.
    expect(listener.connections).toBeGreaterThan(30);
    while (performance.now() - begun < 3_000) {
      const { external, heapUsed } = process.memoryUsage();
      most = Math.max(most, external + heapUsed - before.external - before.heapUsed);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    // Whole replies would be sixty times eight megabytes.
    expect(most).toBeLessThan(240_000_000);
  });

  it('are over after the write timeout', async () => {
    await open({ writeTimeout: 700 });
    await ask(2);
    expect(listener.connections).toBe(2);
    await expect.poll(() => listener.connections, { timeout: 5_000 }).toBe(0);
  });

  it('but a slow reader that goes on reading has its reply whole', async () => {
    await open({ writeTimeout: 700 });
    const socket = connect(listener.port, '127.0.0.1');
    deaf.push(socket);
    let size = 0;
    socket.on('data', (bytes: Buffer) => {
      size += bytes.length;
      socket.pause();
      setTimeout(() => socket.resume(), 10);
    });
    const head = `GET /api/global-parameters HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: ${basic('guest')}\r\n\r\n`;
    socket.write(head);
    await new Promise((resolve) => socket.once('close', resolve));
    expect(size).toBeGreaterThan(8_000_000);
  });
});
