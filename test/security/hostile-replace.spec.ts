import { afterEach, describe, expect, it } from 'vitest';
import type { Permissions } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { longstr, type Properties } from '../../libs/dlx-broker/src/engine/message/index.js';
import { hashPassword } from '../../libs/dlx-broker/src/platform/logins/index.js';
import { type AmqpHouse, amqpHouse, until } from '../amqp/harness.js';
import type { WireChannel } from '../contract/wire/channel.js';
import { WireConnection } from '../contract/wire/connection.js';
import { writeFrame } from '../contract/wire/frames.js';
import { writeMethod } from '../contract/wire/methods.js';
import { writeContentHeader } from '../contract/wire/properties.js';
import { memoryInUse } from './memory.js';

const opened: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

const everything: Permissions = { configure: '.*', write: '.*', read: '.*' };

/** A server with a message in queue `work`, and a client that has fetched it. */
async function arrange(permissions = everything) {
  const house = await amqpHouse();
  opened.push(house);
  const { access } = house.broker;
  access.setUser('mallory', { passwordHash: hashPassword('mallory') });
  access.setPermissions('mallory', '/', everything);
  const wire = { ...house.wire, user: 'mallory', password: 'mallory' };
  const connection = await WireConnection.open(wire);
  opened.push({ close: () => connection.drop() });
  const channel = await connection.openChannel(1);
  await channel.call('queue.declare', { queue: 'work' });
  await channel.call('queue.declare', { queue: 'next' });
  channel.publish({ exchange: '', key: 'work' }, {}, Buffer.from('old'));
  await channel.call('confirm.select', {});
  const { args } = await channel.call('basic.get', { queue: 'work' });
  access.setPermissions('mallory', '/', permissions);
  const events: string[] = [];
  channel.listener = ({ name, args: { code }, body }) =>
    void events.push(name === 'basic.return' ? `return ${String(code)}, ${body?.length} bytes` : name);
  return { house, wire, connection, channel, events, tag: args['deliveryTag'] as number };
}

/** The ready messages of the queues, after the client has gone. */
async function left({ listener, broker }: AmqpHouse, { connection }: WireChannel): Promise<object> {
  connection.drop();
  await until(() => listener.connections.size === 0);
  return Object.fromEntries([...broker.virtualHost('/').queues].map(([name, { length }]) => [name, length]));
}

/** The frames of a publish. @param size bytes of its body */
const publish = (key: string, size: number, properties: Properties = {}, args: object = {}): Buffer =>
  Buffer.concat([
    writeFrame(1, 1, writeMethod('basic.publish', { exchange: '', key, ...args })),
    writeFrame(2, 1, writeContentHeader(properties, size)),
    ...Array.from({ length: size / piece }, () => writeFrame(3, 1, Buffer.alloc(piece, 0x61))),
  ]);

const piece = 10_000;

/** Waits until the server has read everything so far. */
const answered = (channel: WireChannel): Promise<unknown> =>
  channel.call('basic.qos', { prefetchCount: 9 }).catch(() => undefined);

const both = { work: 1, next: 0 };

describe('rule K14: basic.replace of a hostile client', () => {
  it.each([0, 2, 2 ** 53, -1, -(2 ** 63)])(
    'of a delivery that it does not have (%s) closes the channel',
    async (tag) => {
      const { house, channel } = await arrange();
      channel.send('basic.replace', { deliveryTag: tag });
      await answered(channel);
      expect(channel.failure).toMatchObject({ code: 406, classId: 60, methodId: 200 });
      expect(await left(house, channel)).toEqual(both);
    },
  );

  it.each(['basic.ack', 'basic.nack'])(
    'of a delivery that is settled (%s) before its message comes',
    async (method) => {
      const { house, connection, channel, tag } = await arrange();
      channel.send('basic.replace', { deliveryTag: tag });
      channel.send(method, { deliveryTag: tag, requeue: true });
      connection.write(publish('next', 0));
      await answered(channel);
      expect(channel.failure).toMatchObject({ code: 406, classId: 60, methodId: 40 });
      expect(await left(house, channel)).toEqual({ ...both, work: method === 'basic.ack' ? 0 : 1 });
    },
  );

  it('of the same delivery twice closes the channel, and the first message stays', async () => {
    const { house, connection, channel, tag } = await arrange();
    for (const _ of [1, 2]) {
      channel.send('basic.replace', { deliveryTag: tag });
      connection.write(publish('next', 0));
    }
    await answered(channel);
    expect(channel.failure).toMatchObject({ code: 406, classId: 60, methodId: 200 });
    expect(await left(house, channel)).toEqual({ work: 0, next: 1 });
  });

  it('before the message of the last one closes the channel: neither is forgotten', async () => {
    const { house, channel, tag } = await arrange();
    channel.send('basic.replace', { deliveryTag: tag });
    channel.send('basic.replace', { deliveryTag: tag });
    await answered(channel);
    expect(channel.failure?.text).toBe('PRECONDITION_FAILED - no message has replaced delivery 1 yet');
    expect(await left(house, channel)).toEqual(both);
  });

  it.each(['tx.select', 'basic.qos'])(
    'on a channel without confirms (%s) is refused before a body comes',
    async (mode) => {
      const { house, connection } = await arrange();
      const channel = await connection.openChannel(2);
      await channel.call(mode, {});
      channel.publish({ exchange: '', key: 'next' }, {}, Buffer.from('a'));
      if (mode === 'tx.select') await channel.call('tx.commit', {});
      const { args } = await channel.call('basic.get', { queue: 'next' });
      channel.send('basic.replace', args);
      await answered(channel);
      expect(channel.failure).toMatchObject({
        code: 406,
        text: 'PRECONDITION_FAILED - channel is not in confirm mode',
      });
      expect(await left(house, channel)).toEqual({ work: 1, next: 1 });
    },
  );

  it.each([0, piece * 20])('rule K5: with immediate is not implemented (%d bytes)', async (size) => {
    const { house, connection, channel, tag } = await arrange();
    channel.send('basic.replace', { deliveryTag: tag });
    connection.write(publish('next', size, {}, { immediate: true }));
    expect((await connection.ended).code).toBe(540);
    expect(await left(house, channel)).toEqual(both);
  });

  it.each([
    ['in the name of another user', { userId: 'guest' }, 'user_id'],
    ['with the reply address of no consumer', { replyTo: 'amq.rabbitmq.reply-to' }, 'fast reply consumer'],
    ['with an expiration that is no number', { expiration: 'x' }, 'expiration'],
  ])('%s closes the channel', async (_, properties, text) => {
    const { house, connection, channel, tag } = await arrange();
    channel.send('basic.replace', { deliveryTag: tag });
    connection.write(publish('next', 0, properties));
    await answered(channel);
    expect(channel.failure?.code).toBe(406);
    expect(channel.failure?.text).toContain(text);
    expect(await left(house, channel)).toEqual(both);
  });

  it.each([0, 1, 20, 60, 100, 8_000])('cut off %d bytes behind its method leaves the delivery', async (bytes) => {
    const { house, connection, channel, tag } = await arrange();
    channel.send('basic.replace', { deliveryTag: tag });
    connection.write(publish('next', piece).subarray(0, bytes));
    connection.socket.end(); // behind all bytes
    await until(() => house.listener.connections.size === 0);
    expect(await left(house, channel)).toEqual(both);
  });

  it('of a delivery in another virtual host closes the channel', async () => {
    const { house, wire, channel, tag } = await arrange();
    house.broker.addVirtualHost('other');
    house.broker.access.setPermissions('mallory', 'other', everything);
    const there = await WireConnection.open({ ...wire, vhost: 'other' });
    opened.push({ close: () => there.drop() });
    const other = await there.openChannel();
    await other.call('confirm.select', {});
    other.send('basic.replace', { deliveryTag: tag });
    await answered(other);
    expect(other.failure).toMatchObject({ code: 406, text: 'PRECONDITION_FAILED - unknown delivery tag 1' });
    there.drop();
    expect(await left(house, channel)).toEqual(both);
  });

  it('larger than a message may be closes the channel at its header', async () => {
    const { house, connection, channel, tag } = await arrange();
    channel.send('basic.replace', { deliveryTag: tag });
    connection.write(
      Buffer.concat([publish('next', 0).subarray(0, -22), writeFrame(2, 1, writeContentHeader({}, 2 ** 40))]),
    );
    await answered(channel);
    expect(channel.failure?.code).toBe(406);
    expect(await left(house, channel)).toEqual(both);
  });
});

describe('rule K14: basic.replace without the right to write', () => {
  const reader: Permissions = { configure: '^$', write: '^$', read: '.*' };

  it('of 20 MB is returned and nacked, and no byte of its body is kept', async () => {
    const { house, connection, channel, events, tag } = await arrange(reader);
    const before = memoryInUse();
    const bytes = publish('next', 20_000_000);
    const given = memoryInUse() - before;
    channel.send('basic.replace', { deliveryTag: tag });
    for (let at = 0; at < bytes.length; at += 200_000) {
      connection.write(bytes.subarray(at, Math.min(at + 200_000, bytes.length - 1)));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => [...house.listener.connections].some(({ socket }) => socket.bytesRead >= bytes.length - 1));
    expect([...house.listener.connections].map(({ unfinished }) => unfinished.bytes)).toEqual([0]);
    expect(memoryInUse() - before - given).toBeLessThan(8_000_000);
    expect(events).toEqual([]);
    connection.write(bytes.subarray(-1));
    await answered(channel);
    expect([events, channel.failure]).toEqual([['return 403, 0 bytes', 'basic.nack'], undefined]);
    // The delivery can still be replaced.
    house.broker.access.setPermissions('mallory', '/', everything);
    channel.send('basic.replace', { deliveryTag: tag });
    connection.write(publish('next', piece));
    await answered(channel);
    expect(events.slice(2)).toEqual(['basic.ack']);
    expect(await left(house, channel)).toEqual({ work: 0, next: 1 });
  });

  it('in one frame is returned whole', async () => {
    const { house, connection, channel, events, tag } = await arrange(reader);
    channel.send('basic.replace', { deliveryTag: tag });
    connection.write(publish('next', piece));
    await answered(channel);
    expect(events).toEqual([`return 403, ${piece} bytes`, 'basic.ack']);
    expect(await left(house, channel)).toEqual(both);
  });

  it.each([1, 2])('under the name of another user, in %d frames, is returned as well', async (frames) => {
    const { house, connection, channel, events, tag } = await arrange(reader);
    channel.send('basic.replace', { deliveryTag: tag });
    connection.write(publish('next', frames * piece, { userId: 'guest' }));
    await answered(channel);
    expect(events[0]).toMatch('return 403');
    expect([channel.failure, await left(house, channel)]).toEqual([undefined, both]);
  });

  describe('that names where the delivery was published', () => {
    type Claim = readonly [exchange: string, key: string, failedIn?: string];

    /** Replaces a delivery that was published to exchange `orders`. @returns the recorded origin of the new message */
    async function originAfter(claim: Claim, write: string) {
      const { house, replace } = await delivered();
      house.broker.access.setPermissions('mallory', '/', { ...everything, write });
      return replace('work', 'next', claim);
    }

    async function delivered() {
      const { house, channel, tag } = await arrange();
      await channel.call('exchange.declare', { exchange: 'orders', type: 'topic' });
      await channel.call('queue.bind', { queue: 'work', exchange: 'orders', key: '#' });
      channel.send('basic.ack', { deliveryTag: tag });
      channel.publish({ exchange: 'orders', key: 'order.placed' }, {}, Buffer.from('order'));
      await answered(channel);
      /** @returns the recorded origin of the new message */
      async function replace(from: string, to: string, [exchange, key, failedIn]: Claim, mandatory = true) {
        const { args } = await channel.call('basic.get', { queue: from });
        channel.send('basic.replace', { deliveryTag: args['deliveryTag'] as number });
        const headers = new Map([
          ['dlx-first-exchange', longstr(exchange)],
          ['dlx-first-routing-key', longstr(key)],
        ]);
        if (failedIn !== undefined) headers.set('dlx-queue', longstr(failedIn));
        channel.publish({ exchange: '', key: to, mandatory }, { headers }, Buffer.from('forged'));
        await answered(channel);
        expect(channel.failure).toBeUndefined();
        const { queues } = house.broker.virtualHost('/');
        expect(queues.get(from)).toMatchObject({ length: 0, unacked: 0 });
        expect(queues.get(to)).toMatchObject({ length: 1, unacked: 0 });
        return queues.get(to)?.browse({ limit: 1 }).entries[0]?.message.origin;
      }
      return { house, replace };
    }

    it('truly, with a message that is not mandatory: an event with the headers of the delivery', async () => {
      const { replace } = await delivered();
      expect(await replace('work', 'next', ['orders', 'order.placed'], false)).toBeUndefined();
    });

    it.each<[string, Claim, string, object | undefined]>([
      ['truly', ['orders', 'order.placed'], '.*', { exchange: 'orders', routingKey: 'order.placed', queue: 'work' }],
      ['with another exchange', ['amq.topic', 'order.placed'], '.*', undefined],
      ['with another routing key', ['orders', 'order.cancelled'], '.*', undefined],
      ['truly, without the right to publish there', ['orders', 'order.placed'], '^amq\\.default$', undefined],
    ])('%s', async (_, claim, write, origin) => {
      expect(await originAfter(claim, write)).toEqual(origin);
    });

    it.each([
      ['the recorded queue', 'work', 'work'],
      ['a queue that nothing recorded', 'admin', 'next'],
      ['no queue', undefined, 'next'],
    ])('again, with %s', async (_, failedIn, queue) => {
      const { replace } = await delivered();
      const address = ['orders', 'order.placed'] as const;
      await replace('work', 'next', address);
      const origin = await replace('next', 'work', [...address, failedIn]);
      expect(origin).toEqual({ exchange: 'orders', routingKey: 'order.placed', queue });
    });
  });
});
