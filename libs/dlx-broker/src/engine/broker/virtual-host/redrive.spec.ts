import { describe, expect, it } from 'vitest';
import { array, deathsOf, emptyTable, type FieldTable, int32, longstr, type Properties } from '../../message/index.js';
import { headersForRedrive } from '../../../platform/history/index.js';
import { harness, type HarnessOptions } from '../../../nest/testing/harness.js';
import { listen, publishText } from '../../../../../../test/harnesses/listener.js';
import type { Channel } from '../channel/channel.js';
import type { Entry } from '../queue/entry.js';
import type { RedriveTo } from './redrive.js';

const table = (entries: Record<string, string | number>): FieldTable =>
  new Map(
    Object.entries(entries).map(([name, value]) => [name, typeof value === 'string' ? longstr(value) : int32(value)]),
  );

/** A queue `work` whose dead letters go to `dead`; `kill` rejects all that waits in it. */
function arrange(options: HarnessOptions = {}) {
  const { broker, clock, queue: view } = harness(options);
  const vhost = broker.virtualHost('/');
  const listener = listen(broker);
  const { channel } = listener;
  const declare = (name: string, args: FieldTable = emptyTable) => channel.declareQueue(name, { arguments: args });
  declare('dead');
  declare('work', table({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' }));
  const publish = (queue: string, body: string, properties?: Properties) =>
    publishText(channel, '', queue, body, properties);
  const kill = (): void => {
    for (let got = channel.get('work'); got !== undefined; got = channel.get('work')) {
      channel.reject(got.deliveryTag, false);
    }
  };
  const queue = (name: string) => vhost.queues.get(name)!;
  const entries = (name: string): readonly Entry[] => queue(name).browse({ limit: 100 }).entries;
  const bodies = (name: string): string[] => entries(name).map(({ message }) => Buffer.from(message.body).toString());
  const redrive = (from: string, entry: Entry | undefined, to: Partial<RedriveTo> = {}) =>
    vhost.redrive(queue(from), entry!, {
      exchange: '',
      routingKey: 'work',
      headers: headersForRedrive(entry!.message, 0),
      ...to,
    });
  return { ...listener, broker, clock, vhost, view, declare, publish, kill, queue, entries, bodies, redrive };
}

const hands = (channel: Channel, queue: string): number => channel.get(queue)?.deliveryTag ?? 0;

describe('a redrive moves a message', () => {
  it('out of its queue and into those the exchange names, as new, and counts it', () => {
    const { publish, kill, redrive, entries, bodies, queue, vhost } = arrange();
    for (const body of ['one', 'two', 'three']) publish('work', body);
    kill();
    expect(bodies('dead')).toEqual(['one', 'two', 'three']);
    expect(deathsOf(entries('dead')[1]?.message.properties.headers)).toHaveLength(1);
    expect(redrive('dead', entries('dead')[1])).toEqual({ outcome: 'moved', queues: ['work'] });
    expect([bodies('dead'), bodies('work')]).toEqual([['one', 'three'], ['two']]);
    const moved = entries('work')[0]?.message;
    expect([...moved!.properties.headers!.keys()]).toEqual(['dlx-redrives']);
    expect([moved?.hasDied, moved?.exchange, moved?.routingKey]).toEqual([false, '', 'work']);
    expect([queue('dead').counters.redriven, vhost.counters.redriven, queue('dead').counters.ack]).toEqual([1, 1, 0]);
    expect(queue('work').counters.publish).toBe(4);
  });

  it('to every queue of the exchange at once, and to its consumers', () => {
    const { channel, publish, redrive, entries, bodies, deliveries, broker } = arrange();
    channel.declareExchange('all', { type: 'fanout' });
    channel.bindQueue('work', 'all', '');
    channel.declareQueue('copy');
    channel.bindQueue('copy', 'all', '');
    publish('dead', 'm');
    const consumer = listen(broker);
    consumer.channel.consume('work');
    const result = redrive('dead', entries('dead')[0], { exchange: 'all', routingKey: 'any' });
    expect(result).toEqual({ outcome: 'moved', queues: ['work', 'copy'] });
    expect([consumer.bodies(), bodies('copy'), bodies('dead'), deliveries]).toEqual([['m'], ['m'], [], []]);
  });

  it('back into its own queue, at the end, also when that is full (rule C7)', () => {
    const { declare, publish, redrive, entries, bodies, queue } = arrange();
    declare('full', table({ 'x-max-length': 2, 'x-overflow': 'reject-publish' }));
    publish('full', 'one');
    publish('full', 'two');
    expect(redrive('full', entries('full')[0], { routingKey: 'full' })).toEqual({ outcome: 'moved', queues: ['full'] });
    expect(bodies('full')).toEqual(['two', 'one']);
    expect([queue('full').length, queue('full').bytes]).toEqual([2, 6]);
  });

  it('keeps all else about it: the other properties, and CC keys if the headers have them (rule G2)', () => {
    const { publish, redrive, entries, declare } = arrange();
    declare('cc');
    publish('dead', 'm', { deliveryMode: 2, priority: 3, messageId: 'id', correlationId: 'c' });
    const headers = new Map([['CC', array([longstr('cc')])]]);
    expect(redrive('dead', entries('dead')[0], { headers })).toEqual({ outcome: 'moved', queues: ['work', 'cc'] });
    expect(entries('work')[0]?.message.properties).toMatchObject({
      deliveryMode: 2,
      priority: 3,
      messageId: 'id',
      correlationId: 'c',
      headers,
    });
  });

  it('that may die on the same way again: without its deaths no cycle is cut (rules I1, I6)', () => {
    const { clock, declare, publish, redrive, entries, bodies } = arrange({ rabbitmq: '3.10' });
    const expiring = (to: string) =>
      table({ 'x-message-ttl': 100, 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': to });
    declare('first', expiring('second'));
    declare('second', expiring('end'));
    declare('end');
    publish('first', 'm');
    for (let round = 1; round <= 3; round++) {
      clock.advance(200);
      expect(bodies('end')).toEqual(['m']);
      expect(redrive('end', entries('end')[0], { routingKey: 'first' }).outcome).toBe('moved');
      expect(entries('first')[0]?.message.properties.headers?.get('dlx-redrives')?.value).toBe(round);
    }
    clock.advance(200);
    const [last] = entries('end');
    redrive('end', last, { routingKey: 'first', headers: last?.message.properties.headers });
    clock.advance(200);
    expect(bodies('end')).toEqual([]); // with them it is
  });

  it('and if the next in line is due already, that one dies at once (rule B5)', () => {
    const { clock, declare, publish, redrive, entries, bodies } = arrange();
    declare('line', table({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' }));
    publish('line', 'stands');
    publish('line', 'late', { expiration: '10' });
    clock.advance(50);
    expect(bodies('line')).toEqual(['stands', 'late']);
    redrive('line', entries('line')[0]);
    expect([bodies('line'), bodies('work'), bodies('dead')]).toEqual([[], ['stands'], ['late']]);
  });

  it('for which a full queue makes room by dropping its head (rule C4)', () => {
    const { declare, publish, redrive, entries, bodies } = arrange();
    declare('short', table({ 'x-max-length': 1 }));
    publish('short', 'old');
    publish('dead', 'new');
    redrive('dead', entries('dead')[0], { routingKey: 'short' });
    expect([bodies('short'), bodies('dead')]).toEqual([['new'], []]);
  });
});

describe('a redrive changes nothing', () => {
  it('when no queue would get the message', () => {
    const { publish, redrive, entries, bodies, vhost, queue } = arrange();
    publish('dead', 'm');
    const before = { ...vhost.counters };
    expect(redrive('dead', entries('dead')[0], { routingKey: 'nowhere' })).toEqual({ outcome: 'unroutable' });
    expect([bodies('dead'), { ...vhost.counters }]).toEqual([['m'], before]);
    expect(queue('dead').length).toBe(1);
  });

  it('when one of its queues is full and refuses, whatever the others say (rule C7)', () => {
    const { channel, declare, publish, redrive, entries, bodies } = arrange();
    for (const overflow of ['reject-publish', 'reject-publish-dlx']) {
      const deadLetters = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'lost' };
      declare(overflow, table({ 'x-max-length-bytes': 4, 'x-overflow': overflow, ...deadLetters }));
      declare('lost');
      publish(overflow, '1234');
      channel.declareExchange(`to-${overflow}`, { type: 'fanout' });
      for (const queue of ['work', overflow]) channel.bindQueue(queue, `to-${overflow}`, '');
      publish('dead', 'm');
      const result = redrive('dead', entries('dead')[0], { exchange: `to-${overflow}` });
      expect(result).toEqual({ outcome: 'refused', queues: [overflow] });
      expect([bodies('dead'), bodies('work'), bodies(overflow), bodies('lost')]).toEqual([['m'], [], ['1234'], []]);
      channel.purgeQueue('dead');
    }
  });

  it('when the message is gone meanwhile: delivered, expired, purged, with its queue, or moved before', () => {
    const { channel, clock, declare, publish, queue, redrive, entries } = arrange();
    const outcome = (from: string, then: () => unknown): string => {
      const [entry] = entries(from);
      const old = queue(from);
      then();
      const to = { exchange: '', routingKey: 'work', headers: undefined };
      return channel.vhost.redrive(old, entry!, to).outcome;
    };
    publish('dead', 'taken');
    expect(outcome('dead', () => hands(channel, 'dead'))).toBe('gone');
    declare('brief', table({ 'x-message-ttl': 10 }));
    publish('brief', 'm');
    expect(outcome('brief', () => clock.advance(10))).toBe('gone');
    publish('dead', 'm');
    expect(outcome('dead', () => channel.purgeQueue('dead'))).toBe('gone');
    publish('brief', 'm');
    expect(outcome('brief', () => channel.deleteQueue('brief'))).toBe('gone');
    publish('dead', 'm');
    expect(outcome('dead', () => redrive('dead', entries('dead')[0]))).toBe('gone');
    expect(queue('work').length).toBe(1);
  });

  it('when it came back since: then it is another time, and may be moved again', () => {
    const { channel, publish, redrive, entries, bodies } = arrange();
    publish('dead', 'm');
    const [entry] = entries('dead');
    channel.nack(hands(channel, 'dead'));
    expect(redrive('dead', entry)).toEqual({ outcome: 'moved', queues: ['work'] });
    expect(bodies('dead')).toEqual([]);
  });

  it('for dead letters that are only retained until their targets have them: they wait in no line (rule M3)', () => {
    const { channel, queue } = arrange({ rabbitmq: '3.10' });
    const args = {
      'x-queue-type': 'quorum',
      'x-dead-letter-strategy': 'at-least-once',
      'x-overflow': 'reject-publish',
    };
    const name = 'keeper';
    const all = table({ ...args, 'x-dead-letter-exchange': 'nowhere', 'x-message-ttl': 0 });
    channel.declareQueue(name, { durable: true, arguments: all });
    publishText(channel, '', name, 'm');
    expect([queue(name).length, queue(name).retained, queue(name).deadLettering.retained?.bytes ?? 0]).toEqual([
      0, 1, 1,
    ]);
    expect(queue(name).browse({ limit: 10 })).toEqual({ entries: [], sections: [], next: undefined });
    expect(queue(name).find(1)).toBeUndefined();
  });

  it('when the exchange is not there or internal (rule K7)', () => {
    const { channel, publish, redrive, entries, bodies } = arrange();
    channel.declareExchange('inner', { internal: true });
    publish('dead', 'm');
    const [entry] = entries('dead');
    expect(() => redrive('dead', entry, { exchange: 'gone' })).toThrow("NOT_FOUND - no exchange 'gone' in vhost '/'");
    expect(() => redrive('dead', entry, { exchange: 'inner' })).toThrow('cannot publish to internal exchange');
    expect(bodies('dead')).toEqual(['m']);
  });
});

describe('wouldRoute', () => {
  it('names the queues of a message and changes nothing', () => {
    const { channel, publish, entries, bodies, vhost, view } = arrange();
    channel.declareExchange('t', { type: 'topic' });
    channel.declareExchange('behind', { type: 'fanout' });
    channel.bindExchange('behind', 't', 'a.#');
    channel.bindQueue('work', 'behind', '');
    channel.bindQueue('dead', 't', '*.b');
    publish('dead', 'm');
    const { message } = entries('dead')[0]!;
    const before = JSON.stringify([vhost.counters, vhost.queues.get('work')?.counters]);
    expect(vhost.wouldRoute('t', 'a.b', message)).toEqual(['dead', 'work']);
    expect(vhost.wouldRoute('t', 'x', message)).toEqual([]);
    expect(() => vhost.wouldRoute('gone', 'x', message)).toThrow("no exchange 'gone'");
    expect(JSON.stringify([vhost.counters, vhost.queues.get('work')?.counters])).toBe(before);
    expect([bodies('dead'), view('work').ready]).toEqual([['m'], 0]);
  });
});

describe('discard', () => {
  it('deletes one waiting message, which is no death (rule A8)', () => {
    const { publish, vhost, queue, entries, bodies } = arrange();
    for (const body of ['one', 'two', 'three']) publish('work', body, { deliveryMode: 2 });
    const [, second] = entries('work');
    expect(vhost.discard(queue('work'), second!)).toBe(true);
    expect(vhost.discard(queue('work'), second!)).toBe(false);
    expect([bodies('work'), bodies('dead')]).toEqual([['one', 'three'], []]);
    expect([queue('work').bytes, queue('work').persistent]).toEqual([8, { count: 2, bytes: 8 }]);
    expect([queue('work').counters.discarded, vhost.counters.discarded]).toEqual([1, 1]);
  });
});
