import { describe, expect, it } from 'vitest';
import { emptyTable, type FieldTable, int32, longstr } from '../../message/index.js';
import { harness } from '../../../nest/testing/harness.js';
import { listen, publishText } from '../../../../../../test/harnesses/listener.js';
import { maxPause, maxReasonLength, type PauseRequest } from './pausing.js';

const table = (entries: Record<string, string | number | boolean>): FieldTable =>
  new Map(
    Object.entries(entries).map(([name, value]) => {
      if (typeof value === 'boolean') return [name, { type: 't', value }];
      return [name, typeof value === 'string' ? longstr(value) : int32(value)];
    }),
  );

function arrange(args: FieldTable = emptyTable, options: { autoDelete?: boolean; exclusive?: boolean } = {}) {
  const { broker, clock } = harness();
  const vhost = broker.virtualHost('/');
  const mine = listen(broker);
  mine.channel.declareQueue('dead', {});
  mine.channel.declareQueue('q', { durable: true, arguments: args, ...options });
  const queue = vhost.queues.get('q')!;
  const publish = (...bodies: string[]) => bodies.forEach((body) => publishText(mine.channel, '', 'q', body));
  const pause = (request: PauseRequest = {}) => vhost.pauseQueue(queue, request);
  return { ...mine, broker, clock, vhost, queue, publish, pause, resume: () => vhost.resumeQueue('q') };
}

describe.each(['classic', 'quorum'])('a paused %s queue', (type) => {
  const ofType = table({ 'x-queue-type': type });

  it('rule X1: gives nothing to consumers, and goes on where it was', () => {
    const { channel, publish, pause, resume, bodies, queue } = arrange(ofType);
    channel.consume('q', { noAck: true });
    publish('a');
    pause();
    publish('b', 'c');
    expect([bodies(), queue.length, queue.consumers.count]).toEqual([['a'], 2, 1]);
    expect(resume()).toBe(true);
    expect(bodies()).toEqual(['a', 'b', 'c']);
    publish('d');
    expect([bodies(), resume()]).toEqual([['a', 'b', 'c', 'd'], false]);
  });

  it('rule X1: gives nothing to a consumer that comes, has room again or raises its prefetch', () => {
    const { channel, publish, pause, resume, bodies, deliveries, broker } = arrange(ofType);
    channel.qos(1);
    channel.consume('q');
    publish('a', 'b');
    pause();
    channel.ack(deliveries[0]!.deliveryTag);
    const late = listen(broker);
    late.channel.consume('q', { noAck: true });
    channel.qos(10);
    expect([bodies(), late.bodies()]).toEqual([['a'], []]);
    resume();
    expect([...bodies(), ...late.bodies()].sort()).toEqual(['a', 'b']);
  });

  it('rules X1, D5: keeps what comes back, where its type puts it', () => {
    const { channel, publish, pause, resume, bodies, deliveries } = arrange(ofType);
    channel.qos(2);
    channel.consume('q');
    publish('a', 'b', 'c');
    pause();
    deliveries.slice().forEach(({ deliveryTag }) => channel.nack(deliveryTag, false, true));
    expect(bodies()).toEqual(['a', 'b']);
    resume();
    expect(bodies().slice(2)).toEqual(['a', 'b']);
  });

  it('rule X2: lets basic.get, settlements, purge and delete go on', () => {
    const { channel, publish, pause, queue, deliveries, cancelled, vhost } = arrange(ofType);
    channel.qos(1);
    const tag = channel.consume('q');
    publish('a', 'b', 'c');
    pause();
    channel.ack(deliveries[0]!.deliveryTag);
    expect(Buffer.from(channel.get('q', { noAck: true })!.message.body).toString()).toBe('b');
    expect(channel.purgeQueue('q')).toBe(1);
    expect(queue.length).toBe(0);
    channel.deleteQueue('q');
    expect([cancelled, vhost.queues.has('q'), vhost.resumeQueue('q')]).toEqual([[tag], false, false]);
    channel.declareQueue('q', { durable: true, arguments: ofType });
    expect(vhost.queues.get('q')?.pausing.state).toBeUndefined();
  });

  it('rules X2, B5: messages expire and are dead-lettered, at once with a time to live of 0', () => {
    const dead = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead', 'x-queue-type': type };
    const { channel, publish, pause, clock, queue, vhost } = arrange(table({ ...dead, 'x-message-ttl': 1_000 }));
    channel.consume('q');
    pause();
    publish('a', 'b');
    publishText(channel, '', 'q', 'now', { expiration: '0' });
    clock.advance(999);
    expect([queue.length, vhost.queues.get('dead')?.length]).toEqual([3, 0]);
    clock.advance(1);
    expect([queue.length, vhost.queues.get('dead')?.length]).toEqual([0, 3]);
  });

  it('rules X2, C2: length limits act', () => {
    const { channel, publish, pause, queue, resume, bodies } = arrange(
      table({ 'x-queue-type': type, 'x-max-length': 2 }),
    );
    channel.consume('q');
    pause();
    publish('a', 'b', 'c');
    expect(queue.length).toBe(2);
    resume();
    expect(bodies()).toEqual(['b', 'c']);
  });

  it('rule X2: a policy acts on it, and does not resume it', () => {
    const { channel, publish, pause, queue, vhost, bodies, resume } = arrange(ofType);
    channel.consume('q');
    pause();
    publish('a', 'b', 'c');
    vhost.setPolicy('short', { pattern: '^q$', definition: { 'max-length': 1 } });
    expect([queue.length, bodies()]).toEqual([1, []]);
    vhost.deletePolicy('short');
    expect(queue.pausing.state).toBeDefined();
    resume();
    expect(bodies()).toEqual(['c']);
  });

  it('rules X1, R3: the single active consumer stays the active one', () => {
    const { channel, publish, pause, resume, bodies, broker } = arrange(
      table({ 'x-queue-type': type, 'x-single-active-consumer': true }),
    );
    channel.consume('q', { noAck: true });
    const second = listen(broker);
    const tag = second.channel.consume('q', { noAck: true });
    pause();
    publish('a');
    expect([bodies(), second.bodies()]).toEqual([[], []]);
    resume();
    expect([bodies(), second.bodies()]).toEqual([['a'], []]);
    pause();
    publish('b');
    channel.close();
    expect(second.bodies()).toEqual([]);
    resume();
    expect(second.bodies()).toEqual(['b']);
    second.channel.cancel(tag);
  });

  it('rules X3, X4: ends by itself, and x-expires starts anew then', () => {
    const { channel, publish, pause, bodies, clock, queue, vhost } = arrange(
      table({ 'x-queue-type': type, 'x-expires': 1_000 }),
    );
    clock.advance(900);
    const { since, until } = pause({ for: 5_000, reason: 'the bank is down', by: 'ann' });
    expect([until! - since, queue.pausing.state?.reason, queue.pausing.state?.by]).toEqual([
      5_000,
      'the bank is down',
      'ann',
    ]);
    const tag = channel.consume('q', { noAck: true });
    publish('a');
    channel.cancel(tag); // the last consumer leaves: no time to live starts
    clock.advance(4_999);
    expect([bodies(), vhost.queues.has('q')]).toEqual([[], true]);
    clock.advance(1);
    expect(queue.pausing.state).toBeUndefined();
    clock.advance(999);
    expect(vhost.queues.has('q')).toBe(true);
    clock.advance(1);
    expect(vhost.queues.has('q')).toBe(false);
  });

  it('rule X3: a second pause replaces reason and end, and keeps the beginning', () => {
    const { pause, clock, queue, publish, channel, bodies } = arrange(ofType);
    channel.consume('q');
    const first = pause({ for: 1_000, reason: 'one', by: 'ann' });
    clock.advance(500);
    pause({ reason: 'two' });
    publish('a');
    clock.advance(maxPause);
    expect([queue.pausing.state, bodies()]).toEqual([
      { reason: 'two', by: undefined, since: first.since, until: undefined },
      [],
    ]);
    pause({ for: 10 });
    clock.advance(10);
    expect(bodies()).toEqual(['a']);
  });
});

describe('a pause', () => {
  it('rules X1, Q3: by priority and in turn after it, as if it had not been', () => {
    const { channel, publish, pause, resume, bodies, broker } = arrange();
    const low = listen(broker);
    low.channel.consume('q', { noAck: true, arguments: new Map([['x-priority', int32(-1)]]) });
    channel.qos(1);
    channel.consume('q');
    const equal = listen(broker);
    equal.channel.qos(1);
    equal.channel.consume('q');
    pause();
    publish('a', 'b', 'c');
    resume();
    expect([bodies(), equal.bodies(), low.bodies()]).toEqual([['a'], ['b'], ['c']]);
  });

  it('rules X1, Q4: leaves an exclusive consumer exclusive, and an exclusive queue locked', () => {
    const { channel, pause, publish, bodies, broker, resume } = arrange(emptyTable, { exclusive: true });
    channel.consume('q', { exclusive: true, noAck: true });
    pause();
    publish('a');
    const other = listen(broker);
    expect(() => other.channel.consume('q')).toThrow('RESOURCE_LOCKED');
    expect(() => listen(broker).channel.get('q')).toThrow('RESOURCE_LOCKED');
    resume();
    expect(bodies()).toEqual(['a']);
  });

  it('rule X4: does not keep an auto-delete queue without its last consumer, nor its timer', () => {
    const { channel, pause, vhost, clock } = arrange(emptyTable, { autoDelete: true });
    const tag = channel.consume('q');
    pause({ for: 1_000 });
    channel.cancel(tag);
    expect(vhost.queues.has('q')).toBe(false);
    channel.declareQueue('q', {});
    vhost.pauseQueue(vhost.queues.get('q')!, {});
    clock.advance(1_000);
    expect(vhost.queues.get('q')?.pausing.state).toBeDefined();
  });

  it('of a deleted queue changes nothing', () => {
    const { channel, pause, queue, vhost } = arrange();
    channel.deleteQueue('q');
    pause();
    expect([queue.pausing.state, vhost.resumeQueue('q')]).toEqual([undefined, false]);
  });

  it.each([
    [{ for: 0 }, "invalid 'for' of a pause: 0 milliseconds; it has to be 1 ms to 365 days"],
    [{ for: Number.NaN }, "invalid 'for'"],
    [{ for: maxPause + 1 }, "invalid 'for'"],
    [{ reason: 'x'.repeat(maxReasonLength + 1) }, `invalid 'reason' of a pause: ${maxReasonLength + 1} characters`],
  ])('is refused with %o', (request, text) => {
    const { pause, queue } = arrange();
    expect(() => pause(request)).toThrow(text);
    expect(queue.pausing.state).toBeUndefined();
  });
});
