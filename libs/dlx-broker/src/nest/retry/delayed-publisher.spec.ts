import { describe, expect, it } from 'vitest';
import { silentOutbox } from '../../engine/broker/index.js';
import { int32, longstr } from '../../engine/message/index.js';
import { harness } from '../../testing.js';
import { waitQueueLease } from './wait-queue-names.js';

import type { Backend, Publication } from '../../backends/backend.js';
import { DelayedPublisher, parseDelay } from './delayed-publisher.js';

/** The same broker as one without delayed exchanges. */
function withoutDelays(backend: Backend): Backend {
  return {
    rejectsWithHeaders: backend.rejectsWithHeaders,
    clock: backend.clock,
    state: { kind: 'ready', server: { product: 'RabbitMQ', version: '3.10.8' } },
    ready: backend.ready,
    onState: () => () => undefined,
    connect: () => backend.connect(),
    declare: (topology) => backend.declare(topology),
    publish: (publication, done) => backend.publish(publication, done),
    consume: (queue, options, onDelivery) => backend.consume(queue, options, onDelivery),
    openReplies: (onReply) => backend.openReplies(onReply),
    status: (queue) => backend.status(queue),
    close: () => backend.close(),
  };
}

/** A topic exchange `events`, and a queue `work` bound to it by `order.*`. */
function arrange(exact: boolean) {
  const { backend, broker, clock, queue } = harness();
  const channel = broker.connect().openChannel(silentOutbox);
  channel.declareExchange('events', { type: 'topic', durable: true });
  channel.declareQueue('work', { durable: true });
  channel.bindQueue('work', 'events', 'order.*');
  const delayed = new DelayedPublisher(exact ? backend : withoutDelays(backend));
  /** @returns what failed, in the end */
  const publish = async (text: string, delay: number, more: Partial<Publication> = {}): Promise<Error | undefined> =>
    new Promise((resolve) => {
      const properties = { deliveryMode: 2, messageId: text };
      const publication = { exchange: 'events', routingKey: 'order.new', properties, body: Buffer.from(text) };
      delayed.publish({ ...publication, ...more }, delay, resolve);
    });
  const vhost = broker.virtualHost('/');
  const work = (): string[] => {
    const found: string[] = [];
    vhost.queues.get('work')!.peek(({ message }) => void found.push(Buffer.from(message.body).toString()));
    return found;
  };
  return { delayed, publish, work, clock, channel, vhost, queue };
}

describe('a delay', () => {
  it.each([
    ['10m', 600_000],
    [0, 0],
    [4_294_967_295, 4_294_967_295],
  ])('of %s is %i ms', (value, delay) => expect(parseDelay(value, 'delay')).toBe(delay));

  it.each([
    [-1, 'delay of emit: -1 is negative; a duration is 0 or more'],
    ['-5s', "delay of emit: '-5s' is negative; a duration is 0 or more"],
    [1.5, 'delay of emit: 1.5 is not a whole number of milliseconds'],
    [NaN, 'is not a duration'],
    ['soon', 'is not a duration'],
    ['50d', "delay of emit: '50d' is longer than 4294967295 ms (49 days), the longest delay of a publish"],
  ])('cannot be %s', (value, text) => expect(() => parseDelay(value, 'delay of emit')).toThrow(text));
});

describe('over a delayed exchange', () => {
  it('an event arrives to the millisecond, by its own key', async () => {
    const { publish, work, clock } = arrange(true);
    expect(await publish('one', 123_457)).toBeUndefined();
    clock.advance(123_456);
    expect(work()).toEqual([]);
    clock.advance(1);
    expect(work()).toEqual(['one']);
  });

  it('that is declared anew after a client deleted it', async () => {
    const { publish, work, clock, channel } = arrange(true);
    await publish('one', 100);
    channel.deleteExchange('events.delayed');
    await publish('two', 100);
    clock.advance(100);
    expect(work()).toEqual(['two']);
  });

  it('to the default exchange it goes to the queue of that name', async () => {
    const { publish, work, clock } = arrange(true);
    expect(await publish('one', 100, { exchange: '', routingKey: 'work' })).toBeUndefined();
    clock.advance(100);
    expect(work()).toEqual(['one']);
  });

  it.each([
    [{ exchange: 'none' }, "no exchange 'none' in vhost '/'"],
    [{ exchange: '', routingKey: 'none' }, "no queue 'none' in vhost '/'"],
  ])('to what is not there fails at once, and leaves nothing behind', async (more, text) => {
    const { publish, vhost } = arrange(true);
    expect((await publish('one', 100, more))?.message).toContain(text);
    expect([...vhost.exchanges.keys()].filter((name) => name.includes('delayed'))).toEqual([]);
  });

  it('is refused in words when that name is taken by another exchange', async () => {
    const { publish, channel } = arrange(true);
    channel.declareExchange('events.delayed', { type: 'topic', durable: true });
    expect((await publish('one', 100))?.message).toContain("inequivalent arg 'type' for exchange 'events.delayed'");
  });

  it('can be taken back by its message id', async () => {
    const { publish, delayed, work, clock } = arrange(true);
    expect(delayed.cancel('events', 'one')).toBe(0);
    await publish('one', 100);
    await publish('two', 100);
    expect(delayed.cancel('events', 'one')).toBe(1);
    clock.advance(100);
    expect(work()).toEqual(['two']);
  });
});

describe('over wait queues', () => {
  it('an event arrives a step later, never early, by its own key', async () => {
    const { publish, work, clock, queue } = arrange(false);
    expect(await publish('one', 5_001)).toBeUndefined();
    expect(queue('events.wait.6300').ready).toBe(1);
    clock.advance(6_299);
    expect(work()).toEqual([]);
    clock.advance(1);
    expect(work()).toEqual(['one']);
  });

  it('many delays share few queues, and none waits for a longer one', async () => {
    const { publish, work, clock, vhost } = arrange(false);
    for (const delay of [9_000, 900, 90, 8_500, 850, 95]) expect(await publish(String(delay), delay)).toBeUndefined();
    expect([...vhost.queues.keys()].filter((name) => name !== 'work').sort()).toEqual([
      'events.wait.100',
      'events.wait.1000',
      'events.wait.10000',
    ]);
    clock.advance(10_000);
    expect(work()).toEqual(['90', '95', '900', '850', '9000', '8500']);
  });

  it('to the default exchange it goes to the queue of that name', async () => {
    const { publish, work, clock } = arrange(false);
    expect(await publish('one', 1_000, { exchange: '', routingKey: 'work' })).toBeUndefined();
    clock.advance(1_000);
    expect(work()).toEqual(['one']);
  });

  it('whose lease is renewed while they are used, and which go when they are not (rule B12)', async () => {
    const { publish, work, clock, queue } = arrange(false);
    for (let halves = 0; halves < 5; halves++) {
      await publish(String(halves), 1_000);
      clock.advance(waitQueueLease / 2);
      expect(queue('events.wait.1000').exists).toBe(true);
    }
    expect(work()).toHaveLength(5);
    clock.advance(waitQueueLease);
    expect(queue('events.wait.1000').exists).toBe(false);
    expect(await publish('late', 1_000)).toBeUndefined();
    clock.advance(1_000);
    expect(work()).toHaveLength(6);
  });

  it('is refused with an expiration, which would end the wait before its time (rule B4)', async () => {
    const { publish } = arrange(false);
    const failure = await publish('one', 1_000, { properties: { expiration: '10' } });
    expect(failure?.message).toContain('a delay and an expiration cannot be had together here');
  });

  it('cannot be taken back, and says so', () => {
    const { delayed } = arrange(false);
    expect(() => delayed.cancel('events', 'one')).toThrow(
      'RabbitMQ 3.10.8 cannot take back delayed messages: it holds delayed messages in wait queues',
    );
  });
});

describe.each([true, false])('a delayed event', (exact) => {
  it(`knows where it was meant for ${exact ? 'behind a delayed exchange' : 'behind a wait queue'}`, async () => {
    const { publish, clock, vhost } = arrange(exact);
    await publish('one', 1_000, { properties: { headers: new Map([['own', int32(7)]]) } });
    clock.advance(1_000);
    const [entry] = vhost.queues.get('work')!.browse({ limit: 1 }).entries;
    const { headers } = entry!.message.properties;
    expect(headers?.get('dlx-first-exchange')).toEqual(longstr('events'));
    expect(headers?.get('dlx-first-routing-key')).toEqual(longstr('order.new'));
    expect(headers?.get('own')).toEqual(int32(7));
    expect(entry!.message.routingKey).toBe('order.new');
  });
});
