import { afterAll, describe, expect, it } from 'vitest';
import type { Backend, Publication, RabbitMqOptions } from '../../libs/dlx-broker/src/backends/index.js';
import { openRabbitMq } from '../../libs/dlx-broker/src/backends/rabbitmq/open.js';
import { serve, type ServeOptions } from '../../libs/dlx-broker/src/server/serve/serve.js';
import { TestAuthority } from '../amqp/certificates.js';
import { endsAfterEach } from '../harnesses/ends.js';
import { queueNamed, topologyOf } from '../harnesses/declared.js';

const authority = new TestAuthority('test CA');
const identity = authority.issue('/CN=localhost');
afterAll(() => authority.forget());

const ends = endsAfterEach();

async function arrange(server: Partial<ServeOptions>, options: Omit<RabbitMqOptions, 'urls'>, scheme = 'amqp') {
  const served = await serve({ amqp: { host: '127.0.0.1', port: 0 }, ...server });
  ends.push(() => served.close());
  const urls = `${scheme}://localhost:${served.amqp.port}`;
  const log = { warn: () => undefined, fault: () => undefined };
  const backend = openRabbitMq({ startAttempts: 1, publishTimeout: 500, closeTimeout: 50, ...options, urls }, log);
  ends.push(() => backend.close());
  return { backend, served };
}

const toQueue: Publication = { exchange: '', routingKey: 'q', properties: {}, body: Buffer.from('x'), mandatory: true };
const published = (backend: Backend): Promise<Error | undefined> =>
  new Promise((resolve) => backend.publish(toQueue, resolve));

describe('TLS', () => {
  it('with the authority of the server connects', async () => {
    const { backend } = await arrange({ tls: identity }, { tls: { ca: authority.ca } }, 'amqps');
    await backend.connect();
    await backend.declare(topologyOf(queueNamed('q')));
    expect(await published(backend)).toBeUndefined();
  });

  it('without it does not: the error names the host and the reason', async () => {
    const { backend } = await arrange({ tls: identity }, {}, 'amqps');
    const failure = await backend.connect().catch((error: Error) => error);
    expect(failure).toMatchObject({ name: 'ConnectError' });
    expect((failure as Error).message).toMatch(/localhost:\d+ \(virtual host '\/'\): .*(certificate|self-signed)/);
  });

  it('a login by EXTERNAL fails in one attempt where the server offers none, or there is no certificate', async () => {
    const credentials = { mechanism: 'EXTERNAL' } as const;
    const more = { credentials, startAttempts: 100 };
    const offered = await arrange({ tls: identity }, { ...more, tls: { ca: authority.ca, ...identity } }, 'amqps');
    const refused = (await offered.backend.connect().catch((error: Error) => error)) as Error;
    expect(refused).toMatchObject({ name: 'ConnectError', retry: 'never' });
    expect(refused.message).toContain('the server takes logins by PLAIN AMQPLAIN, not by EXTERNAL; on RabbitMQ enable');
    const plain = await arrange({}, more);
    const missing = (await plain.backend.connect().catch((error: Error) => error)) as Error;
    expect(missing).toMatchObject({ name: 'ConnectError', retry: 'never' });
    expect(missing.message).toContain('needs a client certificate: write amqps:// and tls: { cert, key }');
  });

  it('is not spoken by a client of amqp:// at such a port: a bounded failure', async () => {
    const { backend } = await arrange({ tls: identity }, { connectTimeout: 1_000 });
    await expect(backend.connect()).rejects.toMatchObject({ name: 'ConnectError' });
  });
});

describe('a server that is short of memory', () => {
  it('blocks publishers: the state says so, publishes wait, fail in time, and go on afterwards', async () => {
    let limit = 1; // bytes: far less than there are
    const memory = (): { used: number; limit: number } => ({ used: 1_000, limit });
    const { backend } = await arrange({ amqp: { host: '127.0.0.1', port: 0, memory } } as Partial<ServeOptions>, {});
    await backend.connect();
    await backend.declare(topologyOf(queueNamed('q')));
    const states: string[] = [];
    backend.onState(({ kind }) => states.push(kind));
    const first = await published(backend); // it makes this connection a publisher's, which the server then blocks
    expect(first).toMatchObject({ retry: 'later' });
    await expect.poll(() => backend.state.kind).toBe('blocked');
    const second = await published(backend);
    expect(second).toMatchObject({ name: 'OverloadedError', mayBeTaken: false });
    expect(second!.message).toContain('the server blocks publishers');
    limit = 1_000_000_000;
    await expect.poll(() => backend.state.kind, { timeout: 5_000 }).toBe('ready');
    expect(await published(backend)).toBeUndefined();
    expect(states).toEqual(['blocked', 'ready']);
  });
});
