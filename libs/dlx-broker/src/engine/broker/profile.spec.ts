import { describe, expect, it } from 'vitest';
import {
  array,
  type FieldTable,
  int32,
  longstr,
  noProperties,
  PackedTable,
  type Properties,
} from '../message/index.js';
import { harness } from '../../nest/testing/harness.js';
import { refusalOf } from '../../../../../test/harnesses/refusal-of.js';
import { listen, publishText } from '../../../../../test/harnesses/listener.js';
import type { QueueView } from '../../nest/testing/queue-view.js';
import type { QueueOptions } from './commands/declare.js';
import type { Permissions } from './declarations.js';
import { silentOutbox } from './ports.js';
import type { ProfileName } from './profile.js';

const table = (entries: Record<string, string | number>): FieldTable =>
  new Map(Object.entries(entries).map(([k, v]) => [k, typeof v === 'string' ? longstr(v) : int32(v)]));

/** A queue `work`, whose dead letters go to `dead`, on a broker of the given kind. */
function arrange(rabbitmq: ProfileName, args: Record<string, string | number> = {}) {
  const { broker, clock, queue } = harness({ rabbitmq });
  const listener = listen(broker);
  const { channel } = listener;
  channel.declareQueue('dead', { durable: true });
  const all = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead', ...args };
  const declare = (more: Record<string, string | number> = {}) =>
    channel.declareQueue('work', { durable: true, arguments: table({ ...all, ...more }) });
  const ok = declare();
  const publish = (body: string, properties?: Properties) => publishText(channel, '', 'work', body, properties);
  const get = (name = 'work') => {
    const got = channel.get(name);
    return got && { ...got, body: Buffer.from(got.message.body).toString(), headers: got.message.properties.headers };
  };
  return { ...listener, broker, clock, queue, work: queue('work'), ok, declare, publish, get };
}

const texts = (view: QueueView): string[] => view.messages().map(({ body }) => Buffer.from(body).toString());

const quorum = { 'x-queue-type': 'quorum' } as const;

const vhost = (broker: ReturnType<typeof harness>['broker']) => broker.virtualHost('/');

describe('RabbitMQ 4 writes deaths so that', () => {
  it('rules W1, W2: the newest comes first, and headers of their own name the last', () => {
    const { channel, clock, publish, get, queue } = arrange('4');
    channel.declareQueue('end', { durable: true });
    const toEnd = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'end', 'x-message-ttl': 5 };
    channel.deleteQueue('dead');
    channel.declareQueue('dead', { durable: true, arguments: table(toEnd) });
    publish('one');
    channel.reject(get()!.deliveryTag, false);
    clock.advance(5);
    const { deaths, properties } = queue('end').messages()[0]!;
    expect(deaths.map((death) => [death.queue, death.reason])).toEqual([
      ['dead', 'expired'],
      ['work', 'rejected'],
    ]);
    expect(properties.headers?.get('x-last-death-queue')).toEqual(longstr('dead'));
    expect(properties.headers?.get('x-last-death-reason')).toEqual(longstr('expired'));
    expect(properties.headers?.get('x-last-death-exchange')).toEqual(longstr(''));
    expect(properties.headers?.get('x-first-death-queue')).toEqual(longstr('work'));
  });

  it('rule W5: a cycle without a rejection ends', () => {
    const { clock, publish, work, queue } = arrange('4', { 'x-dead-letter-routing-key': 'work', 'x-message-ttl': 5 });
    publish('one');
    clock.advance(5);
    expect([work.ready, queue('dead').ready]).toEqual([0, 0]);
  });

  it('rule W2: in 3.10 there are no such headers', () => {
    const { channel, publish, get } = arrange('3.10');
    publish('one');
    channel.reject(get()!.deliveryTag, false);
    expect(get('dead')!.headers!.has('x-last-death-reason')).toBe(false);
  });

  const forged = (): Properties => ({
    headers: new Map([
      [
        'x-death',
        { type: 'A', value: [{ type: 'F', value: table({ queue: 'work', reason: 'rejected', count: 7 }) }] } as const,
      ],
    ]),
  });
  it.each([
    ['4', 1],
    ['3.10', 8],
  ] as const)('rules W3, H9: a history sent by a client counts on or not: %s, %i', (rabbitmq, count) => {
    const { channel, publish, get, queue } = arrange(rabbitmq);
    publish('one', forged());
    channel.reject(get()!.deliveryTag, false);
    expect(queue('dead').messages()[0]!.deaths[0]).toMatchObject({ queue: 'work', reason: 'rejected', count });
  });

  it.each([
    ['4', '5', 0],
    ['3.10', '+5', 6],
  ] as const)('rules W4, H5: original-expiration "+5" reads, and stands: %s, %s, %i', (rabbitmq, text, place) => {
    const { clock, publish, queue } = arrange(rabbitmq);
    publish('one', { expiration: '+5' });
    clock.advance(5);
    const deaths = queue('dead').messages()[0]!.properties.headers!.get('x-death');
    const entry = (deaths!.value as unknown as { value: FieldTable }[])[0]!.value;
    expect(entry.get('original-expiration')).toEqual(longstr(text));
    expect([...entry.keys()].indexOf('original-expiration')).toBe(place);
  });
});

describe('rule W16: a dead letter is redelivered', () => {
  type Channel = ReturnType<typeof arrange>['channel'];
  const ways = {
    reject: (channel: Channel, tag: number) => channel.reject(tag, false),
    nack: (channel: Channel, tag: number) => channel.nack(tag, false, false),
    'reject, requeued, and expiry': (channel: Channel, tag: number) => channel.reject(tag, true),
    'nack, requeued, and expiry': (channel: Channel, tag: number) => channel.nack(tag, false, true),
  } as const;
  const seen = (rabbitmq: ProfileName, type: string, dead: string, way: keyof typeof ways) => {
    const args: Record<string, string | number> = { 'x-queue-type': type };
    if (way.includes('expiry')) args['x-message-ttl'] = 50;
    const { channel, clock, publish, get } = arrange(rabbitmq, args);
    channel.deleteQueue('dead');
    channel.declareQueue('dead', { durable: true, arguments: table({ 'x-queue-type': dead }) });
    publish('one');
    ways[way](channel, get()!.deliveryTag);
    clock.advance(50);
    const { redelivered, headers } = get('dead')!;
    const counts = ['x-acquired-count', 'x-delivery-count'].map((name) => headers!.get(name)?.value);
    return [redelivered, ...counts];
  };
  const types = ['classic', 'quorum'] as const;

  it.each([
    ['reject', true],
    ['nack', false],
    ['reject, requeued, and expiry', true],
    ['nack, requeued, and expiry', false],
  ] as const)('in 4 after %s: %s', (way, isRedelivered) => {
    for (const type of types) {
      expect(seen('4', type, 'classic', way)).toEqual([isRedelivered, undefined, undefined]);
      expect(seen('4', type, 'quorum', way)).toEqual(isRedelivered ? [true, 1, 1] : [false, undefined, undefined]);
    }
  });

  it('never in 3.10', () => {
    for (const type of types) expect(seen('3.10', type, 'classic', 'reject')[0]).toBe(false);
  });

  it('in 4, but not where a consumer of a classic queue waits for it', () => {
    const { channel, deliveries, publish, get } = arrange('4');
    channel.consume('dead');
    publish('one');
    channel.reject(get()!.deliveryTag, false);
    expect(deliveries.map(({ redelivered }) => redelivered)).toEqual([false]);
    channel.nack(0, true, true);
    expect(deliveries.map(({ redelivered }) => redelivered)).toEqual([false, true]);
  });

  it('in 4, and its failures count for the limit of the next quorum queue', () => {
    const { channel, publish, get, queue } = arrange('4', quorum);
    channel.deleteQueue('dead');
    channel.declareQueue('dead', { durable: true, arguments: table({ ...quorum, 'x-delivery-limit': 1 }) });
    publish('one');
    channel.reject(get()!.deliveryTag, false);
    channel.reject(get('dead')!.deliveryTag, true);
    expect(queue('dead').ready).toBe(0);
  });
});

describe('the delivery limit of a quorum queue', () => {
  const rejectUntilGone = (rabbitmq: ProfileName, args: Record<string, string | number>) => {
    const { channel, publish, get, queue } = arrange(rabbitmq, { ...quorum, ...args });
    publish('one');
    let deliveries = 0;
    for (let got = get(); got !== undefined && deliveries < 50; got = get()) {
      deliveries++;
      channel.reject(got.deliveryTag, true);
    }
    return [deliveries, queue('dead').messages()[0]?.deaths[0]?.reason];
  };

  it('rule W6: is 20 by default', () => {
    expect(rejectUntilGone('4', {})).toEqual([21, 'delivery_limit']);
    expect(rejectUntilGone('3.10', {})).toEqual([50, undefined]);
  });

  it('rule W6: is none at all when negative', () => {
    expect(rejectUntilGone('4', { 'x-delivery-limit': -1 })).toEqual([50, undefined]);
  });

  it.each([
    [3, 5, 3],
    [5, 3, 3],
    [-1, 5, 5],
    [5, -1, 5],
    [-1, -1, undefined],
    [undefined, -1, undefined],
    [undefined, undefined, 20],
  ])('rule W6: argument %s and policy %s make %s', (argument, policy, limit) => {
    const { broker } = arrange('4', { ...quorum, ...(argument === undefined ? {} : { 'x-delivery-limit': argument }) });
    if (policy !== undefined) {
      vhost(broker).setPolicy('limit', { pattern: 'work', definition: { 'delivery-limit': policy } });
    }
    expect(vhost(broker).queues.get('work')!.settings.deliveryLimit).toBe(limit);
  });

  it('rule W6: in 3.10 a policy must not be negative', () => {
    const { broker } = arrange('3.10');
    const definition = { 'delivery-limit': -1 };
    expect(() => vhost(broker).setPolicy('limit', { pattern: 'work', definition })).toThrow(
      '-1 is not a valid delivery limit',
    );
  });

  it('rule W6: counts rejects and losses, while nacks and recovers only redeliver', () => {
    const { broker, channel, publish, get, queue } = arrange('4', { ...quorum, 'x-delivery-limit': 1 });
    publish('one');
    const shown = () => {
      const got = get()!;
      const { headers } = got;
      return [got.redelivered, headers?.get('x-acquired-count')?.value, headers?.get('x-delivery-count')?.value];
    };
    expect(shown()).toEqual([false, undefined, undefined]);
    channel.nack(1);
    expect(shown()).toEqual([true, 1, undefined]);
    channel.recover(true);
    expect(shown()).toEqual([true, 2, undefined]);
    channel.reject(3, true);
    expect(get()!.headers?.get('x-acquired-count')).toEqual({ type: 'l', value: 3 });
    channel.nack(4);
    const other = listen(broker).channel;
    expect(other.get('work')!.deliveryCount).toBe(1);
    other.close();
    expect(queue('dead').messages()[0]!.deaths[0]).toMatchObject({ reason: 'delivery_limit' });
    expect(queue('dead').messages()[0]!.properties.headers!.has('x-acquired-count')).toBe(false);
  });

  it.each([
    ['4', 'abc'],
    ['3.10', 'bca'],
  ] as const)('rules W6, D5: is not needed for a return to the front: %s', (rabbitmq, order) => {
    const args: Record<string, string | number> = { ...quorum };
    if (rabbitmq === '4') args['x-delivery-limit'] = -1;
    const { channel, publish, get, work } = arrange(rabbitmq, args);
    for (const body of ['a', 'b', 'c']) publish(body);
    channel.nack(get()!.deliveryTag);
    expect(texts(work).join('')).toBe(order);
  });
});

describe('delayed retry of a quorum queue', () => {
  const retry = (type: string, more: Record<string, string | number> = {}) =>
    arrange('4', { ...quorum, 'x-delayed-retry-type': type, 'x-delayed-retry-min': 100, ...more });

  it('rule W7: a returned message waits for the minimum times its delivery count, and at most the maximum', () => {
    const { channel, clock, publish, get, work } = retry('failed', { 'x-delayed-retry-max': 250 });
    publish('one');
    for (const delay of [100, 200, 250, 250]) {
      channel.reject(get()!.deliveryTag, true);
      clock.advance(delay - 1);
      expect(get()).toBeUndefined();
      clock.advance(1);
      expect(work.ready).toBe(1);
    }
  });

  it('rule W7: without a maximum it is always the minimum', () => {
    const { channel, clock, publish, get, work } = retry('all');
    publish('one');
    for (let round = 0; round < 3; round++) {
      channel.reject(get()!.deliveryTag, true);
      clock.advance(100);
      expect(work.ready).toBe(1);
    }
  });

  it.each([
    ['all', true, true],
    ['failed', true, false],
    ['returned', false, true],
    ['disabled', false, false],
    ['whatever', false, false],
  ])('rule W7: %s delays a reject %s, a nack %s', (type, afterReject, afterNack) => {
    const { broker, channel, publish, get } = retry(type);
    const { delayed } = { delayed: () => vhost(broker).queues.get('work')!.delayed };
    publish('one');
    channel.nack(get()!.deliveryTag);
    expect(delayed()).toBe(afterNack ? 1 : 0);
    channel.purgeQueue('work');
    publish('two');
    channel.reject(get()!.deliveryTag, true);
    expect(delayed()).toBe(afterReject ? 1 : 0);
  });

  it('rule W7: a nack waits as if its delivery count were 1', () => {
    const { channel, clock, publish, get, work } = retry('returned', { 'x-delayed-retry-max': 1000 });
    publish('one');
    for (let round = 0; round < 3; round++) {
      channel.nack(get()!.deliveryTag);
      clock.advance(99);
      expect(work.ready).toBe(0);
      clock.advance(1);
      expect(work.ready).toBe(1);
    }
  });

  it('rule W7: what is lost with its channel waits too, and comes before all others in its order', () => {
    const { broker, clock, publish, work, bodies, channel } = retry('failed');
    for (const body of ['a', 'b', 'c']) publish(body);
    const other = listen(broker).channel;
    other.get('work');
    other.get('work');
    other.close();
    expect(texts(work).join('')).toBe('c');
    clock.advance(100);
    expect(texts(work).join('')).toBe('abc');
    channel.consume('work');
    expect(bodies()).toEqual(['a', 'b', 'c']);
  });

  it('rule W7: is neither ready nor unacked, but takes its room, and a purge takes it', () => {
    const { channel, clock, publish, get, work, declare } = retry('failed', { 'x-max-length': 2 });
    publish('one');
    channel.reject(get()!.deliveryTag, true);
    expect(declare().messageCount).toBe(0);
    expect(work.unacknowledged).toBe(0);
    publish('two');
    publish('three');
    expect(texts(work)).toEqual(['three']);
    publish('four');
    expect(texts(work)).toEqual(['four']);
    expect(channel.purgeQueue('work')).toBe(2);
    clock.advance(1000);
    expect(work.ready).toBe(0);
  });

  it('rule W7: a consumer gets it when its time is over', () => {
    const { channel, clock, publish, bodies } = retry('failed');
    publish('one');
    channel.consume('work');
    channel.reject(1, true);
    expect(bodies()).toEqual(['one']);
    clock.advance(100);
    expect(bodies()).toEqual(['one', 'one']);
  });

  it('rules W7, D2: the limit still holds, and strikes without a wait', () => {
    const { channel, publish, get, queue } = retry('failed', { 'x-delivery-limit': 0 });
    publish('one');
    channel.reject(get()!.deliveryTag, true);
    expect(queue('dead').ready).toBe(1);
  });

  it('rules W7, B9: it does not expire while it waits, but as soon as its wait is over', () => {
    const { channel, clock, publish, get, queue, work } = retry('failed');
    publish('one', { expiration: '50' });
    channel.reject(get()!.deliveryTag, true);
    clock.advance(99);
    expect(queue('dead').ready).toBe(0);
    clock.advance(1);
    expect(queue('dead').messages()[0]!.deaths[0]).toMatchObject({ reason: 'expired' });
    expect(work.ready).toBe(0);
  });

  it('rule W7: by policy, where the policy names the type and the smaller times hold', () => {
    const { broker, channel, clock, publish, get, work } = retry('all', { 'x-delayed-retry-min': 300 });
    const definition = { 'delayed-retry-type': 'returned', 'delayed-retry-min': 200, 'delayed-retry-max': 400 };
    vhost(broker).setPolicy('retry', { pattern: 'work', definition });
    publish('one');
    channel.reject(get()!.deliveryTag, true);
    expect(work.ready).toBe(1);
    channel.nack(get()!.deliveryTag);
    clock.advance(199);
    expect(work.ready).toBe(0);
    clock.advance(1);
    expect(work.ready).toBe(1);
  });

  it('rule W7: an operator has the last word on the type and the longer minimum', () => {
    const { broker } = retry('all');
    const set = (definition: Record<string, unknown>) => ({ pattern: 'work', definition });
    vhost(broker).setPolicy(
      'p',
      set({ 'delayed-retry-type': 'all', 'delayed-retry-min': 10, 'delayed-retry-max': 90 }),
    );
    vhost(broker).setOperatorPolicy(
      'o',
      set({ 'delayed-retry-type': 'failed', 'delayed-retry-min': 20, 'delayed-retry-max': 80 }),
    );
    expect(vhost(broker).queues.get('work')!.settings).toMatchObject({
      delayedRetryType: 'failed',
      delayedRetryMin: 20,
      delayedRetryMax: 80,
    });
  });

  it.each([
    [{ 'delayed-retry-type': 'all' }, 'delayed-retry-min is required when delayed-retry-type is all'],
    [
      { 'delayed-retry-min': 9, 'delayed-retry-max': 5 },
      'delayed-retry-max (5) must not be smaller than delayed-retry-min (9)',
    ],
    [{ 'delayed-retry-min': 0 }, '0 is not a valid delayed retry minimum delay. Must be a positive integer'],
    [
      { 'delayed-retry-type': 'some' },
      '<<"some">> is not a valid delayed retry type. Must be one of: all, failed, returned, disabled',
    ],
  ])('rule W7: the policy %o is refused', (definition, text) => {
    const { broker } = arrange('4');
    expect(() => vhost(broker).setPolicy('retry', { pattern: '', definition })).toThrow(text);
  });

  it('rule W7: the arguments are unknown to 3.10: kept, without effect, not compared; as policy keys refused', () => {
    const args = { 'x-delayed-retry-type': 'all', 'x-delayed-retry-min': 100 };
    const { broker, channel, publish, get, work, declare } = arrange('3.10', { ...quorum, ...args });
    publish('one');
    channel.reject(get()!.deliveryTag, true);
    expect(work.ready).toBe(1);
    expect(declare({ 'x-delayed-retry-min': 7 }).messageCount).toBe(1);
    expect(channel.declareQueue('classic', { arguments: table(args) }).messageCount).toBe(0);
    const definition = { 'delayed-retry-min': 5 };
    expect(() => vhost(broker).setPolicy('retry', { pattern: '', definition })).toThrow(
      'are not recognised policy settings',
    );
  });

  it('rules W7, F10, D9: 4 compares them, and refuses them on classic queues', () => {
    const { declare } = retry('all');
    expect(refusalOf(() => declare({ 'x-delayed-retry-min': 7 }))?.message).toContain(
      "inequivalent arg 'x-delayed-retry-min'",
    );
    const { channel } = arrange('4');
    const args = table({ 'x-delayed-retry-type': 'all' });
    expect(refusalOf(() => channel.declareQueue('q', { durable: true, arguments: args }))?.message).toContain(
      "invalid arg 'x-delayed-retry-type' for queue 'q' in vhost '/' of queue type rabbit_classic_queue",
    );
  });
});

describe('the priorities of a quorum queue', () => {
  const priorities = [undefined, 0, 5, 31, 255, 4, 3];
  const label = (priority: number | undefined) => String(priority ?? 'none');

  it('rule W8: 4 delivers by them, 0 to 31, none being 4', () => {
    const { publish, work } = arrange('4', quorum);
    for (const priority of priorities) publish(label(priority), { priority });
    expect(texts(work)).toEqual(['31', '255', '5', 'none', '4', '3', '0']);
  });

  it('rule W8: 3.10 does not look at them', () => {
    const { publish, work } = arrange('3.10', quorum);
    for (const priority of priorities) publish(label(priority), { priority });
    expect(texts(work)).toEqual(priorities.map(label));
  });

  it('rule W8: what was returned comes before every priority', () => {
    const { channel, publish, get, work } = arrange('4', quorum);
    publish('low', { priority: 1 });
    channel.reject(get()!.deliveryTag, true);
    publish('high', { priority: 9 });
    expect(texts(work)).toEqual(['low', 'high']);
  });

  it('rule W8: every priority has a head that expires, in whatever order they came', () => {
    const { clock, publish, work, queue } = arrange('4', quorum);
    publish('stays', { priority: 9 });
    publish('dies', { priority: 1, expiration: '10' });
    publish('behind', { priority: 0 });
    publish('blocked', { priority: 0, expiration: '5' });
    clock.advance(9);
    expect(queue('dead').ready).toBe(0);
    clock.advance(1);
    expect(texts(queue('dead'))).toEqual(['dies']);
    expect(texts(work)).toEqual(['stays', 'behind', 'blocked']);
  });

  it('rules W8, D9: x-max-priority stays refused', () => {
    expect(refusalOf(() => arrange('4', { ...quorum, 'x-max-priority': 5 }))?.message).toContain(
      "invalid arg 'x-max-priority'",
    );
  });
});

describe('what RabbitMQ 4 refuses', () => {
  it('rule W10: a body of more than 16 MiB', () => {
    const send = (rabbitmq: ProfileName, size: number) => {
      const { channel } = arrange(rabbitmq);
      return refusalOf(() => channel.publish('', 'nobody', noProperties, new Uint8Array(size)))?.message;
    };
    expect(send('4', 16_777_216)).toBeUndefined();
    expect(send('4', 16_777_217)).toContain('message size 16777217 is larger than configured max size 16777216');
    expect(send('3.10', 16_777_217)).toBeUndefined();
  });

  it.each([
    ['4', 'PRECONDITION_FAILED', 'channel'],
    ['3.10', 'COMMAND_INVALID', 'connection'],
  ] as const)('rules W11, P3: an unknown exchange type: %s, %s closes the %s', (rabbitmq, reply, closes) => {
    const { channel } = arrange(rabbitmq);
    const error = refusalOf(() => channel.declareExchange('x', { type: 'magic' }));
    expect(error).toMatchObject({ reply, closes, message: `${reply} - unknown exchange type 'magic'` });
  });

  it('rule W12: a queue that is neither durable nor exclusive is permitted', () => {
    const { channel } = arrange('4');
    expect(refusalOf(() => channel.declareQueue('q'))).toBeUndefined();
    const options = { arguments: table(quorum) };
    expect(refusalOf(() => channel.declareQueue('quorum', options))).toMatchObject({ code: 406 });
  });

  it('rule W12: global prefetch, which it takes for that of each consumer', () => {
    const delivered = (rabbitmq: ProfileName) => {
      const { channel, publish, bodies } = arrange(rabbitmq);
      channel.qos(1, { global: true });
      for (let index = 0; index < 5; index++) publish('one');
      channel.consume('work');
      channel.consume('work');
      return bodies().length;
    };
    expect(delivered('4')).toBe(2);
    expect(delivered('3.10')).toBe(1);
  });
});

describe('policies', () => {
  it('rule W13: can be for queues of one type', () => {
    const { broker, channel } = arrange('4');
    channel.declareQueue('quorum', { durable: true, arguments: table(quorum) });
    const { queues } = vhost(broker);
    const lengths = (applyTo: string) => {
      vhost(broker).setPolicy('p', { pattern: '', applyTo, definition: { 'max-length': 5 } });
      return [queues.get('work')!.settings.maxLength, queues.get('quorum')!.settings.maxLength];
    };
    expect(lengths('classic_queues')).toEqual([5, undefined]);
    expect(lengths('quorum_queues')).toEqual([undefined, 5]);
    expect(lengths('streams')).toEqual([undefined, undefined]);
    expect(lengths('exchanges')).toEqual([undefined, undefined]);
    expect(lengths('queues')).toEqual([5, 5]);
  });

  it.each([
    ['4', 'nobody', "should be one of: 'queues', 'classic_queues'"],
    ['3.10', 'quorum_queues', "apply-to 'quorum_queues' unrecognised; should be 'queues', 'exchanges' or 'all'"],
  ] as const)('rules W13, F13: %s refuses apply-to %s', (rabbitmq, applyTo, text) => {
    const { broker } = arrange(rabbitmq);
    const request = { pattern: '', applyTo, definition: { 'max-length': 5 } };
    expect(() => vhost(broker).setPolicy('p', request)).toThrow(text);
  });
});

describe('RabbitMQ 4.3 takes a publish', () => {
  it.each([
    ['4', ['a', 'm', 'z'], '7'],
    ['3.10', ['z', 'a', 'm'], '007'],
  ] as const)('rules H12, W4: and shows headers and expiration: %s', (rabbitmq, names, expiration) => {
    const { publish, get } = arrange(rabbitmq);
    const headers = table({ z: 1, a: 2, m: 3 });
    for (const each of [headers, PackedTable.of(headers)]) {
      publish('one', { headers: each, expiration: '007' });
      const { message } = get()!;
      expect([[...message.properties.headers!.keys()], message.properties.expiration]).toEqual([names, expiration]);
    }
  });

  it.each([
    ['4', ['CC']],
    ['3.10', []],
  ] as const)('rule H2: and keeps CC, without effect, where a dead-letter key is configured: %s', (rabbitmq, kept) => {
    const { channel, publish, get } = arrange(rabbitmq);
    publish('one', { headers: new Map([['CC', array([longstr('cc')])]]) });
    channel.reject(get()!.deliveryTag, false);
    const { headers } = get('dead')!;
    expect([...headers!.keys()].filter((name) => name === 'CC')).toEqual(kept);
  });
});

describe('RabbitMQ 4.3 checks rights', () => {
  const asBob = (rabbitmq: ProfileName, rights: Partial<Permissions>, topics = '') => {
    const { broker, channel } = arrange(rabbitmq);
    channel.declareExchange('topics', { type: 'topic' });
    broker.access.setUser('bob');
    broker.access.setPermissions('bob', '/', { configure: '', write: '', read: '', ...rights });
    if (topics !== '') broker.access.topics.set('bob', '/', { exchange: 'topics', write: topics, read: '' });
    return broker.connect({ user: 'bob' }).openChannel(silentOutbox);
  };

  it.each([
    ['4', 'read access to queue'],
    ['3.10', 'access to queue'],
  ] as const)('rule N1: and names the missing one: %s', (rabbitmq, text) => {
    expect(refusalOf(() => asBob(rabbitmq, {}).get('work'))?.message).toContain(`ACCESS_REFUSED - ${text} 'work'`);
  });

  it('rule N4: of which a passive declare needs any', () => {
    const refused = (rabbitmq: ProfileName, rights: Partial<Permissions>) => [
      refusalOf(() => asBob(rabbitmq, rights).declareQueue('work', { passive: true }))?.message,
      refusalOf(() => asBob(rabbitmq, rights).declareExchange('topics', { passive: true }))?.message,
    ];
    expect(refused('4', {})).toEqual([
      "ACCESS_REFUSED - configure access to queue 'work' in vhost '/' refused for user 'bob'",
      "ACCESS_REFUSED - configure access to exchange 'topics' in vhost '/' refused for user 'bob'",
    ]);
    for (const right of ['configure', 'write', 'read']) {
      expect(refused('4', { [right]: '.*' })).toEqual([undefined, undefined]);
    }
    expect(refused('3.10', {})).toEqual([undefined, undefined]);
  });

  it.each(['CC', 'BCC'])('rule N5: for the keys of %s, too', (name) => {
    const publish = (rabbitmq: ProfileName) => {
      const headers = new Map([[name, array([longstr('other')])]]);
      const channel = asBob(rabbitmq, { write: '.*' }, '^mine$');
      return refusalOf(() => publishText(channel, 'topics', 'mine', 'one', { headers }))?.message;
    };
    expect(publish('4')).toContain("write access to topic 'other' in exchange 'topics'");
    expect(publish('3.10')).toBeUndefined();
  });
});

describe('RabbitMQ 4.3 checks the arguments of a queue', () => {
  const declared = (rabbitmq: ProfileName, type: string, name: string, value: string | number) => {
    const { channel } = listen(harness({ rabbitmq }).broker);
    const args = table({ 'x-queue-type': type, [name]: value });
    return refusalOf(() => channel.declareQueue('q', { durable: true, arguments: args }))?.message;
  };

  it.each([
    ['classic', 'x-queue-mode', 'quick', undefined, 'unsupported queue mode'],
    ['classic', 'x-queue-mode', 5, undefined, 'unacceptable_type'],
    ['classic', 'x-queue-type', '', undefined, 'unsupported queue type'],
    ['classic', 'x-queue-leader-locator', 'balanced', undefined, 'of queue type rabbit_classic_queue'],
    ['classic', 'x-queue-leader-locator', 'here', 'invalid_queue_locator_arg', 'of queue type rabbit_classic_queue'],
    ['classic', 'x-consumer-timeout', 5, 'of queue type rabbit_classic_queue', undefined],
    ['quorum', 'x-consumer-timeout', -1, '{value_negative,-1}', undefined],
    ['quorum', 'x-consumer-timeout', 'soon', '"expected integer, got longstr"', undefined],
    ['quorum', 'x-consumer-disconnected-timeout', -1, '{value_negative,-1}', undefined],
    ['classic', 'x-stream-filter-size-bytes', 5, 'of queue type rabbit_classic_queue', undefined],
  ] as const)('rule F9: %s %s %s', (type, name, value, since4, before) => {
    for (const [rabbitmq, text] of [['4', since4] as const, ['3.10', before] as const]) {
      const refusal = declared(rabbitmq, type, name, value);
      if (text === undefined) expect(refusal).toBeUndefined();
      else expect(refusal).toContain(text);
    }
  });
});

it.each([
  ['4', 3],
  ['3.10', 2],
] as const)('rule O6: a purge counts letters that have not arrived: %s, %i', (rabbitmq, purged) => {
  const args = { 'x-dead-letter-strategy': 'at-least-once', 'x-overflow': 'reject-publish', ...quorum };
  const { channel, publish, get, work } = arrange(rabbitmq, { ...args, 'x-dead-letter-exchange': 'nowhere' });
  for (const body of ['a', 'b', 'c']) publish(body);
  channel.reject(get()!.deliveryTag, false);
  expect(channel.purgeQueue('work')).toBe(purged);
  expect(work.ready).toBe(0);
});

it.each([
  ['classic', 5, 'of queue type rabbit_classic_queue'],
  ['quorum', -1, '{value_negative,-1}'],
  ['quorum', 'soon', 'expected integer, got longstr'],
  ['quorum', 5, undefined],
] as const)('rule Q14: x-consumer-timeout of a consumer of a %s queue: %s', (type, value, text) => {
  for (const [rabbitmq, expected] of [['4', text] as const, ['3.10', undefined] as const]) {
    const { channel } = arrange(rabbitmq, { 'x-queue-type': type });
    const consume = () => channel.consume('work', { arguments: table({ 'x-consumer-timeout': value }) });
    if (expected === undefined) expect(refusalOf(consume)).toBeUndefined();
    else expect(refusalOf(consume)?.message).toContain(expected);
  }
});

describe('rule W17: the default queue type of a virtual host', () => {
  const typesBy = (rabbitmq: ProfileName) => {
    const { broker } = harness({ rabbitmq });
    broker.addVirtualHost('/', { description: '', tags: [], defaultQueueType: 'quorum' });
    const { channel } = listen(broker);
    const typeOf = (name: string, options: QueueOptions) => {
      channel.declareQueue(name, options);
      channel.declareQueue(name, options);
      return vhost(broker).queues.get(name)!.declared.type;
    };
    return [
      typeOf('durable', { durable: true }),
      typeOf('empty', { durable: true, arguments: table(rabbitmq === '4' ? { 'x-queue-type': '' } : {}) }),
      typeOf('named', { durable: true, arguments: table({ 'x-queue-type': 'classic' }) }),
      typeOf('transient', {}),
      typeOf('exclusive', { durable: true, exclusive: true }),
      typeOf('auto-delete', { durable: true, autoDelete: true }),
    ];
  };

  it('is that of queues that can be quorum queues, in 4 only', () => {
    expect(typesBy('4')).toEqual(['quorum', 'quorum', 'classic', 'classic', 'classic', 'classic']);
    expect(new Set(typesBy('3.10'))).toEqual(new Set(['classic']));
  });
});
