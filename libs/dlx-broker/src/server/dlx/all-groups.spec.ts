import { describe, expect, it } from 'vitest';
import { silentOutbox } from '../../engine/broker/index.js';
import { toFieldTable } from '../../engine/message/index.js';
import { apiHarness } from '../../../../../test/harnesses/api-harness.js';
import { declareDying } from '../../../../../test/harnesses/dying.js';

interface Groups {
  readonly groups: readonly Record<string, unknown>[];
  readonly [key: string]: unknown;
}

/** Two queues of dead letters: orders die by rejection with two kinds of errors, mails by a limit. */
function arrange() {
  const rooms = apiHarness();
  const channel = rooms.broker.connect().openChannel(silentOutbox);
  declareDying(channel, ['orders', 'invoices'], 'dead');
  channel.declareQueue('mails.dead');
  const limit = { 'x-max-length': 1, 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'mails.dead' };
  channel.declareQueue('mails', { arguments: toFieldTable(limit) });
  const fail = (queue: string, error?: string): void => {
    const headers = toFieldTable(error === undefined ? {} : { 'dlx-error-class': 'Error', 'dlx-error-message': error });
    channel.publish('', queue, { headers }, Buffer.from(`body of ${queue}`));
    channel.reject(channel.get(queue)!.deliveryTag, false);
  };
  for (let n = 0; n < 3; n++) fail('orders', `no answer after ${n} ms`);
  fail('orders', 'no stock');
  fail('invoices');
  rooms.clock.advance(60_000);
  for (let n = 0; n < 3; n++) channel.publish('', 'mails', {}, Buffer.from('mail'));
  const groups = async (query = '', as?: string): Promise<Groups> => {
    const { status, body } = await rooms.call('GET', `/dlx/groups${query}`, { ...(as !== undefined && { as }) });
    expect(status, JSON.stringify(body)).toBe(200);
    return body as Groups;
  };
  const short = async (query = ''): Promise<unknown[]> =>
    (await groups(query)).groups.map((each) => [
      each['queue'],
      each['reason'],
      each['first_queue'],
      each['error'],
      each['count'],
    ]);
  return { ...rooms, channel, fail, groups, short };
}

describe('GET /api/dlx/groups', () => {
  it('groups all dead letters by their queue, reason, first queue and kind of error, most first', async () => {
    const { clock, groups } = arrange();
    const died = clock.now() - 60_000;
    const all = await groups();
    expect(all).toEqual({
      groups: all.groups,
      queues: 2,
      others: 0,
      scanned: 7,
      complete: true,
      skipped: [],
      unproven: [],
    });
    expect(all.groups[0]).toEqual({
      vhost: '/',
      queue: 'dead',
      reason: 'rejected',
      first_queue: 'orders',
      error: 'Error: no answer after # ms',
      count: 3,
      oldest: died,
      newest: died,
      example_id: '1',
    });
    expect(
      all.groups
        .slice(1)
        .map(({ queue, reason, first_queue: first, error, count }) => [queue, reason, first, error, count]),
    ).toEqual([
      ['mails.dead', 'maxlen', 'mails', '', 2],
      ['dead', 'rejected', 'orders', 'Error: no stock', 1],
      ['dead', 'rejected', 'invoices', '', 1],
    ]);
  });

  it.each([
    ['reason=maxlen', [['mails.dead', 'maxlen', 'mails', '', 2]]],
    ['died_in=invoices', [['dead', 'rejected', 'invoices', '', 1]]],
    ['queue=dead&error=', [['dead', 'rejected', 'invoices', '', 1]]],
    ['first_queue=orders&error=Error:%20no%20stock', [['dead', 'rejected', 'orders', 'Error: no stock', 1]]],
    ['older_than=30s&text=of%20invoices', [['dead', 'rejected', 'invoices', '', 1]]],
    ['queue=none', []],
    ['vhost=/&queue=mails', [['mails', '', '', '', 1]]],
  ])('selects by ?%s', async (query, expected) => {
    expect(await arrange().short(`?${query}`)).toEqual(expected);
  });

  it('shows queues that the user may not read as skipped, and none of hidden virtual hosts', async () => {
    const { broker, channel, call, groups } = arrange();
    const own = broker.connect({ vhost: broker.addVirtualHost('other').name }).openChannel(silentOutbox);
    declareDying(own, ['work'], 'hidden');
    channel.declareQueue('exclusive', { exclusive: true });
    broker.access.setUser('guest', { ...broker.access.user('guest')!, tags: ['management'] });
    broker.access.setPermissions('guest', '/', { configure: '.*', write: '.*', read: '^mails' });
    const { skipped, groups: found } = await groups('?queue=dead&queue=mails.dead&queue=exclusive&queue=hidden');
    expect(skipped).toEqual([
      { vhost: '/', queue: 'dead', why: 'no right to read' },
      { vhost: '/', queue: 'exclusive', why: 'exclusive to a connection' },
    ]);
    expect(found).toMatchObject([{ queue: 'mails.dead', count: 2 }]);
    expect((await groups()).skipped).toEqual([{ vhost: '/', queue: 'dead', why: 'no right to read' }]);
    expect((await call('GET', '/dlx/groups?vhost=other')).status).toBe(401);
  });

  it('examines short queues first, and says when it did not examine all', async () => {
    const { groups } = arrange();
    const { groups: found, ...rest } = await groups('?scan=3');
    expect(found.map(({ queue, count }) => [queue, count])).toEqual([
      ['mails.dead', 2],
      ['dead', 1],
    ]);
    expect(rest).toMatchObject({ scanned: 3, complete: false });
    expect(await groups('?scan=7')).toMatchObject({ complete: true });
  });

  it('counts messages beyond a thousand groups as others', async () => {
    const { channel, groups } = arrange();
    for (let n = 0; n < 1_100; n++) {
      const headers = toFieldTable({ 'dlx-error-class': `Error${n}`, 'dlx-parked': true });
      channel.publish('', 'mails.dead', { headers }, Buffer.from('x'));
    }
    const { groups: found, others } = await groups();
    expect(found).toHaveLength(1_000);
    expect(others).toBe(104);
  });

  it('takes a queue whose next message is parked for a dead-letter queue', async () => {
    const { channel, groups, short } = arrange();
    channel.declareQueue('work.parked');
    const headers = toFieldTable({ 'dlx-parked': true, 'dlx-queue': 'work', 'dlx-error-class': 'TypeError' });
    channel.publish('', 'work.parked', { headers }, Buffer.from('x'));
    expect(await short('?error=TypeError')).toEqual([['work.parked', 'parked', 'work', 'TypeError', 1]]);
    // Only its publisher says so.
    expect(await groups()).toMatchObject({ unproven: [{ vhost: '/', queue: 'work.parked' }] });
  });

  it.each(['reasons=x', 'scan=0', 'scan=1000001', 'older_than=soon', 'died_in=a&died_in=b', 'by=error'])(
    'refuses ?%s',
    async (query) => {
      expect((await arrange().call('GET', `/dlx/groups?${query}`)).status).toBe(400);
    },
  );
});
