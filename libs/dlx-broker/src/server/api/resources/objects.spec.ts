import { describe, expect, it } from 'vitest';
import { type FieldTable, fromFieldTable } from '../../../engine/message/index.js';
import { type ApiHarness, apiHarness } from '../../../../../../test/harnesses/api-harness.js';
import { listen } from '../../../../../../test/harnesses/listener.js';

const publish = (more: object): { readonly body: object } => ({
  body: { properties: {}, routing_key: 'q', payload: 'x', payload_encoding: 'string', ...more },
});

const fetchOne = (more: object = {}): object => ({
  body: { count: 1, ackmode: 'ack_requeue_false', encoding: 'auto', ...more },
});

async function withQueue(body: object = {}): Promise<ApiHarness> {
  const harness = apiHarness();
  await harness.call('PUT', '/queues/%2F/q', { body });
  return harness;
}

describe('of a delayed exchange', () => {
  async function withDelayed(): Promise<ApiHarness> {
    const harness = apiHarness();
    const body = { type: 'x-delayed-message', arguments: { 'x-delayed-type': 'fanout' } };
    await harness.call('PUT', '/exchanges/%2F/later', { body });
    return harness;
  }

  it('the type is among those there are', async () => {
    const { call } = await withDelayed();
    const { body } = await call('GET', '/overview?columns=exchange_types');
    expect(body).toMatchObject({
      exchange_types: [
        { name: 'direct' },
        { name: 'fanout' },
        { name: 'headers' },
        { name: 'topic' },
        { name: 'x-delayed-message', description: 'Delayed Message Exchange.', enabled: true },
      ],
    });
  });

  it.each(['/exchanges', '/exchanges/%2F', '/exchanges?disable_stats=true'])(
    'GET %s tells how many messages it holds, and of no other',
    async (path) => {
      const { call, clock } = await withDelayed();
      const held = async (): Promise<unknown> => {
        const rows = (await call('GET', path)).body as readonly { name: string; messages_delayed?: number }[];
        return rows.flatMap((row) => ('messages_delayed' in row ? [[row.name, row.messages_delayed]] : []));
      };
      expect(await held()).toEqual([['later', 0]]);
      for (const delay of [1_000, 2_000]) {
        const body = publish({ properties: { headers: { 'x-delay': delay } } });
        await call('POST', '/exchanges/%2F/later/publish', body);
      }
      expect(await held()).toEqual([['later', 2]]);
      clock.advance(1_000);
      expect(await held()).toEqual([['later', 1]]);
      expect((await call('GET', '/exchanges/%2F/later')).body).toMatchObject({ messages_delayed: 1 });
    },
  );
});

describe('rule U1: publishing', () => {
  it('answers whether a queue got it', async () => {
    const { call } = await withQueue();
    expect((await call('POST', '/exchanges/%2F/amq.default/publish', publish({}))).body).toEqual({ routed: true });
    const { body } = await call('POST', '/exchanges/%2F/amq.default/publish', publish({ routing_key: 'none' }));
    expect(body).toEqual({ routed: false });
  });

  it('makes longs of integers and doubles of fractions in headers', async () => {
    const { broker, call } = await withQueue();
    const headers = { a: 1, b: 12345678901, c: 1.5, d: [1], e: { f: 1 }, g: true, h: 't' };
    await call('POST', '/exchanges/%2F/amq.default/publish', publish({ properties: { headers } }));
    const { channel } = listen(broker);
    const table = channel.get('q')?.message.properties.headers as FieldTable;
    expect(fromFieldTable(table)).toEqual(headers);
    const types = [...table.values()].map(({ type }) => type);
    expect(types).toEqual(['l', 'l', 'd', 'A', 'F', 't', 'S']);
  });

  it('takes a header of any name', async () => {
    const { call } = await withQueue();
    const body =
      '{"properties":{"headers":{"__proto__":{"a":1}}},"routing_key":"q","payload":"","payload_encoding":"string"}';
    expect((await call('POST', '/exchanges/%2F/amq.default/publish', { body })).status).toBe(200);
    const got = (await call('POST', '/queues/%2F/q/get', fetchOne())).body as readonly [
      { readonly properties: object },
    ];
    expect(JSON.stringify(got[0].properties)).toBe('{"headers":{"__proto__":{"a":1}}}');
  });

  it('says what the engine says of a message that cannot be', async () => {
    const { call } = await withQueue();
    const answer = await call(
      'POST',
      '/exchanges/%2F/amq.default/publish',
      publish({ properties: { expiration: '-1' } }),
    );
    expect(answer).toMatchObject({
      status: 400,
      body: { reason: "406 PRECONDITION_FAILED - invalid expiration '-1': {value_negative,-1}" },
    });
  });
});

describe('rule U2: getting', () => {
  it('and rejecting dead-letters', async () => {
    const { broker, call } = await withQueue({
      arguments: { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' },
    });
    await call('PUT', '/queues/%2F/dead', { body: {} });
    await call('POST', '/exchanges/%2F/amq.default/publish', publish({ payload: 'one' }));
    const { body } = await call('POST', '/queues/%2F/q/get', fetchOne({ ackmode: 'reject_requeue_false' }));
    expect(body).toEqual([
      {
        payload_bytes: 3,
        redelivered: false,
        exchange: '',
        routing_key: 'q',
        message_count: 0,
        properties: [],
        payload: 'one',
        payload_encoding: 'string',
      },
    ]);
    expect(broker.virtualHost('/').queues.get('dead')?.length).toBe(1);
    const dead = (await call('POST', '/queues/%2F/dead/get', fetchOne())).body as readonly [
      { readonly properties: object },
    ];
    expect(dead[0].properties).toMatchObject({
      headers: { 'x-death': [{ queue: 'q', reason: 'rejected', count: 1, 'routing-keys': ['q'] }] },
    });
  });

  it.each([
    ['ack_requeue_true', 1, true],
    ['reject_requeue_true', 1, true],
    ['ack_requeue_false', 0, undefined],
    ['reject_requeue_false', 0, undefined],
  ])('with %s leaves %d', async (ackmode, left, redelivered) => {
    const { broker, call } = await withQueue();
    await call('POST', '/exchanges/%2F/amq.default/publish', publish({}));
    await call('POST', '/queues/%2F/q/get', fetchOne({ ackmode }));
    expect(broker.virtualHost('/').queues.get('q')).toMatchObject({ length: left, unacked: 0 });
    const again = (await call('POST', '/queues/%2F/q/get', fetchOne())).body as readonly {
      readonly redelivered: boolean;
    }[];
    expect(again[0]?.redelivered).toBe(redelivered);
  });

  it('several gets each of them once', async () => {
    const { call } = await withQueue();
    for (const payload of ['a', 'b', 'c'])
      await call('POST', '/exchanges/%2F/amq.default/publish', publish({ payload }));
    const { body } = await call('POST', '/queues/%2F/q/get', fetchOne({ count: '2', ackmode: 'reject_requeue_true' }));
    expect((body as readonly { readonly payload: string }[]).map(({ payload }) => payload)).toEqual(['a', 'b']);
  });

  it('shows part of a payload, in base64 when the part is no text', async () => {
    const { call } = await withQueue();
    await call('POST', '/exchanges/%2F/amq.default/publish', publish({ payload: 'aü' }));
    const shown = async (more: object): Promise<unknown> => {
      const { body } = await call('POST', '/queues/%2F/q/get', fetchOne({ ackmode: 'ack_requeue_true', ...more }));
      const [{ payload, payload_encoding: encoding, payload_bytes: bytes }] = body as [Record<string, unknown>];
      return [payload, encoding, bytes];
    };
    expect(await shown({})).toEqual(['aü', 'string', 3]);
    expect(await shown({ truncate: 1 })).toEqual(['a', 'string', 3]);
    expect(await shown({ truncate: 2 })).toEqual(['YcM=', 'base64', 3]);
    expect(await shown({ encoding: 'base64' })).toEqual(['YcO8', 'base64', 3]);
  });
});

it.each(['constructor', '__proto__', 'toString', null, {}, 7])('an ackmode of %j is none', async (ackmode) => {
  const { broker, call } = await withQueue();
  await call('POST', '/exchanges/%2F/amq.default/publish', publish({}));
  expect((await call('POST', '/queues/%2F/q/get', fetchOne({ ackmode }))).status).toBe(400);
  expect(broker.virtualHost('/').queues.get('q')).toMatchObject({ length: 1, unacked: 0 });
});

it.each([
  ['PUT', '/queues/%2F/x', { arguments: 'text' }],
  ['PUT', '/queues/%2F/x', { arguments: { a: null } }],
  ['PUT', '/exchanges/%2F/x', { type: 5 }],
  ['PUT', '/exchanges/%2F/x', { type: 'constructor' }],
  ['POST', '/bindings/%2F/e/amq.direct/q/q', { routing_key: 5 }],
  ['POST', '/bindings/%2F/e/amq.direct/x/q', {}],
  [
    'POST',
    '/exchanges/%2F/amq.default/publish',
    { properties: 5, routing_key: 'q', payload: '', payload_encoding: 'string' },
  ],
  [
    'POST',
    '/exchanges/%2F/amq.default/publish',
    { properties: {}, routing_key: 5, payload: '', payload_encoding: 'string' },
  ],
  ['GET', '/health/checks/certificate-expiration/1/constructor', undefined],
  ['GET', '/health/checks/protocol-listener/constructor', undefined],
])('bad input is refused, not stumbled over: %s %s %j', async (method, path, body) => {
  const { call } = await withQueue();
  const { status } = await call(method, path, { body });
  expect([400, 404, 503]).toContain(status);
});

describe('rule U3: missing things are not found', () => {
  it.each([
    '/queues/%2F/none',
    '/exchanges/%2F/none',
    '/bindings/%2F/e/amq.direct/q/none/~',
    '/queues/none',
    '/connections/none',
  ])('GET %s', async (path) => {
    const { call } = apiHarness();
    expect(await call('GET', path)).toMatchObject({
      status: 404,
      body: { error: 'Object Not Found', reason: 'Not Found' },
    });
  });
});

describe('numbers', () => {
  const statsOf = async ({ call }: ApiHarness, path: string): Promise<unknown> =>
    ((await call('GET', path)).body as Record<string, unknown>)['message_stats'];

  it('are those of this moment, and not there before anything happened', async () => {
    const harness = await withQueue();
    expect(await statsOf(harness, '/queues/%2F/q')).toBeUndefined();
    expect(await statsOf(harness, '/exchanges/%2F/amq.default')).toBeUndefined();
    expect(await statsOf(harness, '/overview')).toEqual({});
    await harness.call('POST', '/exchanges/%2F/amq.default/publish', publish({}));
    expect(await statsOf(harness, '/queues/%2F/q')).toEqual({ publish: 1, publish_details: { rate: 0 } });
    expect(await statsOf(harness, '/exchanges/%2F/amq.default')).toMatchObject({ publish_in: 1, publish_out: 1 });
    await harness.call('POST', '/queues/%2F/q/get', fetchOne());
    expect(await statsOf(harness, '/queues/%2F/q')).toMatchObject({
      publish: 1,
      get_no_ack: 1,
      deliver_get: 1,
      ack: 0,
    });
    expect(await statsOf(harness, '/vhosts/%2F')).toMatchObject({ publish: 1, get_no_ack: 1 });
  });

  it('of messages, bodies and policies', async () => {
    const { broker, call } = await withQueue({ durable: true });
    broker.virtualHost('/').setPolicy('p', { pattern: 'q', definition: { 'max-length': 7, 'message-ttl': 5 } });
    broker.virtualHost('/').setOperatorPolicy('o', { pattern: 'q', definition: { 'max-length': 9, expires: 99 } });
    const { channel } = listen(broker);
    for (const deliveryMode of [1, 2]) channel.publish('', 'q', { deliveryMode, timestamp: 77 }, Buffer.from('12345'));
    channel.get('q');
    expect((await call('GET', '/queues/%2F/q')).body).toMatchObject({
      messages: 2,
      messages_ready: 1,
      messages_unacknowledged: 1,
      messages_persistent: 1,
      message_bytes: 10,
      message_bytes_ready: 5,
      message_bytes_persistent: 5,
      head_message_timestamp: 77,
      policy: 'p',
      operator_policy: 'o',
      effective_policy_definition: { 'max-length': 7, 'message-ttl': 5, expires: 99 },
    });
  });
});

describe('what belongs to another user', () => {
  async function withUsers(): Promise<ApiHarness> {
    const harness = apiHarness();
    for (const [name, tags] of [
      ['ann', 'management'],
      ['mon', 'monitoring'],
    ]) {
      await harness.call('PUT', `/users/${name}`, { body: { password: 'p', tags } });
      await harness.call('PUT', `/permissions/%2F/${name}`, {
        body: { configure: '^ann', write: '^ann', read: '^ann' },
      });
    }
    await harness.call('PUT', '/vhosts/closed');
    await harness.call('PUT', '/queues/closed/hidden', { body: {} });
    return harness;
  }

  it('connections and channels are seen by monitors, closed by administrators', async () => {
    const { broker, call } = await withUsers();
    const open = (user: string) => broker.connect({ user });
    const [own, other] = [open('ann'), open('guest')];
    const names = async (as: string): Promise<number> =>
      ((await call('GET', '/connections', { as })).body as object[]).length;
    expect([await names('ann:p'), await names('mon:p')]).toEqual([1, 2]);
    const path = `/connections/${encodeURIComponent(`<host.${other.number}>`)}`;
    expect(await call('GET', path, { as: 'ann:p' })).toMatchObject({
      status: 401,
      body: { error: 'not_authorised', reason: 'User not authorised to access object' },
    });
    expect((await call('GET', path, { as: 'mon:p' })).status).toBe(200);
    expect((await call('DELETE', path, { as: 'mon:p' })).status).toBe(401);
    const mine = `/connections/${encodeURIComponent(`<host.${own.number}>`)}`;
    expect((await call('DELETE', mine, { as: 'ann:p' })).status).toBe(204);
    expect([own.isClosed, other.isClosed]).toEqual([true, false]);
  });

  it('a virtual host that is closed to them does not show in lists', async () => {
    const { call } = await withUsers();
    const seen = async (as: string): Promise<unknown> => (await call('GET', '/queues?columns=name', { as })).body;
    expect(await seen('guest:guest')).toEqual([{ name: 'hidden' }]);
    expect(await seen('mon:p')).toEqual([]);
    expect((await call('GET', '/queues/closed', { as: 'mon:p' })).status).toBe(401);
  });

  it('section N: the engine says what they may do', async () => {
    const { call } = await withUsers();
    expect((await call('PUT', '/queues/%2F/ann-1', { as: 'ann:p', body: {} })).status).toBe(201);
    const refused = { status: 401, body: { error: 'not_authorised', reason: 'Access refused.' } };
    expect(await call('PUT', '/queues/%2F/bob-1', { as: 'ann:p', body: {} })).toMatchObject(refused);
    await call('PUT', '/queues/%2F/bob-1', { body: {} });
    expect(await call('DELETE', '/queues/%2F/bob-1', { as: 'ann:p' })).toMatchObject(refused);
    expect(await call('POST', '/queues/%2F/bob-1/get', { as: 'ann:p', ...fetchOne() })).toMatchObject({
      status: 401,
      body: { reason: "ACCESS_REFUSED - read access to queue 'bob-1' in vhost '/' refused for user 'ann'" },
    });
  });

  it('rule O4: an exclusive queue is its owner’s, also over HTTP', async () => {
    const { broker, call } = apiHarness();
    listen(broker).channel.declareQueue('own', { exclusive: true });
    const reason = /^cannot obtain exclusive access to locked queue 'own' in vhost '\/'\./;
    for (const [method, path] of [
      ['DELETE', ''],
      ['DELETE', '/contents'],
      ['PUT', ''],
    ] as const) {
      const { status, body } = await call(method, `/queues/%2F/own${path}`, method === 'PUT' ? { body: {} } : {});
      expect([status, (body as { reason: string }).reason]).toEqual([400, expect.stringMatching(reason)]);
    }
    expect((await call('GET', '/queues/%2F/own')).body).toMatchObject({ exclusive: true, owner_pid_details: {} });
  });
});

it('rule N6: however few connections there may be, an operator can act', async () => {
  const { call } = apiHarness();
  await call('PUT', '/vhost-limits/%2F/max-connections', { body: { value: 0 } });
  expect((await call('PUT', '/queues/%2F/q', { body: {} })).status).toBe(201);
  expect((await call('POST', '/queues/%2F/q/get', fetchOne())).body).toEqual([]);
});

describe('alarms', () => {
  it('fail the health checks', async () => {
    const { call } = apiHarness({ host: { alarms: () => ['memory'] } });
    expect(await call('GET', '/health/checks/alarms')).toMatchObject({
      status: 503,
      body: { status: 'failed', reason: 'There are alarms in effect in the cluster', alarms: [{ resource: 'memory' }] },
    });
    expect((await call('GET', '/nodes')).body).toMatchObject([{ mem_alarm: true, disk_free_alarm: false }]);
  });
});
