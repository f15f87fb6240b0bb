import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import amqplib from 'amqplib';
import { afterEach, describe, expect, it } from 'vitest';
import { product } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { serve, type Served, type ServeOptions } from '../../libs/dlx-broker/src/server/serve/serve.js';
import { TestAuthority } from './certificates.js';

const manifest = new URL('../../libs/dlx-broker/package.json', import.meta.url);
const loopback = { host: '127.0.0.1', port: 0 };

let served: Served | undefined;
afterEach(() => served?.close());

async function seenBy(options: ServeOptions): Promise<unknown> {
  served = await serve({ amqp: loopback, ...options });
  const scheme = options.tls === undefined ? 'amqp' : 'amqps';
  const connection = await amqplib.connect(`${scheme}://guest:guest@127.0.0.1:${served.amqp.port}`, {
    rejectUnauthorized: false,
  });
  const { serverProperties } = connection.connection as unknown as { serverProperties: Record<string, unknown> };
  await connection.close();
  return serverProperties['dlx_broker'];
}

/** @throws what the system says when the port is taken */
const opened = (port = 0): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject).listen(port, '127.0.0.1', () => resolve(server));
  });

describe('the properties of this server', () => {
  const timeouts = { consumer_timeout: 1_800_000, consumer_timeout_by_queue: true };
  const own = { version: product.version, delayed: true, replace: true, ...timeouts };

  it('rule T9: say its version, which is that of the package', async () => {
    expect(product.version).toBe((JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version);
    expect(await seenBy({})).toEqual(own);
  });

  it('rule T9: name the port of the HTTP API from the first connection on', async () => {
    const seen = await seenBy({ http: loopback });
    expect(seen).toEqual({ ...own, http: served?.http?.port, https: false });
  });

  it('rule T9: say that the HTTP API speaks TLS', async () => {
    const authority = new TestAuthority('own properties');
    const tls = authority.issue('/CN=localhost');
    expect(await seenBy({ tls, http: { ...loopback, tls } })).toMatchObject({ https: true });
    authority.forget();
  });

  it('are of no server whose options are misspelt', async () => {
    const misspelt = { amqp: loopback, htttp: loopback } as ServeOptions;
    await expect(serve(misspelt)).rejects.toThrow("serve(): 'htttp' is no option; did you mean 'http'?");
  });

  it('are behind no open port when the one for AMQP is taken', async () => {
    const [taken, free] = await Promise.all([opened(), opened()]);
    const [{ port }, { port: http }] = [taken.address() as AddressInfo, free.address() as AddressInfo];
    await new Promise((resolve) => free.close(resolve));
    await expect(serve({ amqp: { ...loopback, port }, http: { ...loopback, port: http } })).rejects.toThrow(
      /EADDRINUSE/,
    );
    const again = await opened(http);
    again.close();
    taken.close();
  });
});
