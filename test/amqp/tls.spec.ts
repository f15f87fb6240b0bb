import { connect, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import amqplib from 'amqplib';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import type { ListenOptions } from '../../libs/dlx-broker/src/amqp/index.js';
import { TestAuthority } from './certificates.js';
import { type AmqpHouse, amqpHouse, until } from './house.js';

const authority = new TestAuthority('test CA');
const stranger = new TestAuthority('somebody else');
const server = authority.issue('/CN=localhost');
const client = authority.issue('/O=tests/CN=a client');
const impostor = stranger.issue('/CN=a client');
const { ca } = authority;
afterAll(() => [authority, stranger].forEach((one) => one.forget()));

const houses: AmqpHouse[] = [];
afterEach(() => Promise.all(houses.splice(0).map((house) => house.close())));
async function open(options: ListenOptions = {}): Promise<AmqpHouse> {
  const house = await amqpHouse({ tls: server, ...options });
  houses.push(house);
  return house;
}

/** Connects and says the protocol header. @returns what the server begins with, or why it does not */
function greeting(house: AmqpHouse, options: ConnectionOptions): Promise<string> {
  return new Promise((resolve) => {
    const socket: TLSSocket = connectTls({ port: house.port, host: 'localhost', ca, ...options });
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
  it.each(['TLSv1.2', 'TLSv1.3'] as const)('%s is spoken', async (version) => {
    const house = await open();
    expect(await greeting(house, { minVersion: version, maxVersion: version })).toBe(`method 10.10 over ${version}`);
  });

  it.each(['TLSv1', 'TLSv1.1'] as const)('%s is not', async (version) => {
    const house = await open();
    // Lest it be our own side that refuses.
    const old = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' };
    expect(await greeting(house, old)).toBe('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION');
  });

  it('without an authority for clients nobody is asked for a certificate', async () => {
    const house = await open();
    const connection = await amqplib.connect(url(house), { ca });
    await expect((await connection.createChannel()).assertQueue('q')).resolves.toMatchObject({ queue: 'q' });
    const [details] = [...house.broker.virtualHost('/').connections].map((one) => one.client);
    expect(details).toMatchObject({ isTls: true, port: house.port });
    expect(details?.tls).toEqual({ protocol: 'tlsv1.3', keyExchange: 'any', cipher: 'aes_256_gcm', hash: 'aead' });
    await connection.close();
  });
});

describe('with an authority for clients', () => {
  it('a client with one of its certificates is let in', async () => {
    const house = await open({ tls: { ...server, ca } });
    const connection = await amqplib.connect(url(house), { ca, ...client });
    await expect((await connection.createChannel()).assertQueue('q')).resolves.toMatchObject({ queue: 'q' });
    const [tls] = [...house.broker.virtualHost('/').connections].map((one) => one.client?.tls);
    expect(tls?.peerCertificate).toMatchObject({ subject: 'CN=a client,O=tests', issuer: 'CN=test CA' });
    expect(tls?.peerCertificate?.validity).toMatch(
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ - \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
    );
    await connection.close();
  });

  it.each([
    ['none', {}],
    ["somebody else's", impostor],
  ])('a client with %s is not', async (_, identity) => {
    const house = await open({ tls: { ...server, ca } });
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      // Whether the reason comes through before the socket ends is a race.
      const heard = await greeting(house, { minVersion: version, maxVersion: version, ...identity });
      expect(heard).toMatch(/^(ERR_SSL_.*ALERT.*|ECONNRESET|EPIPE|closed)$/);
      const spoken = await greeting(house, { minVersion: version, maxVersion: version, ...client });
      expect(spoken).toBe(`method 10.10 over ${version}`);
    }
    await expect(amqplib.connect(url(house), { ca, ...identity })).rejects.toThrow();
    await until(() => house.listener.visitors + house.listener.connections.size === 0);
  });
});

describe('the deadline of the handshake counts from the moment the socket is accepted', () => {
  it.each([
    ['says nothing', Buffer.alloc(0)],
    ['says half a ClientHello', halfAHello],
  ])('for a client that %s instead of speaking TLS', async (_, bytes) => {
    const house = await open({ limits: { handshake: 1_000 } });
    const lasted = await lasting(house, bytes);
    expect(lasted).toBeGreaterThan(990);
    await until(() => house.listener.visitors === 0);
  });

  it('for a client that takes its time with both', async () => {
    const house = await open({ limits: { handshake: 2_000 } });
    const begun = performance.now();
    const plain = connect(house.port, '127.0.0.1');
    await new Promise((resolve) => plain.once('connect', resolve));
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const secure = connectTls({ socket: plain, ca, servername: 'localhost' }).on('error', () => undefined);
    await new Promise((resolve) => secure.once('secureConnect', resolve));
    await until(() => house.listener.visitors === 0 && house.listener.connections.size === 1);
    await new Promise((resolve) => secure.once('close', resolve));
    // Two seconds and a look at the clock; a deadline from the end of TLS would be three.
    expect(performance.now() - begun).toBeLessThan(2_900);
    await until(() => house.listener.connections.size === 0);
  });
});

describe('sockets that never get through TLS', () => {
  // They kept clients out that could log in; now it is they who go.
  it('count against the limit of connections, and make room for others', async () => {
    const house = await open({ limits: { connections: 1 } });
    const silent = connect(house.port, '127.0.0.1').on('error', () => undefined);
    await until(() => house.listener.visitors === 1);
    const gone = new Promise((resolve) => silent.once('close', resolve));
    const connection = await amqplib.connect(url(house), { ca });
    await gone;
    await until(() => house.listener.visitors === 0);
    // A client that has logged in makes room for nobody.
    expect(await lasting(house, Buffer.alloc(0))).toBeLessThan(5_000);
    await connection.close();
  });

  it('leave no trace, whatever they say', async () => {
    const house = await open();
    const words = [
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      Buffer.from('AMQP\0\0\x09\x01', 'latin1'),
      Buffer.alloc(600, 1),
    ];
    for (let round = 0; round < 100; round++) {
      await Promise.all(words.map((bytes) => lasting(house, bytes)));
      // Or gone before the server has seen them.
      const scan = connect(house.port, '127.0.0.1').on('error', () => undefined);
      scan.once('connect', () => (round % 2 === 0 ? scan.resetAndDestroy() : scan.end()));
      await new Promise((resolve) => scan.once('close', resolve));
    }
    await until(() => house.listener.visitors === 0);
    expect(house.listener.connections.size).toBe(0);
    expect(await greeting(house, {})).toBe('method 10.10 over TLSv1.3');
  });
});
