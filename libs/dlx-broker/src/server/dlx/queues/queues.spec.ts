import { describe, expect, it } from 'vitest';
import { silentOutbox } from '../../../engine/broker/index.js';
import { toFieldTable } from '../../../engine/message/index.js';
import type { HarnessOptions } from '../../../../../../test/harnesses/api-harness.js';
import { dyingTo, sampledRooms } from '../../../../../../test/harnesses/sampled-rooms.js';

type Body = Record<string, unknown>;
interface List {
  readonly items: readonly Body[];
}

function arrange(options: HarnessOptions = {}) {
  const rooms = sampledRooms(options);
  const list = async (query = '', as?: string): Promise<List & Body> => {
    const { status, body } = await rooms.call('GET', `/dlx/queues${query}`, { ...(as !== undefined && { as }) });
    expect(status, JSON.stringify(body)).toBe(200);
    return body as List & Body;
  };
  const names = async (query = ''): Promise<unknown[]> => (await list(query)).items.map(({ name }) => name);
  const one = async (name: string): Promise<Body> => {
    const { status, body } = await rooms.call('GET', `/dlx/queues/%2F/${encodeURIComponent(name)}`);
    expect(status, JSON.stringify(body)).toBe(200);
    return body as Body;
  };
  return { ...rooms, list, names, one };
}

/** A work queue, its wait queue that returns messages, and a queue for the dead letters of another one. */
function retrying() {
  const rooms = arrange();
  rooms.declare('work', dyingTo('wait'));
  rooms.declare('wait', dyingTo('work', { 'x-message-ttl': 5_000 }));
  rooms.declare('orders', dyingTo('orders.dead'));
  rooms.declare('orders.dead');
  return rooms;
}

describe('GET /api/dlx/queues', () => {
  it('shows a row of each queue with features, counts and rates', async () => {
    const { clock, vhost, publish, reject, pass, list } = retrying();
    vhost.setPolicy('short', { pattern: '^orders$', definition: { 'message-ttl': 30_000, 'max-length': 100 } });
    vhost.setOperatorPolicy('most', { pattern: '.*', definition: { 'max-length': 50 } });
    pass();
    publish('orders', 11);
    const died = clock.now();
    reject('orders', 10);
    pass();
    const { items, ...rest } = await list('?name=ORDERS');
    expect(rest).toEqual({ page: 1, page_size: 100, page_count: 1, item_count: 2, filtered_count: 2, total_count: 4 });
    expect(items[0]).toEqual({
      vhost: '/',
      name: 'orders',
      type: 'classic',
      durable: false,
      exclusive: false,
      auto_delete: false,
      state: 'idle',
      features: [
        { letter: 'TTL', tip: 'message-ttl: 30000 (policy short)' },
        { letter: 'Lim', tip: 'max-length: 50 (operator policy most)' },
        { letter: 'DLX', tip: 'dead-letter-exchange:  (argument)' },
        { letter: 'DLK', tip: 'dead-letter-routing-key: orders.dead (argument)' },
        { letter: 'Pol', tip: 'policy: short' },
        { letter: 'OP', tip: 'operator policy: most' },
      ],
      policy: 'short',
      operator_policy: 'most',
      messages_ready: 1,
      messages_unacknowledged: 0,
      messages_dlx: 0,
      consumers: 0,
      publish_rate: 2.2,
      deliver_rate: 2,
      dead_in_rate: 0,
      dead_out_rate: 2,
      dead_letters_in: 0,
      oldest: null,
      paused: null,
      dead_letter_queue: false,
      dead_letter_proven: null,
    });
    expect(items[1]).toMatchObject({
      name: 'orders.dead',
      messages_ready: 10,
      dead_in_rate: 2,
      dead_letters_in: 10,
      oldest: Math.floor(died / 1000) * 1000,
      dead_letter_queue: true,
    });
  });

  it('gives the letters of arguments in the order of the page of RabbitMQ', async () => {
    const { declare, list } = arrange();
    const most = {
      'x-message-ttl': 1,
      'x-expires': 90_000,
      'x-max-length': 3,
      'x-max-length-bytes': 4,
      'x-overflow': 'reject-publish',
      'x-single-active-consumer': true,
      'x-dead-letter-exchange': 'x',
      'x-dead-letter-routing-key': 'k',
      'x-max-priority': 5,
      'x-queue-mode': 'lazy',
      'x-foreign': { deep: [9007199254740993n] },
    };
    declare('a', most, { durable: true, autoDelete: true, exclusive: true });
    declare('b', { 'x-queue-type': 'quorum', 'x-delivery-limit': 3 }, { durable: true });
    const { items } = await list();
    const letters = items.map(({ features }) => (features as { letter: string }[]).map(({ letter }) => letter));
    const all = ['D', 'AD', 'Excl', 'TTL', 'Exp', 'Lim', 'LimB', 'Ovfl', 'SAC', 'DLX', 'DLK', 'Pri', 'Args'];
    expect(letters).toEqual([all, ['D', 'DlL']]);
    const { tip } = (items[0]!['features'] as { tip: string }[]).at(-1)!;
    expect(tip).toMatch(/^x-queue-mode: lazy, x-foreign: \{"deep":\[.*\]\}$/);
  });

  it('tells dead-letter queues from work queues to which messages return after a wait', async () => {
    const { clock, declare, publish, reject, names } = retrying();
    publish('work');
    reject('work');
    clock.advance(5_000);
    expect(await names('?dead=true')).toEqual(['orders.dead', 'wait']);
    // A queue that no edge reaches any more, and that has had dead letters.
    declare('late', { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'once' });
    declare('once');
    expect(await names('?dead=true')).toEqual(['once', 'orders.dead', 'wait']);
  });

  it('takes no queue for one because a wait queue returns messages by the names of their queues', async () => {
    const { clock, channel, declare, publish, reject, names } = retrying();
    // As @Retry does: a failed message is published to the wait queue with the name of its queue as its key.
    channel.declareExchange('wait.1000', { type: 'fanout' });
    declare('wait.1000', { 'x-dead-letter-exchange': '', 'x-message-ttl': 1_000 });
    channel.bindQueue('wait.1000', 'wait.1000', '');
    declare('idle');
    channel.publish('wait.1000', 'work', {}, Buffer.from('again'));
    clock.advance(1_000);
    expect(await names('?dead=true')).toEqual(['orders.dead', 'wait']);
    publish('orders');
    reject('orders');
    expect(await names('?dead=true')).toEqual(['orders.dead', 'wait']);
  });

  it('takes a queue for one to which a consumer publishes what died', async () => {
    const { channel, publish, reject, names, one } = retrying();
    publish('orders');
    reject('orders');
    const { message } = channel.get('orders.dead', { noAck: true })!;
    channel.declareQueue('lot');
    expect(await names('?dead=true')).not.toContain('lot');
    channel.publish('', 'lot', { headers: message.properties.headers }, message.body as Uint8Array);
    expect(await names('?dead=true')).toContain('lot');
    expect(await one('lot')).toMatchObject({ dead_letter_queue: true, dead_letter_proven: false });
  });

  it.each([
    ['x-death', { 'x-death': [{ count: 500, reason: 'rejected', queue: 'orders', exchange: '', 'routing-keys': [] }] }],
    ['dlx-parked', { 'dlx-parked': true, 'dlx-queue': 'work' }],
  ])('marks a queue of work as not proven whose next message has a forged %s', async (_, headers) => {
    const { channel, declare, one, publish, names } = retrying();
    declare('plain');
    expect(await one('plain')).toMatchObject({ dead_letter_queue: false, dead_letter_proven: null });
    channel.publish('', 'plain', { headers: toFieldTable(headers) }, Buffer.from('x'));
    publish('plain');
    expect(await names('?dead=true')).toContain('plain');
    expect(await one('plain')).toMatchObject({ dead_letter_queue: true, dead_letter_proven: false });
    expect(await one('orders.dead')).toMatchObject({ dead_letter_queue: true, dead_letter_proven: true });
  });

  it('takes a queue for a proven one in which an operator put dead letters aside', async () => {
    const { call, clock, declare, one, publish, reject } = retrying();
    declare('aside');
    publish('orders');
    reject('orders');
    const order = { vhost: '/', queue: 'orders.dead', keep_history: true, rate: 0 };
    await call('POST', '/dlx/redrives', { body: { ...order, to: { exchange: '', routing_key: 'aside' } } });
    clock.advance(1);
    expect(await one('aside')).toMatchObject({ messages_ready: 1, dead_letter_proven: true });
  });

  it('knows by the death of the next message after a restart, when the counters begin at 0', async () => {
    const { channel, clock, vhost, one, publish, reject } = retrying();
    publish('orders');
    reject('orders');
    channel.deleteQueue('orders');
    publish('work');
    reject('work');
    clock.advance(5_000);
    for (const name of ['orders.dead', 'work']) vhost.queues.get(name)!.counters.deadLettersIn = 0;
    expect(await one('orders.dead')).toMatchObject({ dead_letters_in: 0, dead_letter_proven: true });
    // The wait queue returned this one to its work.
    expect(await one('work')).toMatchObject({ messages_ready: 1, dead_letter_queue: false });
  });

  it('keeps a queue that got dead letters when the edge to it has gone', async () => {
    const { channel, publish, reject, names } = retrying();
    publish('orders', 2);
    reject('orders');
    channel.deleteQueue('orders');
    expect(await names('?dead=true')).toEqual(['orders.dead', 'wait']);
  });

  it('shows lengths of the last five minutes where they are asked for', async () => {
    const { declare, list, pass, publish } = arrange();
    declare('early');
    for (let count = 1; count <= 5; count++) {
      publish('early');
      pass();
    }
    declare('late');
    pass();
    const { items } = await list('?lengths=true');
    const before = new Array<null>(28).fill(null);
    expect(items.map(({ name, lengths }) => [name, lengths])).toEqual([
      ['early', [...before, 2, 4, 5]],
      ['late', [...before, null, null, 0]],
    ]);
    expect((await list()).items[0]).not.toHaveProperty('lengths');
  });

  it('sorts by any column, reversed or not, rows without a value last', async () => {
    const { clock, declare, publish, reject, names } = arrange();
    for (const [index, name] of ['a', 'b', 'c'].entries()) {
      declare(name);
      declare(`${name}.work`, { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': name });
      if (name === 'b') continue;
      publish(`${name}.work`, 3 - index);
      reject(`${name}.work`, 3 - index);
      clock.advance(10_000);
    }
    expect(await names('?dead=true&sort=messages_ready&sort_reverse=true')).toEqual(['a', 'c', 'b']);
    expect(await names('?dead=true&sort=messages_ready')).toEqual(['b', 'c', 'a']);
    expect(await names('?dead=true&sort=oldest')).toEqual(['a', 'c', 'b']);
    expect(await names('?dead=true&sort=oldest&sort_reverse=true')).toEqual(['c', 'a', 'b']);
    expect(await names('?sort_reverse=true')).toEqual(['c.work', 'c', 'b.work', 'b', 'a.work', 'a']);
    expect(await names('?dead=true&sort=name&sort_reverse=true&page=2&page_size=2')).toEqual(['a']);
  });

  it('follows changes of policies, bindings and exchanges', async () => {
    const { channel, vhost, declare, names } = arrange();
    declare('source');
    declare('sink');
    expect(await names('?dead=true')).toEqual([]);
    vhost.setPolicy('dead', { pattern: '^source$', definition: { 'dead-letter-exchange': 'dlx' } });
    expect(await names('?dead=true')).toEqual([]);
    channel.declareExchange('dlx', { type: 'fanout' });
    channel.bindQueue('sink', 'dlx', '');
    expect(await names('?dead=true')).toEqual(['sink']);
    channel.unbindQueue('sink', 'dlx', '');
    expect(await names('?dead=true')).toEqual([]);
    channel.bindQueue('sink', 'dlx', '');
    vhost.deletePolicy('dead');
    expect(await names('?dead=true')).toEqual([]);
  });

  it('shows what the user may see, and refuses the rest', async () => {
    const { broker, call, list } = retrying();
    broker.addVirtualHost('other');
    broker.connect({ vhost: 'other' }).openChannel(silentOutbox).declareQueue('hidden');
    broker.access.setUser('guest', { ...broker.access.user('guest')!, tags: ['management'] });
    const seen = await list();
    expect(seen.items.map(({ vhost }) => vhost)).toEqual(['/', '/', '/', '/']);
    expect((await call('GET', '/dlx/queues?vhost=other')).status).toBe(401);
    expect((await call('GET', '/dlx/queues?vhost=none')).status).toBe(404);
    expect((await call('GET', '/dlx/queues/other/hidden')).status).toBe(401);
  });

  it.each([
    'sort=features',
    'sort=__proto__',
    'dead=yes',
    'sort_reverse=1',
    'page=0',
    'page_size=501',
    'page=3',
    'use_regex=true',
  ])('refuses ?%s', async (query) => {
    const { status, body } = await retrying().call('GET', `/dlx/queues?${query}`);
    expect(status).toBe(400);
    expect((body as { reason: string }).reason).not.toBe('');
  });
});

describe('GET /api/dlx/queues/{vhost}/{name}', () => {
  const settingsOf = (body: Body): Map<string, Body> =>
    new Map((body['settings'] as Body[]).map(({ key, ...rest }) => [key as string, rest]));
  const plain = { overridden: [], name: null, effect: true };

  it('shows effective settings with their sources, and what is overridden (rules F3, F4, F12)', async () => {
    const { vhost, declare, one } = arrange();
    declare('q', { 'x-message-ttl': 40_000, 'x-dead-letter-exchange': 'mine', 'x-queue-mode': 'lazy' });
    vhost.setPolicy('p', {
      pattern: '^q$',
      definition: { 'message-ttl': 30_000, 'dead-letter-exchange': 'yours', 'max-length': 10, 'queue-mode': 'default' },
    });
    vhost.setOperatorPolicy('op', { pattern: '^q$', definition: { 'message-ttl': 20_000, 'max-length': 99 } });
    const settings = settingsOf(await one('q'));
    expect(settings.get('message-ttl')).toEqual({
      value: 20_000,
      source: 'operator policy',
      name: 'op',
      overridden: [
        { value: 40_000, source: 'argument', name: null },
        { value: 30_000, source: 'policy', name: 'p' },
      ],
      effect: true,
    });
    expect(settings.get('dead-letter-exchange')).toEqual({
      ...plain,
      value: 'mine',
      source: 'argument',
      overridden: [{ value: 'yours', source: 'policy', name: 'p' }],
    });
    expect(settings.get('max-length')).toMatchObject({
      value: 10,
      source: 'policy',
      name: 'p',
      overridden: [{ value: 99, source: 'operator policy', name: 'op' }],
    });
    expect(settings.get('queue-mode')).toEqual({
      value: 'lazy',
      source: 'argument',
      name: null,
      overridden: [{ value: 'default', source: 'policy', name: 'p' }],
      effect: false,
    });
    expect(settings.get('overflow')).toEqual({ ...plain, value: 'drop-head', source: 'default' });
    expect(settings.get('expires')).toEqual({ ...plain, value: null, source: 'default' });
    expect(settings.has('delivery-limit')).toBe(false);
  });

  it('shows a value that a quorum queue replaces by its default as overridden (rules D7, M1)', async () => {
    const { declare, one } = arrange();
    const asked = {
      'x-queue-type': 'quorum',
      'x-overflow': 'reject-publish-dlx',
      'x-dead-letter-strategy': 'at-least-once',
    };
    declare('q', asked, { durable: true });
    const settings = settingsOf(await one('q'));
    expect(settings.get('overflow')).toMatchObject({
      value: 'drop-head',
      source: 'default',
      overridden: [{ value: 'reject-publish-dlx', source: 'argument' }],
    });
    expect(settings.get('dead-letter-strategy')).toMatchObject({
      value: 'at-most-once',
      source: 'default',
      overridden: [{ value: 'at-least-once' }],
    });
  });

  it('shows the delivery limit of a later RabbitMQ, and a negative one that is none (rule W6)', async () => {
    const { vhost, declare, one } = arrange({ rabbitmq: '4' });
    declare('q', { 'x-queue-type': 'quorum' }, { durable: true });
    expect(settingsOf(await one('q')).get('delivery-limit')).toEqual({ ...plain, value: 20, source: 'default' });
    vhost.setPolicy('none', { pattern: '.*', definition: { 'delivery-limit': -1 } });
    expect(settingsOf(await one('q')).get('delivery-limit')).toMatchObject({
      value: null,
      source: 'policy',
      name: 'none',
    });
  });

  it('shows where dead letters go and come from, bindings and consumers', async () => {
    const { channel, declare, one, vhost } = retrying();
    channel.consume('orders.dead', { consumerTag: 'reader' });
    const work = await one('work');
    expect(work['dead_letters_to']).toEqual({
      exchange: '',
      routing_key: 'wait',
      by: 'argument',
      policy: null,
      strategy: 'at-most-once',
      exchange_exists: true,
      reaches: [{ queue: 'wait', certain: true }],
      automatic: [],
      delay: null,
      dangling: false,
    });
    expect(work['dead_letters_from']).toEqual([
      {
        queue: 'wait',
        exchange: '',
        routing_key: 'work',
        reasons: ['rejected', 'expired'],
        certain: true,
        delay: 5_000,
      },
    ]);
    const dead = await one('orders.dead');
    expect(dead).toMatchObject({ dead_letters_to: null, dead_letter_queue: true, arguments: {} });
    expect(dead['bindings']).toMatchObject([{ source: '', routing_key: 'orders.dead', properties_key: 'orders.dead' }]);
    expect(dead['consumers_list']).toEqual([
      {
        consumer_tag: 'reader',
        channel: `<host.${channel.connection.number}> (1)`,
        user: 'none',
        ack_required: true,
        prefetch_count: 0,
      },
    ]);
    declare('lost', { 'x-dead-letter-exchange': 'gone' });
    expect((await one('lost'))['dead_letters_to']).toMatchObject({ exchange: 'gone', reaches: [], dangling: true });
    expect(vhost.queues.size).toBe(5);
  });

  it('answers 404 without such a queue, and refuses parameters', async () => {
    const { call } = retrying();
    expect((await call('GET', '/dlx/queues/%2F/none')).status).toBe(404);
    expect((await call('GET', '/dlx/queues/%2F/work?page=1')).status).toBe(400);
  });
});
