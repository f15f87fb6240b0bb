import { beforeEach, describe, expect, it } from 'vitest';
import { deathsOf, fromFieldTable, longstr, type Message, toFieldTable } from '../../../engine/message/index.js';
import { harness, type Harness } from '../../../testing.js';
import { rejectAll } from '../../../../../../test/harnesses/dying.js';
import { type Channel, type QueueOptions, silentOutbox } from '../../../engine/broker/index.js';
import { defaultBreaker } from '../../redrive/index.js';
import type { RedriveOrder } from './redrive-order.js';
import { QueueRedrive } from './queue-redrive.js';

describe('a redrive', () => {
  let rooms: Harness;
  let channel: Channel;
  let ended: string[];
  let log: unknown[];

  beforeEach(() => {
    rooms = harness();
    ended = [];
    log = [];
    channel = rooms.broker.connect().openChannel(silentOutbox);
    channel.declareExchange('orders', { type: 'direct' });
    declare('work', { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' });
    channel.bindQueue('work', 'orders', 'new');
    declare('dead');
  });

  const declare = (name: string, args: Record<string, unknown> = {}, options: Partial<QueueOptions> = {}): void => {
    channel.declareQueue(name, { ...options, arguments: toFieldTable(args) });
  };
  const vhost = () => rooms.broker.virtualHost('/');
  const queueOf = (name: string) => vhost().queues.get(name)!;
  const publish = (exchange: string, key: string, body: string, headers: Record<string, unknown> = {}): void => {
    channel.publish(exchange, key, { headers: toFieldTable(headers) }, Buffer.from(body));
  };
  /** So many orders that were rejected, numbered from 1. */
  const letDie = (count: number, from = 1): void => {
    for (let number = from; number < from + count; number++) publish('orders', 'new', `order ${number}`);
    rejectAll(channel, 'work');
  };
  const bodies = (name: string): string[] => messages(name).map(({ body }) => Buffer.from(body).toString());
  const messages = (name: string): Message[] => {
    const found: Message[] = [];
    queueOf(name).peek(({ message }) => void found.push(message));
    return found;
  };
  const redrive = (order: Partial<RedriveOrder> = {}): QueueRedrive =>
    new QueueRedrive(
      'r1',
      { vhost: vhost(), queue: queueOf('dead'), user: undefined, by: 'ada', rate: 50, dryRun: false, ...order },
      {
        clock: rooms.clock,
        ended: (task) => void ended.push(task.state),
        log: (error) => void log.push(error),
      },
    );

  it('takes messages back to where they came from, in their order', () => {
    letDie(5);
    const task = redrive();
    rooms.clock.advance(1_000);
    expect(bodies('work')).toEqual(['order 1', 'order 2', 'order 3', 'order 4', 'order 5']);
    expect(bodies('dead')).toEqual([]);
    expect([task.state, task.counts.moved, [...task.counts.destinations]]).toEqual(['done', 5, [['work', 5]]]);
    expect(ended).toEqual(['done']);
  });

  it('goes at its rate: 50 a second are one every 20 ms', () => {
    letDie(100);
    const task = redrive({ rate: 50 });
    rooms.clock.advance(0);
    expect(task.counts.moved).toBe(1);
    rooms.clock.advance(19);
    expect(task.counts.moved).toBe(1);
    rooms.clock.advance(1);
    expect(task.counts.moved).toBe(2);
    rooms.clock.advance(980);
    expect(task.counts.moved).toBe(51);
    rooms.clock.advance(980);
    expect([task.counts.moved, task.state]).toEqual([100, 'done']);
  });

  it.each([1, 7, 333, 5_000])('keeps a rate of %d a second', (rate) => {
    letDie(12_000);
    const task = redrive({ rate });
    rooms.clock.advance(2_000);
    expect(Math.abs(task.counts.moved - rate * 2)).toBeLessThanOrEqual(Math.max(1, rate / 50));
  });

  it('strips the history and says from where, when, by whom', () => {
    publish('orders', 'new', 'one', { mine: 1, 'dlx-error-class': 'TypeError' });
    rejectAll(channel, 'work');
    expect(deathsOf(messages('dead')[0]!.properties.headers)).toHaveLength(1);
    redrive();
    rooms.clock.advance(0);
    const headers = messages('work')[0]!.properties.headers!;
    expect({ ...fromFieldTable(headers) }).toEqual({
      mine: 1,
      'dlx-redrives': 1,
      'dlx-redriven-from': 'dead',
      'dlx-redriven-at': rooms.clock.now() / 1000,
      'dlx-redriven-by': 'ada',
      'dlx-redriven-task': 'r1',
    });
    expect(headers.get('dlx-redriven-at')?.type).toBe('T');
  });

  it('counts the redrives of a message that comes again and again', () => {
    letDie(1);
    for (const count of [1, 2, 3]) {
      redrive();
      rooms.clock.advance(0);
      expect(messages('work')[0]!.properties.headers!.get('dlx-redrives')).toEqual({ type: 'I', value: count });
      rejectAll(channel, 'work');
    }
  });

  it('never touches what arrives after it began, so it ends even if everything comes back at once', () => {
    letDie(30);
    declare('loop');
    channel.bindQueue('dead', 'orders', 'straight back');
    const task = redrive({ to: { exchange: 'orders', routingKey: 'straight back' }, rate: Infinity });
    rooms.clock.advance(1_000);
    expect([task.state, task.counts.moved, queueOf('dead').length]).toEqual(['done', 30, 30]);
    const later = redrive({ to: { exchange: '', routingKey: 'loop' }, rate: 10 });
    rooms.clock.advance(100);
    letDie(3, 100);
    rooms.clock.advance(10_000);
    expect([later.state, later.counts.moved]).toEqual(['done', 30]);
    expect(bodies('dead')).toEqual(['order 100', 'order 101', 'order 102']);
  });

  it('takes only what its filter means, and leaves the others where they stand', () => {
    for (const [body, error] of [
      ['one', 'A'],
      ['two', 'B'],
      ['three', 'A'],
      ['four', 'B'],
    ] as const) {
      publish('orders', 'new', body, { 'dlx-error-class': error });
    }
    rejectAll(channel, 'work');
    const task = redrive({ filter: { error: 'B' }, rate: Infinity });
    rooms.clock.advance(0);
    expect([bodies('work'), bodies('dead')]).toEqual([
      ['two', 'four'],
      ['one', 'three'],
    ]);
    expect([task.scanned, task.counts.moved]).toEqual([4, 2]);
  });

  it('takes those of certain positions, once each, and says which are gone', () => {
    letDie(4);
    const ids: number[] = [];
    queueOf('dead').peek(({ position }) => void ids.push(position));
    channel.get('dead', { noAck: true });
    const task = redrive({ ids: [ids[3]!, ids[1]!, ids[3]!, ids[0]!], rate: Infinity });
    rooms.clock.advance(0);
    expect([bodies('work'), bodies('dead')]).toEqual([['order 2', 'order 4'], ['order 3']]);
    expect([task.state, task.counts.moved, task.counts.gone]).toEqual(['done', 2, 1]);
  });

  it('moves so many at most', () => {
    letDie(9);
    const task = redrive({ limit: 4, rate: Infinity });
    rooms.clock.advance(0);
    expect([task.state, bodies('dead').length]).toEqual(['done', 5]);
  });

  it('moves so many, however many stay on the way', () => {
    publish('', 'dead', 'never died');
    letDie(3);
    publish('', 'dead', 'never died');
    const task = redrive({ limit: 2, rate: Infinity });
    rooms.clock.advance(0);
    expect([task.state, task.counts.moved, task.counts.left]).toEqual(['done', 2, 1]);
  });

  it('leaves what no queue would get, and counts it by its address', () => {
    publish('orders', 'new', 'one');
    rejectAll(channel, 'work');
    channel.unbindQueue('work', 'orders', 'new');
    publish('', 'dead', 'never died');
    const task = redrive({ rate: Infinity });
    rooms.clock.advance(0);
    expect(bodies('dead')).toEqual(['one', 'never died']);
    expect([task.state, task.counts.moved, task.counts.left]).toEqual(['done', 0, 2]);
    expect(task.counts.leftAt).toEqual([
      { why: 'unroutable', to: { exchange: 'orders', routingKey: 'new' }, count: 1, example: 1 },
      { why: 'no_origin', to: undefined, count: 1, example: 2 },
    ]);
  });

  it('leaves what tells of an origin by its headers only, and counts it', () => {
    const forged = { 'dlx-first-exchange': 'orders', 'dlx-first-routing-key': 'new' };
    publish('', 'dead', 'never died', forged);
    publish('orders', 'new', 'died', { ...forged, 'dlx-first-routing-key': 'other' });
    rejectAll(channel, 'work');
    const task = redrive({ rate: Infinity });
    rooms.clock.advance(0);
    expect([bodies('dead'), bodies('work')]).toEqual([['never died'], ['died']]);
    expect([task.counts.moved, task.counts.left, task.counts.unproven]).toEqual([1, 1, 1]);
    expect(task.counts.leftAt).toEqual([{ why: 'unproven_origin', to: undefined, count: 1, example: 1 }]);
    const told = redrive({ rate: Infinity, to: { exchange: '', routingKey: 'work' } });
    rooms.clock.advance(0);
    expect([told.counts.moved, bodies('dead')]).toEqual([1, []]);
  });

  it('keeps what is known of the origin with the history, and forgets it when the message begins anew', () => {
    letDie(1);
    declare('aside');
    const aside = { exchange: '', routingKey: 'aside' };
    redrive({ rate: Infinity, to: aside, keepsHistory: true });
    rooms.clock.advance(0);
    expect(messages('aside')[0]!.origin).toEqual({ exchange: 'orders', routingKey: 'new', queue: 'work' });
    const back = redrive({ queue: queueOf('aside'), rate: Infinity });
    rooms.clock.advance(0);
    expect([back.counts.moved, messages('work')[0]!.origin]).toEqual([1, undefined]);
  });

  it('leaves what its exchange, being gone, cannot take, and what a full queue refuses', () => {
    letDie(2);
    channel.deleteExchange('orders');
    const gone = redrive({ rate: Infinity });
    rooms.clock.advance(0);
    expect(gone.counts.leftAt).toMatchObject([{ why: 'no_exchange', count: 2 }]);
    declare('narrow', { 'x-max-length': 1, 'x-overflow': 'reject-publish' });
    const full = redrive({ to: { exchange: '', routingKey: 'narrow' }, rate: Infinity });
    rooms.clock.advance(0);
    expect([bodies('narrow'), bodies('dead')]).toEqual([['order 1'], ['order 2']]);
    expect(full.counts.leftAt).toMatchObject([{ why: 'refused', count: 1 }]);
  });

  it('in a dry run tells where everything would go, and nothing has happened', () => {
    letDie(3);
    publish('', 'dead', 'never died');
    const before = messages('dead');
    const task = redrive({ dryRun: true, rate: 1 });
    rooms.clock.advance(0);
    expect([task.state, task.counts.moved, task.counts.left]).toEqual(['done', 3, 1]);
    expect([...task.counts.destinations]).toEqual([['work', 3]]);
    expect(messages('dead')).toEqual(before);
    expect([queueOf('work').length, queueOf('dead').counters.redriven]).toEqual([0, 0]);
  });

  it('pauses, goes on without a flood, and stops', () => {
    letDie(200);
    const task = redrive({ rate: 50 });
    rooms.clock.advance(200);
    expect([task.counts.moved, task.pause(), task.pause(), task.state]).toEqual([11, true, false, 'paused']);
    rooms.clock.advance(60_000);
    expect([task.counts.moved, task.resume(), task.resume()]).toEqual([11, true, false]);
    rooms.clock.advance(200);
    expect(task.counts.moved).toBeLessThanOrEqual(22);
    expect([task.cancel('enough'), task.cancel(), task.resume(), task.state]).toEqual([
      true,
      false,
      false,
      'cancelled',
    ]);
    const { moved } = task.counts;
    rooms.clock.advance(10_000);
    expect([task.counts.moved, task.reason, ended]).toEqual([moved, 'enough', ['cancelled']]);
    expect(rooms.clock.nextWakeUp()).toBeUndefined();
  });

  it('is bound by topic permissions as a publish is (rule N5)', () => {
    const { access } = rooms.broker;
    channel.declareExchange('topics', { type: 'topic' });
    channel.bindQueue('work', 'topics', '#');
    access.setUser('eve');
    access.setPermissions('eve', '/', { configure: '', write: '.*', read: '.*' });
    access.topics.set('eve', '/', { exchange: 'topics', write: '^open$', read: '' });
    letDie(2);
    const to = (routingKey: string) => {
      const task = redrive({ user: access.user('eve')!, rate: Infinity, to: { exchange: 'topics', routingKey } });
      rooms.clock.advance(0);
      return task.counts;
    };
    expect(to('shut').leftAt).toMatchObject([{ why: 'forbidden', count: 2 }]);
    expect([to('open').moved, bodies('work').length]).toEqual([2, 2]);
  });

  it('acts with the rights of its user, to the last', () => {
    const { access } = rooms.broker;
    access.setUser('eve');
    access.setPermissions('eve', '/', { configure: '', write: 'other', read: '.*' });
    letDie(2);
    const user = access.user('eve')!;
    const left = redrive({ user, rate: Infinity });
    rooms.clock.advance(0);
    expect(left.counts.leftAt).toMatchObject([{ why: 'forbidden', count: 2 }]);
    access.setPermissions('eve', '/', { configure: '', write: '.*', read: '.*' });
    const task = redrive({ user, rate: 1 });
    rooms.clock.advance(0);
    access.deletePermissions('eve', '/');
    rooms.clock.advance(5_000);
    expect([task.state, task.counts.moved]).toEqual(['failed', 1]);
    expect(task.reason).toBe("ACCESS_REFUSED - read access to queue 'dead' in vhost '/' refused for user 'eve'");
  });

  it('fails when its queue goes', () => {
    letDie(3);
    const task = redrive({ rate: 1 });
    rooms.clock.advance(0);
    channel.deleteQueue('dead');
    rooms.clock.advance(1_000);
    expect([task.state, task.reason]).toEqual(['failed', "queue 'dead' is gone"]);
  });

  describe('stops itself', () => {
    it('when too much of what it redrove comes back dead', () => {
      letDie(500);
      const task = redrive({ rate: 100, circuit: defaultBreaker });
      for (let tenth = 0; tenth < 100 && task.state === 'running'; tenth++) {
        rooms.clock.advance(100);
        rejectAll(channel, 'work');
      }
      expect(task.state).toBe('waiting');
      expect([task.reason, ended]).toEqual(['more than 50 % of what was redriven came back dead', ['waiting']]);
      expect(task.counts.moved).toBeGreaterThanOrEqual(20);
      expect(task.counts.moved).toBeLessThan(50);
      expect(queueOf('dead').length).toBe(500);
    });

    it('also when they end up in another queue than they came from', () => {
      letDie(500);
      declare('other');
      channel.declareExchange('elsewhere', { type: 'fanout' });
      channel.bindQueue('other', 'elsewhere', '');
      declare('work2', { 'x-dead-letter-exchange': 'elsewhere' });
      const to = { exchange: '', routingKey: 'work2' };
      const task = redrive({ rate: 100, circuit: { percent: 10, atLeast: 30 }, to });
      for (let tenth = 0; tenth < 100 && task.state === 'running'; tenth++) {
        rooms.clock.advance(100);
        rejectAll(channel, 'work2');
      }
      expect([task.state, task.counts.moved < 60]).toEqual(['waiting', true]);
    });

    it.each([Infinity, 100_000])('also at full speed: it looks before it goes on (rate %d)', (rate) => {
      letDie(2_000);
      const task = redrive({ rate, circuit: defaultBreaker });
      for (let tenth = 0; tenth < 100 && task.state === 'running'; tenth++) {
        rooms.clock.advance(100);
        rejectAll(channel, 'work');
      }
      expect([task.state, task.counts.moved, queueOf('dead').length]).toEqual(['waiting', 20, 2_000]);
    });

    it('not at full speed when all goes well: twice as many each second', () => {
      letDie(2_000);
      const task = redrive({ rate: Infinity, circuit: defaultBreaker });
      const moved = Array.from({ length: 8 }, () => {
        rooms.clock.advance(1_000);
        channel.purgeQueue('work');
        return task.counts.moved;
      });
      expect([moved.slice(0, 4), task.state]).toEqual([[60, 140, 300, 620], 'done']);
    });

    it('and sees for a minute after its end what comes back', () => {
      letDie(10);
      const task = redrive({ rate: Infinity, circuit: defaultBreaker });
      rooms.clock.advance(0);
      expect([task.state, task.counts.returned]).toEqual(['done', 0]);
      expect(task.watchedUntil).toBe(rooms.clock.now() + 60_000);
      for (let each = 0; each < 4; each++) channel.reject(channel.get('work')!.deliveryTag, false);
      rooms.clock.advance(1_000);
      expect(task.counts.returned).toBe(4);
      rooms.clock.advance(58_000);
      channel.reject(channel.get('work')!.deliveryTag, false);
      rooms.clock.advance(1_000);
      expect([task.counts.returned, task.state]).toEqual([5, 'done']);
      channel.reject(channel.get('work')!.deliveryTag, false);
      rooms.clock.advance(5_000);
      expect([task.counts.returned, ended]).toEqual([5, ['done']]);
    });

    it('and sees no more when its broker shuts down', () => {
      letDie(10);
      const task = redrive({ rate: Infinity, circuit: defaultBreaker });
      rooms.clock.advance(0);
      task.close();
      expect(task.watchedUntil).toBe(rooms.clock.now());
      rejectAll(channel, 'work');
      rooms.clock.advance(5_000);
      expect(task.counts.returned).toBe(0);
    });

    it('and goes on when an operator says so', () => {
      letDie(300);
      const task = redrive({ rate: 100, circuit: defaultBreaker });
      for (let tenth = 0; tenth < 10; tenth++) {
        rooms.clock.advance(100);
        rejectAll(channel, 'work');
      }
      const { moved } = task.counts;
      expect([task.state, task.isOver, task.resume()]).toEqual(['waiting', false, true]);
      rooms.clock.advance(10_000);
      expect([task.state, task.counts.moved]).toEqual(['done', 300]);
      expect(moved).toBeLessThan(300);
    });

    it('not when less comes back, nor for what others let die', () => {
      letDie(300);
      const task = redrive({ rate: 100, circuit: defaultBreaker });
      for (let tenth = 0; tenth < 40; tenth++) {
        rooms.clock.advance(100);
        for (let number = 0; number < 20; number++) publish('orders', 'new', 'new one', {});
        for (let got = channel.get('work'), nth = 0; got !== undefined; got = channel.get('work')) {
          const isRedriven = got.message.properties.headers?.has('dlx-redriven-task') === true;
          if (!isRedriven || nth++ % 4 === 0) channel.reject(got.deliveryTag, false);
          else channel.ack(got.deliveryTag);
        }
      }
      expect([task.state, task.counts.moved]).toEqual(['done', 300]);
      expect(task.counts.returned).toBeGreaterThan(50);
    });

    it('not for messages that only wait for their next try', () => {
      declare('wait', { 'x-message-ttl': 60_000, 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'tried' });
      declare('tried', { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'wait' });
      letDie(200);
      const to = { exchange: '', routingKey: 'tried' };
      const task = redrive({ rate: 100, circuit: defaultBreaker, to });
      for (let tenth = 0; tenth < 30; tenth++) {
        rooms.clock.advance(100);
        rejectAll(channel, 'tried');
      }
      expect([task.state, queueOf('wait').length]).toEqual(['done', 200]);
    });
  });

  it('goes through priorities in the order of the queue', () => {
    declare('ranked', { 'x-max-priority': 5 });
    for (const [body, priority] of [
      ['low', 0],
      ['high', 5],
      ['lower', 0],
    ] as const) {
      channel.publish('', 'ranked', { priority, headers: new Map([['x', longstr('y')]]) }, Buffer.from(body));
    }
    const task = redrive({ queue: queueOf('ranked'), to: { exchange: '', routingKey: 'work' }, rate: Infinity });
    rooms.clock.advance(0);
    expect([task.state, bodies('work')]).toEqual(['done', ['high', 'low', 'lower']]);
    expect(log).toEqual([]);
  });
});
