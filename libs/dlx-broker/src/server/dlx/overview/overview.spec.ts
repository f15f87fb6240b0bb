import { describe, expect, it } from 'vitest';
import { silentOutbox } from '../../../engine/broker/index.js';
import { toFieldTable } from '../../../engine/message/index.js';
import type { HarnessOptions } from '../../../../../../test/harnesses/api-harness.js';
import { dyingTo, sampledRooms } from '../../../../../../test/harnesses/sampled-rooms.js';

interface Overview {
  readonly rates_series: Readonly<Record<string, readonly number[]>>;
  readonly alarms: readonly Record<string, unknown>[];
  readonly [key: string]: unknown;
}

function arrange(options: HarnessOptions = {}) {
  const rooms = sampledRooms(options);
  rooms.declare('orders', dyingTo('dead'));
  rooms.declare('dead');
  const overview = async (query = ''): Promise<Overview> => {
    const { status, body } = await rooms.call('GET', `/dlx/overview${query}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return body as Overview;
  };
  const alarms = async (): Promise<unknown[]> =>
    (await overview()).alarms.map(({ kind, vhost, queue, text }) => [kind, vhost, queue, text]);
  const die = (count: number): void => {
    rooms.publish('orders', count);
    rooms.reject('orders', count);
  };
  return { ...rooms, overview, alarms, die };
}

describe('GET /api/dlx/overview', () => {
  it('shows totals, rates by reason and their past, and the fullest dead-letter queues', async () => {
    const { clock, publish, pass, overview, declare, die } = arrange();
    declare('short', dyingTo('dead.short', { 'x-max-length': 1 }));
    declare('dead.short');
    pass();
    const died = clock.now();
    die(20);
    publish('short', 6);
    publish('orders', 3);
    pass();
    const { rates_series: series, ...rest } = await overview();
    expect(rest).toEqual({
      totals: {
        queues: 4,
        dead_letter_queues: 2,
        unproven_queues: 0,
        messages_ready: 29,
        messages_unacknowledged: 0,
        dead_letters: 25,
      },
      dead_letter_rates: { rejected: 4, expired: 0, maxlen: 1, delivery_limit: 0 },
      top: [
        { vhost: '/', name: 'dead', messages_ready: 20, oldest: died, dead_in_rate: 4 },
        { vhost: '/', name: 'dead.short', messages_ready: 5, oldest: died, dead_in_rate: 1 },
      ],
      redrives: [],
      alarms: [],
      more_alarms: 0,
    });
    const none = new Array<number>(59).fill(0);
    const zeros = [...none, 0];
    expect(series).toEqual({
      interval_ms: 5_000,
      rejected: [...none, 4],
      expired: zeros,
      maxlen: [...none, 1],
      delivery_limit: zeros,
      redriven: zeros,
    });
  });

  it('keeps the rates of five minutes, also of redrives', async () => {
    const { call, clock, die, pass, overview } = arrange();
    die(10);
    pass();
    const { status } = await call('POST', '/dlx/redrives', {
      body: { vhost: '/', queue: 'dead', rate: 0, circuit: false },
    });
    expect(status).toBe(201);
    clock.advance(10);
    pass(2);
    const { rates_series: series } = await overview();
    expect(series['rejected']?.slice(-3)).toEqual([2, 0, 0]);
    expect(series['redriven']?.slice(-3)).toEqual([0, 1.996, 0]);
    pass(60);
    expect((await overview()).rates_series['rejected']).toEqual(new Array(60).fill(0));
  });

  it('shows running redrives', async () => {
    const { call, die, overview } = arrange();
    die(10);
    await call('POST', '/dlx/redrives', { body: { vhost: '/', queue: 'dead', rate: 1 } });
    expect((await overview())['redrives']).toMatchObject([{ queue: 'dead', state: 'running' }]);
    expect((await overview('?vhost=/'))['redrives']).toHaveLength(1);
  });

  it('raises an alarm for a dead-letter queue that grows, and none for a wait queue', async () => {
    const { declare, publish, reject, pass, alarms, die } = arrange();
    declare('work', dyingTo('wait'));
    declare('wait', dyingTo('work', { 'x-message-ttl': 600_000 }));
    die(5);
    pass();
    die(9);
    publish('work', 50);
    reject('work', 50);
    pass(11);
    expect(await alarms()).toEqual([]);
    die(3);
    pass();
    expect(await alarms()).toEqual([['growing', '/', 'dead', 'grew by 12 messages in the last minute, to 17']]);
    pass(12);
    expect(await alarms()).toEqual([]);
  });

  it('raises an alarm for dead letters that do not arrive', async () => {
    const { declare, publish, reject, alarms } = arrange({ deadLetterRetryAfter: 5_000 });
    const atLeastOnce = {
      'x-queue-type': 'quorum',
      'x-overflow': 'reject-publish',
      'x-dead-letter-strategy': 'at-least-once',
    };
    declare('kept', dyingTo('nowhere', atLeastOnce), { durable: true });
    declare('lost', { 'x-dead-letter-exchange': 'gone' });
    publish('kept', 2);
    reject('kept', 2);
    expect(await alarms()).toEqual([
      ['stuck_dlx', '/', 'kept', '2 dead letters found no queue that takes them; they are tried again every 5 s'],
      ['stuck_dlx', '/', 'lost', expect.stringMatching(/'gone' does not exist/)],
    ]);
  });

  it('names the queues that are paused, so that none is forgotten', async () => {
    const { call, clock, declare, publish, alarms, overview } = arrange();
    const at = (time: number): string => new Date(time).toISOString().replace('.000Z', 'Z');
    const start = clock.now();
    publish('orders', 3);
    const pause = (queue: string, body: object) => call('PUT', `/dlx/queues/%2F/${queue}/pause`, { body });
    await pause('orders', { reason: 'the bank is down' });
    await pause('dead', { for: '1h' });
    expect(await alarms()).toEqual([
      ['paused', '/', 'dead', `paused by guest since ${at(start)}, until ${at(start + 3_600_000)}; 0 messages wait`],
      [
        'paused',
        '/',
        'orders',
        `paused by guest since ${at(start)}, until it is resumed; 3 messages wait: the bank is down`,
      ],
    ]);
    clock.advance(3_600_000);
    await call('DELETE', '/dlx/queues/%2F/orders/pause');
    expect(await alarms()).toEqual([]);
    for (let n = 0; n < 25; n++) {
      declare(`q${n}`);
      await pause(`q${n}`, {});
    }
    expect([(await alarms()).length, (await overview())['more_alarms']]).toEqual([20, 5]);
  });

  it('raises an alarm for messages that go round, very often or without a wait', async () => {
    const { channel, declare, publish, reject, pass, alarms } = arrange();
    declare('here', dyingTo('there'));
    declare('there', dyingTo('here'));
    publish('here');
    pass();
    for (let n = 0; n < 101; n++) {
      reject('here');
      reject('there');
    }
    expect(await alarms()).toEqual([
      ['loop', '/', 'here', 'its next message has gone round 101 times'],
      ['loop', '/', 'here', 'rejected messages go round without a wait: here -> there -> here'],
    ]);
    channel.purgeQueue('here');
    pass(3);
    expect(await alarms()).toEqual([]);
  });

  it('counts nothing as dead, and raises no alarm, because of headers that a publisher wrote', async () => {
    const { channel, declare, publish, overview } = arrange();
    declare('here', dyingTo('there', { 'x-message-ttl': 1_000 }));
    declare('there', dyingTo('here'));
    declare('work');
    const deaths = [{ count: 500, reason: 'rejected', queue: 'here', exchange: '', 'routing-keys': ['here'] }];
    const headers = toFieldTable({ 'x-death': deaths });
    for (const name of ['here', 'there', 'work']) channel.publish('', name, { headers }, Buffer.from('x'));
    publish('work', 9);
    const { totals, top, alarms } = await overview('?vhost=/');
    expect(alarms).toEqual([]);
    expect(totals).toMatchObject({ unproven_queues: 2, dead_letters: 1 });
    expect(top).toMatchObject([{ name: 'here' }]);
  });

  it('shows the alarms of the broker, and faults only to users who monitor', async () => {
    const fault = { name: 'storage_failed' as const, reason: 'cannot write /data/1.log', queues: [] };
    const { broker, alarms } = arrange({ host: { alarms: () => ['memory', 'disk'], faults: () => [fault] } });
    expect(await alarms()).toEqual([
      ['memory', null, null, 'memory is short: publishers are blocked'],
      ['disk', null, null, 'the disk is nearly full: publishers are blocked'],
      ['disk', null, null, 'cannot write /data/1.log'],
    ]);
    broker.access.setUser('guest', { ...broker.access.user('guest')!, tags: ['management'] });
    expect(await alarms()).toHaveLength(2);
  });

  it('counts the alarms that it leaves out', async () => {
    const { declare, overview } = arrange();
    for (let n = 0; n < 25; n++) declare(`lost.${n}`, { 'x-dead-letter-exchange': 'gone' });
    const { alarms, more_alarms: more } = await overview();
    expect(alarms).toHaveLength(20);
    expect(more).toBe(5);
  });

  it('is about virtual hosts that the user may see', async () => {
    const { broker, call, overview } = arrange();
    broker.addVirtualHost('other');
    const other = broker.connect({ vhost: 'other' }).openChannel(silentOutbox);
    other.declareQueue('lost', { arguments: toFieldTable({ 'x-dead-letter-exchange': 'gone' }) });
    expect(await overview()).toMatchObject({ totals: { queues: 3 }, alarms: [{ vhost: 'other' }] });
    broker.access.setUser('guest', { ...broker.access.user('guest')!, tags: ['management'] });
    expect(await overview()).toMatchObject({ totals: { queues: 2 }, alarms: [] });
    expect((await call('GET', '/dlx/overview?vhost=other')).status).toBe(401);
    expect((await call('GET', '/dlx/overview?page=1')).status).toBe(400);
  });
});
