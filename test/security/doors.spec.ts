import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import amqplib from 'amqplib';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { serve } from '../../libs/dlx-broker/src/server/serve/serve.js';
import { hashPassword } from '../../libs/dlx-broker/src/platform/logins/index.js';
import { TestAuthority } from '../amqp/certificates.js';
import { type AmqpHouse, amqpHouse, until } from '../amqp/harness.js';
import { Talk } from '../amqp/talk.js';
import { WireConnection } from '../contract/wire/connection.js';
import { writeFrame } from '../contract/wire/frames.js';
import { writeMethod } from '../contract/wire/methods.js';
import { writeContentHeader } from '../contract/wire/properties.js';

const authority = new TestAuthority('test CA');
const tls = authority.issue('/CN=localhost');
const { ca } = authority;
afterAll(() => authority.forget());

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** The beginning of a ClientHello, as far as its length. */
const halfAHello = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00]);

function plain(port: number, bytes: Buffer): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  socket.write(bytes);
  ends.push(() => socket.destroy());
  return socket;
}

describe('the TLS port', () => {
  it('counts handshakes that are never finished among the connections that have not logged in', async () => {
    const harness = await amqpHouse({ tls, limits: { pendingLoginsOfAddress: 50 } });
    ends.push(() => harness.close());
    for (let count = 0; count < 200; count++) plain(harness.port, halfAHello);
    await until(() => harness.listener.pendingCount === 200);
    await new Promise((resolve) => setTimeout(resolve, 1_050));
    const begun = performance.now();
    const client = await amqplib.connect(`amqps://guest:guest@localhost:${harness.port}`, { ca });
    expect(performance.now() - begun).toBeLessThan(2_000);
    await until(() => harness.listener.pendingCount <= 50);
    await client.close();
  });

  it('lets no client renegotiate without end, and has no fault by it', async () => {
    const faults: unknown[] = [];
    const harness = await amqpHouse({ tls, log: (fault) => faults.push(fault) });
    ends.push(() => harness.close());
    const options = { port: harness.port, host: 'localhost', ca, maxVersion: 'TLSv1.2' as const };
    const socket = connectTls(options).on('error', () => undefined);
    ends.push(() => socket.destroy());
    await new Promise((resolve) => socket.once('secureConnect', resolve));
    let rounds = 0;
    while (rounds < 50 && !socket.destroyed) {
      const isDone = await new Promise<boolean>((resolve) => {
        socket.once('close', () => resolve(false));
        if (!socket.renegotiate({}, (error) => resolve(error === null))) resolve(false);
      });
      if (!isDone) break;
      rounds++;
    }
    expect(rounds).toBeLessThan(10);
    await until(() => harness.listener.connections.size + harness.listener.pendingCount === 0);
    expect(faults).toEqual([]);
  });

  it('of the HTTP API ends what is no TLS, and answers others', async () => {
    const served = await serve({ amqp: { host: '127.0.0.1', port: 0 }, http: { port: 0, tls } });
    ends.push(() => served.close());
    const port = served.http?.port as number;
    const ended = ['GET / HTTP/1.1\r\n\r\n', 'AMQP\0\0\x09\x01', '\x01'.repeat(600)].map((words) => {
      const socket = plain(port, Buffer.from(words, 'latin1')).resume();
      return new Promise((resolve) => socket.once('close', resolve));
    });
    await Promise.all(ended);
    for (let count = 0; count < 150; count++) plain(port, halfAHello);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const socket = connectTls({ port, host: 'localhost', ca });
    ends.push(() => socket.destroy());
    socket.write('GET /api/whoami HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    const [answer] = await new Promise<[Buffer]>((resolve) => socket.once('data', (bytes: Buffer) => resolve([bytes])));
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 401/);
  });
});

/** Its connection is closed (320), or what it asked for refused (403). */
async function ended(talk: Talk): Promise<boolean> {
  const { name, args } = await talk.method();
  return name === 'connection.close' ? args['code'] === 320 : args['code'] === 403;
}

describe('a user that is deleted, or loses its rights, with a live connection', () => {
  async function live(): Promise<{ readonly harness: AmqpHouse; readonly talk: Talk }> {
    const harness = await amqpHouse({ limits: { silence: 10 } });
    ends.push(() => harness.close());
    const { access } = harness.broker;
    access.setUser('ada', { passwordHash: hashPassword('ada') });
    access.setPermissions('ada', '/', { configure: '.*', write: '.*', read: '.*' });
    const talk = await Talk.open({ ...harness.wire, user: 'ada', password: 'ada' });
    ends.push(() => talk.drop());
    return { harness, talk };
  }

  it('can do nothing from then on, on an open channel or a new one', async () => {
    const { harness, talk } = await live();
    talk.say(1, 'queue.declare', { queue: 'q' });
    expect((await talk.method()).name).toBe('queue.declare-ok');
    harness.broker.access.deleteUser('ada');
    talk.say(1, 'queue.declare', { queue: 'other' });
    expect(await ended(talk)).toBe(true);
    expect([...harness.broker.virtualHost('/').queues.keys()]).toEqual(['q']);
  });

  it('made anew with no permissions has none on the old connection', async () => {
    const { harness, talk } = await live();
    const { access } = harness.broker;
    access.deleteUser('ada');
    access.setUser('ada', { passwordHash: hashPassword('other'), tags: ['administrator'] });
    talk.say(1, 'queue.declare', { queue: 'q' });
    expect(await ended(talk)).toBe(true);
    expect(harness.broker.virtualHost('/').queues.size).toBe(0);
  });

  it('loses the right to write at once', async () => {
    const { harness, talk } = await live();
    harness.broker.access.setPermissions('ada', '/', { configure: '.*', write: '^$', read: '.*' });
    talk.say(1, 'basic.publish', { exchange: '', key: 'q' });
    talk.peer.send(writeFrame(2, 1, writeContentHeader({}, 0)));
    expect((await talk.method()).args['code']).toBe(403);
  });
});

describe('counts of POST /api/queues/{vhost}/{name}/get', () => {
  it('that are no numbers of messages are refused or have no effect, and no message is lost', async () => {
    const served = await serve({ amqp: { host: '127.0.0.1', port: 0 }, http: { port: 0 } });
    ends.push(() => served.close());
    const wire = { host: '127.0.0.1', port: served.amqp.port, vhost: '/', user: 'guest', password: 'guest' };
    const connection = await WireConnection.open(wire);
    const channel = await connection.openChannel();
    await channel.call('queue.declare', { queue: 'q' });
    for (let count = 0; count < 5; count++) channel.publish({ exchange: '', key: 'q' }, {}, Buffer.from('m'));
    await until(() => served.broker.virtualHost('/').queues.get('q')?.length === 5);
    const get = async (count: string): Promise<string> => {
      const response = await fetch(`http://127.0.0.1:${served.http?.port}/api/queues/%2F/q/get`, {
        method: 'POST',
        headers: { authorization: `Basic ${btoa('guest:guest')}`, 'content-type': 'application/json' },
        body: `{"count":${count},"ackmode":"ack_requeue_true","encoding":"auto"}`,
      });
      const said = (await response.json()) as unknown;
      return Array.isArray(said) ? `${response.status} ${said.length}` : `${response.status} ${JSON.stringify(said)}`;
    };
    const taken = { 0: 0, '-0': 0, null: 0, 3: 3, '"3"': 3, 2.5: 2, '-1': 5, '-5': 5, 100: 5 };
    for (const [count, messages] of Object.entries(taken)) expect(await get(count), count).toBe(`200 ${messages}`);
    const refused = [
      '1e300',
      '1e400',
      '9007199254740993',
      '"x"',
      '""',
      '"1e3"',
      'true',
      '[]',
      '{}',
      '18446744073709551616',
    ];
    for (const count of refused) expect(await get(count), count).toMatch(/^400 .*not_integer/);
    expect(served.broker.virtualHost('/').queues.get('q')?.length).toBe(5);
    await connection.close();
  });
});

describe('header tables nested as deep as a frame allows', () => {
  it.each([10, 30, 64, 65, 100, 1_000, 10_000])(
    '%i levels: delivered, or refused with an AMQP error beyond 64',
    async (depth) => {
      const faults: unknown[] = [];
      const harness = await amqpHouse({ log: (fault) => faults.push(fault), limits: { silence: 10 } });
      ends.push(() => harness.close());
      const talk = await Talk.open(harness.wire);
      ends.push(() => talk.drop());
      talk.say(1, 'queue.declare', { queue: 'q' });
      await talk.method();
      talk.peer.send(writeFrame(1, 1, writeMethod('basic.publish', { exchange: '', key: 'q' })));
      let bytes = Buffer.from([1, 0x74, 0x74, 1]);
      for (let level = 1; level < depth; level++) {
        const head = Buffer.from([1, 0x74, 0x46, 0, 0, 0, 0]);
        head.writeUInt32BE(bytes.length, 3);
        bytes = Buffer.concat([head, bytes]);
      }
      const header = Buffer.alloc(18);
      header.writeUInt16BE(60, 0);
      header.writeUInt16BE(0x2000, 12);
      header.writeUInt32BE(bytes.length, 14);
      talk.peer.send(writeFrame(2, 1, Buffer.concat([header, bytes])));
      talk.say(1, 'basic.get', { queue: 'q', noAck: true });
      const { name, args } = await talk.method();
      if (depth <= 64) expect(name).toBe('basic.get-ok');
      else expect([name, args['code']]).toEqual(['connection.close', 541]);
      expect(faults).toEqual([]);
    },
  );
});
