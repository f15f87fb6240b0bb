import { request } from 'node:https';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpListener, listenHttp } from '../../libs/dlx-broker/src/server/index.js';
import { apiHarness, type ApiHarness } from '../harnesses/api-harness.js';
import { TestAuthority } from '../amqp/certificates.js';

describe('the HTTP API over TLS', () => {
  const authority = new TestAuthority('a test');
  let harness: ApiHarness;
  let listener: HttpListener;
  beforeAll(async () => {
    harness = apiHarness();
    listener = await listenHttp(harness.host, { port: 0, tls: authority.issue('/CN=localhost') });
  });
  afterAll(async () => {
    await listener.close();
    authority.forget();
  });

  const ask = (method: string, path: string, headers: Record<string, string> = {}): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const { port } = listener;
      const options = { host: '127.0.0.1', port, method, path, ca: authority.ca, servername: 'localhost' };
      const asked = request({ ...options, auth: 'guest:guest', headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asked.on('error', reject);
      asked.end();
    });

  it('answers as it does without', async () => {
    expect(await ask('GET', '/api/whoami')).toBe(200);
    expect(await ask('PUT', '/api/vhosts/..%2F')).toBe(201);
    expect([...harness.broker.virtualHosts.keys()]).toEqual(['/', '../']);
    expect(await ask('GET', '/api/overview')).toBe(200);
  });

  it('knows pages of its own from others', async () => {
    const origin = `https://127.0.0.1:${listener.port}`;
    expect(await ask('PUT', '/api/vhosts/a', { origin })).toBe(201);
    expect(await ask('PUT', '/api/vhosts/b', { origin: 'https://evil.example' })).toBe(403);
    expect(await ask('GET', '/api/whoami', { host: 'rebound.example' })).toBe(421);
  });

  it('speaks TLS 1.2 at least, and nothing to those who do not', async () => {
    const old = { host: '127.0.0.1', port: listener.port, ca: authority.ca, servername: 'localhost' };
    const failed = await new Promise<Error>((resolve, reject) => {
      const socket = connectTls({ ...old, minVersion: 'TLSv1', maxVersion: 'TLSv1.1' }, () =>
        reject(new Error('let in')),
      );
      socket.on('error', resolve);
    });
    expect(failed.message).not.toBe('let in');
    await expect(fetch(`http://127.0.0.1:${listener.port}/api/whoami`)).rejects.toThrow();
    expect(await ask('GET', '/api/whoami')).toBe(200);
  });
});
