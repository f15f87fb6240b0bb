import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serve, type Served } from '../../libs/dlx-broker/src/server/serve/serve.js';
import { TestAuthority } from '../amqp/certificates.js';
import { present } from '../amqp/present.js';
import { request } from './scene.js';

let authority: TestAuthority | undefined;
const isHere = await present('openssl', () => {
  authority = new TestAuthority('of a test');
  return true;
});

describe.skipIf(!isHere)('certificates of the ports where clients speak TLS', () => {
  let served: Served;
  beforeAll(async () => {
    const { cert, key } = (authority as TestAuthority).issue('/CN=localhost');
    served = await serve({
      amqp: { host: '127.0.0.1', port: 0 },
      tls: { cert, key },
      http: { port: 0 },
    });
  });
  afterAll(async () => {
    await served.close();
    authority?.forget();
  });

  const ask = async (path: string): Promise<readonly [number, unknown]> => {
    const ground = { amqp: '', http: `http://127.0.0.1:${served.http?.port}` };
    const { status, text } = await request(ground, 'GET', `/api/health/checks/${path}`);
    return [status, JSON.parse(text)];
  };

  it('are good for now', async () => {
    expect(await ask('certificate-expiration/0/days')).toEqual([200, { status: 'ok' }]);
    expect(await ask('protocol-listener/amqps')).toEqual([200, { status: 'ok', protocol: 'amqp/ssl' }]);
  });

  it('but not for a hundred years', async () => {
    const row = { protocol: 'amqp/ssl', interface: '127.0.0.1', port: served.amqp.port };
    expect(await ask('certificate-expiration/100/years')).toEqual([
      503,
      { status: 'failed', reason: 'Certificates expiring', expired: [expect.objectContaining(row) as unknown] },
    ]);
  });
});
