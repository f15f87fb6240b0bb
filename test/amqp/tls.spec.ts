import { connect, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import amqplib from 'amqplib';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { ListenOptions } from '../../libs/dlx-broker/src/amqp/server/index.js';
import { TestAuthority } from './certificates.js';
import { type AmqpHouse, amqpHouse, until } from './harness.js';

const authority = new TestAuthority('test CA');
const stranger = new TestAuthority('another CA');
const server = authority.issue('/CN=localhost');
const client = authority.issue('/O=tests/CN=a client');
const impostor = stranger.issue('/CN=a client');
const { ca } = authority;
afterAll(() => [authority, stranger].forEach((one) => one.forget()));

const harnesses: AmqpHouse[] = [];
afterEach(() => Promise.all(harnesses.splice(0).map((harness) => harness.close())));
async function open(options: ListenOptions = {}): Promise<AmqpHouse> {
  const harness = await amqpHouse({ tls: server, ...options });
  harnesses.push(harness);
  return harness;
}

/** Connects and says the protocol header. @returns what the server begins with, or why it does not */
function greeting(harness: AmqpHouse, options: ConnectionOptions): Promise<string> {
  return new Promise((resolve) => {
    const socket: TLSSocket = connectTls({ port: harness.port, host: 'localhost', ca, ...options });
    socket.once('secureConnect', () => socket.write(Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1])));
    socket.once('data', (bytes: Buffer) => {
      resolve(`method ${bytes.readUInt16BE(7)}.${bytes.readUInt16BE(9)} over ${socket.getProtocol()}`);
      socket.destroy();
    });
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.once('close', () => resolve('closed'));
  });
}

const url = ({ port }: AmqpHouse): string => `amqps://guest:guest@localhost:${port}`;

/** A socket that says no more than that. @returns milliseconds until the server ends it */
function lasting({ port }: AmqpHouse, bytes: Buffer): Promise<number> {
  const begun = performance.now();
  const socket: Socket = connect(port, '127.0.0.1', () => socket.write(bytes)).on('error', () => undefined);
  socket.resume();
  return new Promise((resolve) => socket.once('close', () => resolve(performance.now() - begun)));
}

/** The beginning of a ClientHello, as far as its length. */
const halfAHello = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00]);

describe('TLS', () => {
  it.each(['TLSv1.2', 'TLSv1.3'] as const)('%s is accepted', async (version) => {
    const harness = await open();
    expect(await greeting(harness, { minVersion: version, maxVersion: version })).toBe(`method 10.10 over ${version}`);
  });

  it.each(['TLSv1', 'TLSv1.1'] as const)('%s is not', async (version) => {
    const harness = await open();
    // Lest it be our own side that refuses.
    const old = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' };
    expect(await greeting(harness, old)).toBe('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION');
  });

  it('without an authority for clients no client is asked for a certificate', async () => {
    const harness = await open();
    const connection = await amqplib.connect(url(harness), { ca });
    await expect((await connection.createChannel()).assertQueue('q')).resolves.toMatchObject({ queue: 'q' });
    const [details] = [...harness.broker.virtualHost('/').connections].map((one) => one.client);
    expect(details).toMatchObject({ isTls: true, port: harness.port });
    expect(details?.tls).toEqual({ protocol: 'tlsv1.3', keyExchange: 'any', cipher: 'aes_256_gcm', hash: 'aead' });
    await connection.close();
  });
});

it('a client that is dropped gets a reset with TLS too (rule T10)', async () => {
  const harness = await open({ limits: { handshake: 300 } });
  const socket = connectTls({ port: harness.port, host: 'localhost', ca });
  socket.resume();
  const end = new Promise((resolve) => {
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code)).once('end', () => resolve('end'));
  });
  expect(await end).toBe('ECONNRESET');
  await until(() => harness.listener.connections.size === 0);
});

describe('with an authority for clients', () => {
  it('a client with one of its certificates is let in', async () => {
    const harness = await open({ tls: { ...server, ca } });
    const connection = await amqplib.connect(url(harness), { ca, ...client });
    await expect((await connection.createChannel()).assertQueue('q')).resolves.toMatchObject({ queue: 'q' });
    const [tls] = [...harness.broker.virtualHost('/').connections].map((one) => one.client?.tls);
    expect(tls?.peerCertificate).toMatchObject({ subject: 'CN=a client,O=tests', issuer: 'CN=test CA' });
    expect(tls?.peerCertificate?.validity).toMatch(
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ - \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
    );
    await connection.close();
  });

  it.each([
    ['none', {}],
    ["somebody else's", impostor],
  ])('a client with %s is refused', async (_, identity) => {
    const harness = await open({ tls: { ...server, ca } });
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      // Whether the reason comes through before the socket ends is a race.
      const heard = await greeting(harness, { minVersion: version, maxVersion: version, ...identity });
      expect(heard).toMatch(/^(ERR_SSL_.*ALERT.*|ECONNRESET|EPIPE|closed)$/);
      const spoken = await greeting(harness, { minVersion: version, maxVersion: version, ...client });
      expect(spoken).toBe(`method 10.10 over ${version}`);
    }
    await expect(amqplib.connect(url(harness), { ca, ...identity })).rejects.toThrow();
    await until(() => harness.listener.pendingCount + harness.listener.connections.size === 0);
  });
});

describe('the deadline of the handshake counts from the moment the socket is accepted', () => {
  it.each([
    ['says nothing', Buffer.alloc(0)],
    ['says half a ClientHello', halfAHello],
  ])('for a client that %s instead of speaking TLS', async (_, bytes) => {
    const harness = await open({ limits: { handshake: 1_000 } });
    const lasted = await lasting(harness, bytes);
    expect(lasted).toBeGreaterThan(990);
    await until(() => harness.listener.pendingCount === 0);
  });

  it('for a client that takes its time with both', async () => {
    const harness = await open({ limits: { handshake: 2_000 } });
    const begun = performance.now();
    const plain = connect(harness.port, '127.0.0.1');
    await new Promise((resolve) => plain.once('connect', resolve));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const secure = connectTls({ socket: plain, ca, servername: 'localhost' }).on('error', () => undefined);
    await new Promise((resolve) => secure.once('secureConnect', resolve));
    await until(() => harness.listener.pendingCount === 0 && harness.listener.connections.size === 1);
    await new Promise((resolve) => secure.once('close', resolve));
    // Two seconds and a look at the clock; a deadline from the end of TLS would be three.
    expect(performance.now() - begun).toBeLessThan(2_900);
    await until(() => harness.listener.connections.size === 0);
  });
});

describe('sockets that never get through TLS', () => {
  // They kept clients out that could log in; now it is they who go.
  it('count against the limit of connections, and make room for others', async () => {
    const harness = await open({ limits: { connections: 1 } });
    const silent = connect(harness.port, '127.0.0.1').on('error', () => undefined);
    await until(() => harness.listener.pendingCount === 1);
    const gone = new Promise((resolve) => silent.once('close', resolve));
    const connection = await amqplib.connect(url(harness), { ca });
    await gone;
    await until(() => harness.listener.pendingCount === 0);
    // A client that has logged in is never closed to make room.
    expect(await lasting(harness, Buffer.alloc(0))).toBeLessThan(5_000);
    await connection.close();
  });

  it('leave no trace, whatever they say', async () => {
    const harness = await open();
    const words = [
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      Buffer.from('AMQP\0\0\x09\x01', 'latin1'),
      Buffer.alloc(600, 1),
    ];
    for (let round = 0; round < 100; round++) {
      await Promise.all(words.map((bytes) => lasting(harness, bytes)));
      // Or gone before the server has seen them.
      const scan = connect(harness.port, '127.0.0.1').on('error', () => undefined);
      scan.once('connect', () => (round % 2 === 0 ? scan.resetAndDestroy() : scan.end()));
      await new Promise((resolve) => scan.once('close', resolve));
    }
    await until(() => harness.listener.pendingCount === 0);
    expect(harness.listener.connections.size).toBe(0);
    expect(await greeting(harness, {})).toBe('method 10.10 over TLSv1.3');
  });
});
