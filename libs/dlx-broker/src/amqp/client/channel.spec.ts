import { describe, expect, it } from 'vitest';
import { LinkedServer, settled } from '../../../../../test/harnesses/amqp-link.js';
import { noting, recorded, shown, silent } from '../../../../../test/harnesses/linked-client.js';
import { int32, table } from '../../engine/message/index.js';
import type { ConsumerEvents, Delivery } from './api.js';

const nothing = Buffer.alloc(0);
const text = (body: Uint8Array): string => Buffer.from(body).toString();

/** A connection with a channel, and what the channel reported. */
async function opened() {
  const server = new LinkedServer();
  const link = server.link();
  const client = recorded(link, server.runtime);
  await settled(link);
  const seen: string[] = [];
  const channel = client.connection.openChannel({ closed: noting(seen, 'closed') }, noting(seen, 'open'));
  await settled(link);
  const settle = (): Promise<void> => settled(link);
  return { server, link, ...client, channel, seen, settle };
}

/** A consumer that keeps its deliveries. */
function keeping(): { readonly events: ConsumerEvents; readonly deliveries: Delivery[]; readonly cancels: number[] } {
  const deliveries: Delivery[] = [];
  const cancels: number[] = [];
  const events = {
    delivered: (delivery: Delivery) => void deliveries.push(delivery),
    cancelled: () => void cancels.push(1),
  };
  return { events, deliveries, cancels };
}

describe('methods of a channel', () => {
  it('are answered in the order in which they were sent, all in one write', async () => {
    const { channel, seen, settle, link } = await opened();
    link.writes.length = 0;
    channel.declareQueue(
      'q',
      { durable: true, arguments: new Map([['x-max-length', int32(5)]]) },
      noting(seen, 'declare'),
    );
    channel.checkQueue('q', noting(seen, 'check'));
    channel.declareExchange('x', 'fanout', { durable: true }, noting(seen, 'exchange'));
    channel.checkExchange('x', noting(seen, 'check x'));
    channel.declareExchange('y', 'topic', {}, noting(seen, 'y'));
    channel.bindQueue('q', 'x', '', undefined, noting(seen, 'bind'));
    channel.bindExchange('x', 'y', '#', new Map([['a', table(new Map())]]), noting(seen, 'bind x'));
    channel.publish('y', 'k', {}, Buffer.from('1'));
    channel.qos(7, noting(seen, 'qos'));
    channel.get('q', { noAck: true }, (_, message) => {
      seen.push(
        `got ${message?.exchange} ${message?.routingKey} ${message?.messageCount} ${text(message?.body ?? nothing)}`,
      );
    });
    channel.get('q', {}, noting(seen, 'get'));
    channel.publish('', 'q', {}, Buffer.from('2'));
    channel.deleteQueue('q', {}, noting(seen, 'delete'));
    channel.deleteExchange('x', { ifUnused: true }, noting(seen, 'delete x'));
    await settle();
    expect(link.writes).toHaveLength(1);
    expect(seen).toEqual([
      'open: done',
      'declare: {"queue":"q","messageCount":0,"consumerCount":0}',
      'check: {"queue":"q","messageCount":0,"consumerCount":0}',
      'exchange: done',
      'check x: done',
      'y: done',
      'bind: done',
      'bind x: done',
      'qos: done',
      'got y k 0 1',
      'get: done',
      'delete: 1',
      'delete x: done',
    ]);
  });

  it('fail with the channel, by code, text and method, and no other channel is touched (404)', async () => {
    const { channel, connection, seen, settle, events } = await opened();
    const other = connection.openChannel(silent);
    channel.checkQueue('none', noting(seen, 'check'));
    channel.qos(1, noting(seen, 'qos'));
    other.declareQueue('q', {}, noting(seen, 'other'));
    await settle();
    const failure = "ChannelClosedError: channel closed: NOT_FOUND - no queue 'none' in vhost '/' (queue.declare)";
    expect(seen.slice(1)).toEqual([
      `check: ${failure}`,
      `qos: ${failure}`,
      `closed: ${failure}`,
      'other: {"queue":"q","messageCount":0,"consumerCount":0}',
    ]);
    expect([channel.isOpen, other.isOpen]).toEqual([false, true]);
    expect(events).toEqual(['opened RabbitMQ']);
    channel.close(noting(seen, 'close'));
    expect(seen.at(-1)).toBe(`close: ${failure}`);
    expect(connection.openChannel(silent).number).toBe(channel.number);
  });

  it.each([
    [
      'a queue name',
      "the queue name 'qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq...' is longer than 255 bytes",
      'q'.repeat(256),
      new Map(),
    ],
    [
      'an argument',
      "header 'x' cannot be 1.5: it is an integer from -2147483648 to 2147483647",
      'q',
      new Map([['x', int32(1.5)]]),
    ],
  ] as const)('with %s that does not fit on the wire fail alone', async (_, expected, queue, args) => {
    const { channel, seen, settle } = await opened();
    channel.declareQueue(queue, { arguments: args }, noting(seen, 'declare'));
    expect(seen.at(-1)).toBe(`declare: UnsendableError: ${expected}`);
    channel.qos(1, noting(seen, 'qos'));
    await settle();
    expect(seen.at(-1)).toBe('qos: done');
  });

  it('end with a close of the client, behind those that were sent before', async () => {
    const { channel, seen, settle } = await opened();
    channel.qos(1, noting(seen, 'qos'));
    channel.close(noting(seen, 'close'));
    channel.qos(2, noting(seen, 'late'));
    await settle();
    expect(seen.slice(1)).toEqual([
      'late: UnsendableError: the channel is being closed',
      'qos: done',
      'closed: done',
      'close: done',
    ]);
  });

  it('end when both sides close at a time, and the connection goes on', async () => {
    const { channel, connection, seen, settle, events } = await opened();
    channel.checkQueue('none', noting(seen, 'check'));
    channel.close(noting(seen, 'close'));
    await settle();
    expect(seen.slice(1)).toEqual([
      'check: ChannelClosedError: channel closed: the client closed it',
      'closed: done',
      'close: done',
    ]);
    const again = connection.openChannel(silent, noting(seen, 'again'));
    await settle();
    expect([again.number, seen.at(-1), events]).toEqual([channel.number, 'again: done', ['opened RabbitMQ']]);
  });

  it('use as many channels as the server allows, and their numbers again', async () => {
    const server = new LinkedServer({ channels: 2 });
    const link = server.link();
    const { connection } = recorded(link, server.runtime);
    await settled(link);
    const seen: string[] = [];
    const [one] = [connection.openChannel(silent), connection.openChannel(silent)];
    connection.openChannel({ closed: noting(seen, 'closed') }, noting(seen, 'open'));
    const text = 'UnsendableError: all 2 channels that the server allows are open';
    expect(seen).toEqual([`open: ${text}`]);
    await settled(link);
    expect(seen).toEqual([`open: ${text}`, `closed: ${text}`]);
    one.close();
    await settled(link);
    expect(connection.openChannel(silent).number).toBe(1);
  });
});

describe('a consumer', () => {
  it('gets deliveries with all they have, and settles them in one write a turn', async () => {
    const { channel, connection, seen, settle, link } = await opened();
    const { events, deliveries } = keeping();
    channel.declareQueue('q', {}, () => undefined);
    expect(channel.consume('q', {}, events, noting(seen, 'consume'))).toBe('c1');
    const headers = new Map([['__proto__', int32(1)]]);
    for (let index = 0; index < 30; index++)
      channel.publish('', 'q', { headers, messageId: `m${index}` }, Buffer.from('x'));
    await settle();
    expect(seen.at(-1)).toBe('consume: "c1"');
    expect(deliveries.map(({ properties }) => properties.messageId)).toEqual(deliveries.map((_, index) => `m${index}`));
    const [first] = deliveries;
    expect(first).toMatchObject({
      consumerTag: 'c1',
      deliveryTag: 1,
      redelivered: false,
      exchange: '',
      routingKey: 'q',
    });
    expect(first?.properties.headers?.get('__proto__')).toEqual(int32(1));
    link.writes.length = 0;
    for (const { deliveryTag } of deliveries.slice(0, 10)) channel.ack(deliveryTag);
    channel.nack(20, { multiple: true });
    channel.reject(21, false);
    channel.nack(22, { requeue: true });
    await settle();
    expect(link.writes).toHaveLength(1);
    expect(deliveries).toHaveLength(31);
    expect(deliveries.at(-1)).toMatchObject({ redelivered: true, deliveryTag: 31 });
    channel.close();
    connection.openChannel(silent).checkQueue('q', noting(seen, 'left'));
    await settle();
    expect(seen.at(-1)).toBe('left: {"queue":"q","messageCount":9,"consumerCount":0}');
  });

  it('settles at the end of a turn what its user asks for then, also if the connection closes in that turn', async () => {
    const { channel, connection, settle, server, link } = await opened();
    const { events, deliveries } = keeping();
    const queue = () => server.broker.virtualHosts.get('/')!.queues.get('q')!;
    channel.declareQueue('q', {}, () => undefined);
    channel.consume('q', {}, events, () => undefined);
    for (let index = 0; index < 3; index++) channel.publish('', 'q', {}, Buffer.from('x'));
    await settle();
    link.writes.length = 0;
    connection.atEndOfTurn(() => channel.ack(1));
    connection.atEndOfTurn(() => channel.ack(2));
    expect(link.writes).toEqual([]);
    await settle();
    expect([link.writes.length, deliveries.length, queue().bytesUnacked]).toEqual([1, 3, 1]);
    connection.atEndOfTurn(() => channel.ack(3));
    connection.close();
    await settle();
    expect([queue().length, queue().bytesUnacked]).toEqual([0, 0]);
  });

  it('settles it before its channel is closed', async () => {
    const { channel, connection, settle, server } = await opened();
    const queue = () => server.broker.virtualHosts.get('/')!.queues.get('q')!;
    channel.declareQueue('q', {}, () => undefined);
    channel.consume('q', {}, keeping().events, () => undefined);
    channel.publish('', 'q', {}, Buffer.from('x'));
    await settle();
    connection.atEndOfTurn(() => channel.ack(1));
    channel.close();
    await settle();
    expect([queue().length, queue().bytesUnacked]).toEqual([0, 0]);
  });

  it('settles it before the server answers what is asked after it, also on another channel', async () => {
    const { channel, connection, settle, seen } = await opened();
    const { events, deliveries } = keeping();
    const other = connection.openChannel(silent);
    channel.declareQueue('q', {}, () => undefined);
    channel.qos(1, () => undefined);
    channel.consume('q', {}, events, () => undefined);
    for (let index = 0; index < 3; index++) channel.publish('', 'q', {}, Buffer.from('x'));
    await settle();
    connection.atEndOfTurn(() => channel.ack(1));
    other.checkQueue('q', noting(seen, 'open before'));
    await settle();
    connection.atEndOfTurn(() => channel.ack(2));
    connection.openChannel(silent).checkQueue('q', noting(seen, 'opened after'));
    await settle();
    expect(seen.slice(-2)).toEqual([
      'open before: {"queue":"q","messageCount":1,"consumerCount":1}',
      'opened after: {"queue":"q","messageCount":0,"consumerCount":1}',
    ]);
    expect(deliveries).toHaveLength(3);
  });

  it('gets a body of many frames, and an empty one', async () => {
    const { channel, settle } = await opened();
    const { events, deliveries } = keeping();
    channel.declareQueue('q', {}, () => undefined);
    channel.consume('q', { noAck: true }, events, () => undefined);
    const large = Buffer.alloc(1_000_000, 'abcdefg');
    channel.publish('', 'q', {}, large);
    channel.publish('', 'q', {}, nothing);
    await settle();
    expect(deliveries.map(({ body }) => body.length)).toEqual([1_000_000, 0]);
    expect(deliveries[0]?.body.equals(large)).toBe(true);
  });

  it('hears that the server cancelled it, and no more after its own cancel', async () => {
    const { channel, seen, settle } = await opened();
    const [gone, left] = [keeping(), keeping()];
    channel.declareQueue('gone', {}, () => undefined);
    channel.declareQueue('left', {}, () => undefined);
    channel.consume('gone', {}, gone.events, () => undefined);
    channel.consume('left', { consumerTag: 'mine' }, left.events, noting(seen, 'consume'));
    channel.consume('left', { consumerTag: 'mine' }, left.events, noting(seen, 'twice'));
    channel.deleteQueue('gone', {}, () => undefined);
    channel.cancel('mine', noting(seen, 'cancel'));
    await settle();
    channel.publish('', 'left', {}, nothing);
    await settle();
    expect([gone.cancels, left.cancels, left.deliveries]).toEqual([[1], [], []]);
    expect(seen.slice(1)).toEqual([
      "twice: UnsendableError: the channel has a consumer 'mine' already",
      'consume: "mine"',
      'cancel: done',
    ]);
  });
});

it('what a callback throws goes to one place, and everything else goes on', async () => {
  const { channel, seen, settle, faults, events, connection } = await opened();
  const fail = (): never => {
    throw new Error('mine');
  };
  channel.declareQueue('q', {}, fail);
  channel.consume('q', {}, { delivered: fail, cancelled: fail }, fail);
  channel.publish('', 'q', {}, nothing);
  channel.deleteQueue('q', {}, fail);
  const other = connection.openChannel({ closed: fail }, fail);
  await settle();
  other.checkQueue('none', fail);
  await settle();
  channel.qos(1, noting(seen, 'qos'));
  await settle();
  expect(faults.map((fault) => shown(fault as Error))).toEqual(Array.from({ length: 8 }, () => 'Error: mine'));
  expect(seen.at(-1)).toBe('qos: done');
  expect(events).toEqual(['opened RabbitMQ']);
});

it('a channel that cannot be opened refuses everything, and reports its end after the call that asked for it', async () => {
  const { connection, settle } = await opened();
  connection.close();
  const seen: string[] = [];
  const channel = connection.openChannel({ closed: noting(seen, 'closed') }, noting(seen, 'open'));
  channel.qos(1, noting(seen, 'qos'));
  expect(channel.isOpen).toBe(false);
  const atOnce = seen.length;
  await settle();
  expect(seen.map((line) => line.split(' ')[0]!.replace(':', ''))).toEqual(['open', 'qos', 'closed']);
  expect(atOnce).toBe(2);
});
