import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AmqpChannel, Delivery } from '../../libs/dlx-broker/src/amqp/client/api.js';
import type { Address } from '../../libs/dlx-broker/src/amqp/client/dial.js';
import { openPublisher } from '../../libs/dlx-broker/src/amqp/client/publisher.js';
import {
  array,
  type Field,
  int32,
  int64,
  longstr,
  type Properties,
  table,
} from '../../libs/dlx-broker/src/engine/message/index.js';
import { ByteWriter, writeTable } from '../../libs/dlx-broker/src/engine/message/index.js';
import { readTolerantly, UndecodableProperties, writeProperties } from '../../libs/dlx-broker/src/amqp/wire/index.js';
import { everyField } from '../amqp/frame-corpus.js';
import { TestAuthority } from '../amqp/certificates.js';
import { type AmqpHouse, amqpHouse } from '../amqp/harness.js';
import { ManagementClient } from '../contract/management-client.js';
import { asked, channelOf, connected, type Dialed, failureOf } from '../harnesses/dialed-client.js';

/*
 * The client against servers over TCP: the listener of this library, and RabbitMQ where AMQP_URL names one. Queues are
 * exclusive, so nothing is left behind.
 */
const real = process.env['AMQP_URL'] || undefined;
const management = process.env['RABBITMQ_MANAGEMENT_URL'];
if (real === undefined) console.warn('SKIPPED: the client against RabbitMQ: no AMQP_URL');

let house: AmqpHouse;
beforeAll(async () => void (house = await amqpHouse()));
afterAll(() => house.close());

const places: readonly [string, () => Address][] = [
  ['dlx-broker', () => ({ host: '127.0.0.1', port: house.port })],
  ...(real === undefined
    ? []
    : [['RabbitMQ', () => ({ host: new URL(real).hostname, port: Number(new URL(real).port) || 5672 })] as const]),
].map(([name, place]) => [name, place] as [string, () => Address]);

const body = Buffer.alloc(1_024, 'x');

/** An exclusive queue with a name from the server. */
async function queueOf(channel: AmqpChannel, args = new Map<string, Field>()): Promise<string> {
  const { queue } = await asked<{ queue: string }>((answer) =>
    channel.declareQueue('', { exclusive: true, arguments: args }, answer),
  );
  return queue;
}

/** Consumes so many messages. */
async function arrived(channel: AmqpChannel, queue: string, count: number): Promise<Delivery[]> {
  const deliveries: Delivery[] = [];
  await new Promise<void>((resolve) => {
    const delivered = (delivery: Delivery): void => {
      if (deliveries.push(delivery) === count) resolve();
    };
    channel.consume(queue, { noAck: true }, { delivered, cancelled: () => undefined }, () => undefined);
  });
  return deliveries;
}

/** Property flags and values on the wire. */
function encoded(properties: Properties): Buffer {
  const to = new ByteWriter(Buffer.alloc(0));
  const { headers, expiration } = properties;
  writeProperties(to, properties, expiration, headers && (() => writeTable(to, headers)));
  return to.written;
}

/** The same as they came. */
const sent = ({ properties }: Delivery): Buffer | undefined => UndecodableProperties.sentBytesOf(properties);

/** Headers of many tables, each in the one before, and the message id `m1`. */
function nested(depth: number): Buffer {
  let inner = Buffer.alloc(4);
  for (let level = 1; level < depth; level++) {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(inner.length + 3);
    inner = Buffer.concat([length, Buffer.from([1, 0x61, 0x46]), inner]);
  }
  return Buffer.concat([Buffer.from([0x20, 0x80]), inner, Buffer.from('\x02m1')]);
}

describe.each(places)('the client and %s', (name, place) => {
  let client: Dialed;
  let channel: AmqpChannel;
  beforeAll(async () => {
    client = await connected(place(), { name: `client.spec ${process.pid}` });
    channel = channelOf(client);
  });
  afterAll(() => client.connection.close());

  it('know each other', () => {
    const { server } = client.connection;
    expect(server?.product).toBe('RabbitMQ');
    expect(server?.properties.has('dlx_broker')).toBe(name === 'dlx-broker');
    expect(server?.can('connection.blocked')).toBe(true);
  });

  it.each([1, 100, 1_000])('confirm 2,000 messages, %i outstanding at a time', async (most) => {
    const publisher = openPublisher(client.connection, { closed: () => undefined });
    const queue = await queueOf(channel);
    let [sentCount, confirmed] = [0, 0];
    await new Promise<void>((resolve, reject) => {
      const next = (): void => {
        while (publisher.outstanding < most && sentCount < 2_000) {
          sentCount++;
          publisher.publish('', queue, { deliveryMode: 2 }, body, true, (failure) => {
            if (failure !== undefined) return reject(failure);
            if (++confirmed === 2_000) resolve();
            next();
          });
        }
      };
      next();
    });
    expect((await asked<{ messageCount: number }>((answer) => channel.checkQueue(queue, answer))).messageCount).toBe(
      2_000,
    );
    publisher.close();
  });

  it('join returns to their publishes, and hear of refusals', async () => {
    const publisher = openPublisher(client.connection, { closed: () => undefined });
    const limited = new Map([
      ['x-max-length', int32(1)],
      ['x-overflow', longstr('reject-publish')],
    ]);
    const queue = await queueOf(channel, limited);
    const publish = (key: string, messageId: string): Promise<Error | undefined> =>
      failureOf((done) => publisher.publish('', key, { messageId }, body, true, done));
    const names = await Promise.all([
      publish(queue, '1'),
      publish('no queue', '2'),
      publish(queue, '3'),
      publish('no queue', '4'),
    ]);
    expect(names.map((failure) => failure?.name)).toEqual([undefined, 'ReturnedError', 'NackedError', 'ReturnedError']);
    publisher.close();
  });

  it('fail what is outstanding on the channel that an error closes, and nothing else', async () => {
    const publisher = openPublisher(client.connection, { closed: () => undefined });
    const queue = await queueOf(channel);
    const publish = (exchange: string): Promise<Error | undefined> =>
      failureOf((done) => publisher.publish(exchange, queue, {}, body, true, done));
    expect(await publish('')).toBeUndefined();
    const failures = await Promise.all([publish('no exchange'), publish('')]);
    const text = "channel closed: NOT_FOUND - no exchange 'no exchange' in vhost '/' (basic.publish)";
    expect(failures.map((failure) => failure?.message)).toEqual([text, text]);
    expect(channel.isOpen).toBe(true);
  });

  it('bring all types of fields, and pass them on, byte for byte', async () => {
    const properties = {
      headers: new Map([...everyField, ['__proto__', table(new Map([['a', int64(5)]]))]]),
      messageId: 'm',
      priority: 3,
    };
    // RabbitMQ 4 sorts them by name (rule H12).
    const isSorting = Number.parseInt(client.connection.server?.version ?? '') >= 4;
    const received = (given: Properties): Buffer =>
      encoded(isSorting ? { ...given, headers: new Map([...given.headers!].toSorted()) } : given);
    const queue = await queueOf(channel);
    channel.publish('', queue, properties, body);
    const [first] = await arrived(channel, queue, 1);
    expect(sent(first as Delivery)).toEqual(received(properties));
    const other = await queueOf(channel);
    channel.publish('', other, (first as Delivery).properties, body);
    const headers = new Map([...(first?.properties.headers ?? []), ['more', int32(1)] as const]);
    channel.publish('', other, { ...first?.properties, headers }, body);
    const [again, more] = await arrived(channel, other, 2);
    expect(sent(again as Delivery)).toEqual(received(properties));
    expect(sent(more as Delivery)).toEqual(received({ ...properties, headers }));
  });

  it('bring an x-death of 1,000 records, also above frame-max', async () => {
    const record = (index: number): Field =>
      table(
        new Map<string, Field>([
          ['count', int64(index)],
          ['reason', longstr('rejected')],
          ['queue', longstr(`queue number ${index}`)],
          ['time', { type: 'T', value: 1_700_000_000 + index }],
          ['exchange', longstr('')],
          ['routing-keys', array([longstr('key')])],
        ]),
      );
    const headers = new Map([['x-death', array(Array.from({ length: 1_000 }, (_, index) => record(index)))]]);
    const bytes = encoded({ headers });
    expect(bytes.length).toBeGreaterThan(93_000);
    const queue = `client.spec.${process.pid}.${name}`;
    await asked((answer) => channel.declareQueue(queue, { autoDelete: true }, answer));
    channel.publish('', queue, { headers }, body);
    const small = await connected(place(), { frameMax: 8_192 });
    const [delivery] = await arrived(channelOf(small), queue, 1);
    expect(sent(delivery as Delivery)?.equals(bytes)).toBe(true);
    expect(delivery?.isUndecodable).toBe(false);
    const refused = channelOf(small).publish('', queue, (delivery as Delivery).properties, body);
    expect(refused?.message).toMatch(/do not fit into a frame of the server, which takes 8172/);
    small.connection.close();
    await small.ended;
  });

  it('bring headers 5,000 deep, and pass them on as they came, where the server takes them', async () => {
    const bytes = nested(5_000);
    const [queue, other] = [await queueOf(channel), await queueOf(channel)];
    const sending = await connected(place());
    channelOf(sending).publish('', other, readTolerantly(Buffer.from(bytes)), body);
    if (name === 'dlx-broker') {
      // Our listener takes 64 levels.
      expect((await sending.ended)?.message).toMatch('INTERNAL_ERROR');
      return;
    }
    const client = await connected(place());
    sending.connection.close();
    const queueOfBoth = `client.spec.${process.pid}.deep`;
    await asked((answer) => channel.declareQueue(queueOfBoth, { autoDelete: true }, answer));
    const sender = channelOf(client);
    sender.publish('', queueOfBoth, readTolerantly(Buffer.from(bytes)), body);
    const [delivery] = await arrived(channel, queueOfBoth, 1);
    expect([delivery?.isUndecodable, delivery?.properties.headers, delivery?.properties.messageId]).toEqual([
      true,
      undefined,
      'm1',
    ]);
    expect(sent(delivery as Delivery)?.equals(bytes)).toBe(true);
    channel.publish('', queue, (delivery as Delivery).properties, (delivery as Delivery).body);
    const [passed] = await arrived(channel, queue, 1);
    expect(sent(passed as Delivery)?.equals(bytes)).toBe(true);
    client.connection.close();
  });

  it('refuse a wrong password and a wrong virtual host by name', async () => {
    const { host, port } = place();
    const wrong = { credentials: { user: 'guest', password: 'wrong-secret' } };
    const login: Error = await connected(place(), wrong).catch((error) => error);
    expect(login).toMatchObject({
      name: 'ConnectionFailedError',
      reason: 'credentials',
      code: 403,
      place: `${host}:${port}`,
    });
    expect(login.message).toContain("as user 'guest'");
    expect(login.message).not.toContain('wrong-secret');
    const nowhere: Error = await connected(place(), { virtualHost: 'nowhere' }).catch((error) => error);
    expect(nowhere).toMatchObject({ reason: 'virtual host', code: 530, virtualHost: 'nowhere' });
  });

  it('end with the reason when an operator closes the connection', { timeout: 30_000 }, async () => {
    const own = await connected(place(), { name: `killed ${process.pid}` });
    const publisher = openPublisher(own.connection, { closed: () => undefined });
    if (name === 'dlx-broker') {
      const { AmqpError } = await import('../../libs/dlx-broker/src/engine/broker/index.js');
      const named = [...house.listener.connections].filter(({ client: { connectionName } }) =>
        connectionName?.startsWith('killed'),
      );
      for (const connection of named) connection.force(new AmqpError('CONNECTION_FORCED', 'killed'));
    } else if (management === undefined) own.connection.destroy();
    else await kill(new ManagementClient(management, 'guest', 'guest'), `killed ${process.pid}`);
    const lost = await own.ended;
    if (name === 'dlx-broker' || management !== undefined) {
      expect(lost).toMatchObject({ name: 'ConnectionClosedError', reason: 'server', code: 320 });
      expect(lost?.message).toMatch(/CONNECTION_FORCED - (killed|Closed via management plugin)/);
    }
    const failure = await failureOf((done) => publisher.publish('', 'q', {}, body, true, done));
    expect(failure?.name).toBe('ConnectionClosedError');
  });
});

/** Closes a connection by the name that it gave itself: the list of connections is some seconds late. */
async function kill(api: ManagementClient, name: string): Promise<void> {
  interface Listed {
    readonly name: string;
    readonly client_properties?: { readonly connection_name?: string };
  }
  for (;;) {
    const all = (await api.call('GET', '/connections')) as Listed[];
    const found = all.find(({ client_properties }) => client_properties?.connection_name === name);
    if (found !== undefined) {
      await api.call('DELETE', `/connections/${encodeURIComponent(found.name)}`, { reason: 'killed' });
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

describe('a server that cannot be reached', () => {
  it('is named, with the reason', async () => {
    const failure = await connected({ host: '127.0.0.1', port: 1 }).catch((error) => error);
    expect(failure).toMatchObject({ name: 'ConnectionFailedError', reason: 'unreachable', place: '127.0.0.1:1' });
    expect(failure.message).toContain('ECONNREFUSED');
  });

  it.each([
    ['a port that cannot be', { port: 70_000 }, 'unreachable', '70000'],
    ['a certificate that is none', { port: 1, tls: { ca: 'no certificate', cert: 'none', key: 'none' } }, 'tls', 'PEM'],
  ] as const)('%s is named', async (_, address, reason, text) => {
    const failure = await connected({ host: '127.0.0.1', ...address }).catch((error) => error);
    expect(failure).toMatchObject({ name: 'ConnectionFailedError', reason });
    expect(failure.message).toContain(text);
  });

  it.each([
    ['says nothing', () => undefined, 'timeout', 'no answer within 300 ms'],
    ['hangs up', (socket: { destroy(): void }) => socket.destroy(), 'refused', 'before it said anything'],
    [
      'speaks HTTP',
      (socket: { end(text: string): void }) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
      'not AMQP',
      '"HTTP/1.1 400 Bad Request": name its port for AMQP, not that for HTTP',
    ],
  ] as const)('%s: it is named, with the reason', async (_, act, reason, text) => {
    const server = createServer((socket) => void act(socket.on('error', () => undefined)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const failure = await connected({ host: '127.0.0.1', port }, { handshakeTimeout: 300 }).catch((error) => error);
    expect(failure).toMatchObject({ name: 'ConnectionFailedError', reason });
    expect(failure.message).toContain(text);
    server.close();
  });
});

describe('TLS', () => {
  const authority = new TestAuthority('test CA');
  const stranger = new TestAuthority('another CA');
  const identity = authority.issue('/CN=localhost');
  let secure: AmqpHouse;
  beforeAll(async () => void (secure = await amqpHouse({ tls: identity })));
  afterAll(async () => {
    await secure.close();
    for (const one of [authority, stranger]) one.forget();
  });

  it('is spoken with a server whose certificate is trusted', async () => {
    const client = await connected({ host: 'localhost', port: secure.port, tls: { ca: authority.ca } });
    const queue = await queueOf(channelOf(client));
    expect(queue).toMatch(/^amq\.gen-/);
    client.connection.close();
    expect(await client.ended).toBeUndefined();
  });

  it.each([
    ['is not trusted', () => ({ port: secure.port, tls: { ca: stranger.ca } }), 'tls', /certificate/],
    [
      'is for another host',
      () => ({ port: secure.port, tls: { ca: authority.ca, servername: 'other.example' } }),
      'tls',
      /altnames/,
    ],
    [
      'is not there, for it has no TLS',
      () => ({ port: house.port, tls: {} }),
      'tls',
      /TLS failed: .*[^\n]; .* use amqp,/,
    ],
    ['was not asked for', () => ({ port: secure.port }), /refused|not AMQP/, /TLS/],
  ] as const)('fails where the certificate %s', async (_, address, reason, text) => {
    const failure = await connected({ host: 'localhost', ...address() } as Address, { handshakeTimeout: 3_000 }).catch(
      (error) => error,
    );
    expect(failure.reason).toMatch(reason);
    expect(failure.message).toMatch(text);
  });
});
