import { describe, expect, it } from 'vitest';
import { int32, longstr, noProperties } from '../message/index.js';
import { harness } from '../../nest/testing/harness.js';
import { listen, publishText } from '../../../../../test/harnesses/listener.js';

/** The same program was run on RabbitMQ 3.10.8, whose `message_stats` the numbers are. */
function arrange() {
  const { broker, clock } = harness();
  const vhost = broker.virtualHost('/');
  const listener = listen(broker);
  const { channel } = listener;
  channel.declareExchange('dlx', { type: 'fanout' });
  channel.declareQueue('dead');
  channel.bindQueue('dead', 'dlx', '');
  channel.declareExchange('x');
  channel.declareQueue('q', { arguments: new Map([['x-dead-letter-exchange', longstr('dlx')]]) });
  channel.bindQueue('q', 'x', 'k');
  const full = new Map([
    ['x-max-length', int32(1)],
    ['x-overflow', longstr('reject-publish')],
  ]);
  channel.declareQueue('full', { arguments: full });
  return { ...listener, broker, clock, vhost, queue: (name: string) => vhost.queues.get(name)! };
}

function run({ channel, deliveries }: ReturnType<typeof arrange>): void {
  channel.confirmSelect();
  for (let count = 0; count < 5; count++) publishText(channel, 'x', 'k', 'm');
  for (let count = 0; count < 3; count++) publishText(channel, '', 'full', 'm');
  publishText(channel, 'x', 'none', 'm');
  channel.publish('x', 'none', noProperties, new Uint8Array(), { mandatory: true });
  const tag = (): number => channel.get('q')!.deliveryTag;
  channel.ack(tag());
  channel.nack(tag());
  channel.nack(tag(), false, false);
  channel.get('q', { noAck: true });
  channel.get('full', { noAck: true });
  channel.get('full');
  channel.consume('q');
  channel.nack(deliveries[0]!.deliveryTag);
}

const none = { deliver: 0, deliverNoAck: 0, get: 0, getNoAck: 0, getEmpty: 0, redeliver: 0, ack: 0, publish: 0 };

describe("counters have the values of RabbitMQ's message_stats", () => {
  it('of queues: what was published and handed out; dead letters apart', () => {
    const all = arrange();
    run(all);
    const deliveries = { ...none, publish: 5, deliver: 3, get: 3, getNoAck: 1, redeliver: 2, ack: 1 };
    expect(all.queue('q').counters).toMatchObject({ ...deliveries, rejected: 1, expired: 0, maxlen: 0 });
    // Refused ones are published, too.
    expect(all.queue('full').counters).toMatchObject({ ...none, publish: 3, getNoAck: 1, getEmpty: 1 });
    expect(all.queue('dead').counters).toMatchObject({ ...none, deadLettersIn: 1 });
  });

  it('of exchanges: what came in, and how many copies reached queues; no dead letters', () => {
    const all = arrange();
    run(all);
    const told = ['x', 'dlx', ''].map((name) => ({ ...all.vhost.exchanges.get(name)?.counters }));
    expect(told).toEqual([
      { publishIn: 7, publishOut: 5 },
      { publishIn: 0, publishOut: 0 },
      { publishIn: 3, publishOut: 3 },
    ]);
  });

  it('of channels and of the virtual host', () => {
    const all = arrange();
    run(all);
    const totals = {
      publish: 10,
      confirm: 8,
      returnUnroutable: 1,
      dropUnroutable: 1,
      deliver: 3,
      deliverNoAck: 0,
      get: 3,
      getNoAck: 2,
      getEmpty: 1,
      redeliver: 2,
      ack: 1,
    };
    expect(all.channel.counters).toMatchObject(totals);
    expect(all.vhost.counters).toMatchObject({ ...totals, rejected: 1 });
  });

  it('of all there was, when channels, queues and virtual hosts are gone', () => {
    const all = arrange();
    run(all);
    all.broker.addVirtualHost('v');
    const { channel } = listen(all.broker, { vhost: 'v' });
    channel.declareQueue('q');
    publishText(channel, '', 'q', 'm');
    all.channel.deleteQueue('q');
    all.channel.close();
    expect(all.broker.counters).toMatchObject({ publish: 11, confirm: 8, ack: 1, rejected: 1 });
    all.broker.removeVirtualHost('v');
    expect(all.broker.counters).toMatchObject({ publish: 11, confirm: 8, ack: 1, rejected: 1 });
  });

  it('of deaths by their reason, also where no dead letter comes of it (rules A1, A7)', () => {
    const { channel, clock, vhost, queue } = arrange();
    const limited = new Map([
      ['x-max-length', int32(1)],
      ['x-message-ttl', int32(10)],
    ]);
    channel.declareQueue('limited', { arguments: limited });
    publishText(channel, '', 'limited', 'dropped');
    publishText(channel, '', 'limited', 'expired');
    clock.advance(10);
    const quorum = new Map([
      ['x-queue-type', longstr('quorum')],
      ['x-delivery-limit', int32(0)],
    ]);
    channel.declareQueue('quorum', { durable: true, arguments: quorum });
    publishText(channel, '', 'quorum', 'm');
    channel.reject(channel.get('quorum')!.deliveryTag);
    expect(queue('limited').counters).toMatchObject({ maxlen: 1, expired: 1, rejected: 0, delivery_limit: 0 });
    expect(queue('quorum').counters).toMatchObject({ maxlen: 0, expired: 0, rejected: 0, delivery_limit: 1 });
    expect(vhost.counters).toMatchObject({ maxlen: 1, expired: 1, rejected: 0, delivery_limit: 1 });
  });
});

describe('what a queue holds is counted at once', () => {
  it('ready and unacked bytes, persistent messages, the time of the next one, the last use', () => {
    const { channel, clock, queue } = arrange();
    const q = queue('q');
    const start = clock.now();
    publishText(channel, 'x', 'k', 'four', { deliveryMode: 2, timestamp: 77 });
    publishText(channel, 'x', 'k', 'longer', { deliveryMode: 1 });
    publishText(channel, 'x', 'k', 'five!', { deliveryMode: 2 });
    const sums = () => [q.bytes, q.bytesUnacked, q.persistent.count, q.persistent.bytes, q.head?.properties.timestamp];
    expect(sums()).toEqual([15, 0, 2, 9, 77]);
    clock.advance(100);
    const first = channel.get('q')!;
    expect([q.lastUse - start, ...sums()]).toEqual([100, 11, 4, 2, 9, undefined]);
    clock.advance(100);
    channel.ack(first.deliveryTag);
    expect([q.lastUse - start, ...sums()]).toEqual([200, 11, 0, 1, 5, undefined]);
    channel.nack(channel.get('q')!.deliveryTag);
    expect(sums()).toEqual([11, 0, 1, 5, undefined]);
    channel.reject(channel.get('q')!.deliveryTag, false);
    expect(sums()).toEqual([5, 0, 1, 5, undefined]);
    const held = channel.get('q')!;
    publishText(channel, 'x', 'k', 'x', { deliveryMode: 2 });
    channel.purgeQueue('q');
    expect(sums()).toEqual([0, 5, 1, 5, undefined]);
    channel.nack(held.deliveryTag, false, false);
    expect(sums()).toEqual([0, 0, 0, 0, undefined]);
  });
});
