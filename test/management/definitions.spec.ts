import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiHarness, type ApiHarness } from '../harnesses/api-harness.js';

const rabbitmq = process.env['RABBITMQ_MANAGEMENT_URL'];
if (rabbitmq === undefined) console.warn('SKIPPED: definitions to and from RabbitMQ: no RABBITMQ_MANAGEMENT_URL');

const id = `dlx-definitions-${randomBytes(4).toString('hex')}`;
const vhost = `${id}-v`;
const user = `${id}-ada`;

type Call = (method: string, path: string, body?: unknown) => Promise<unknown>;

/** Everything that definitions can hold, made by requests; password `secret`. */
async function furnish(call: Call): Promise<void> {
  await call('PUT', `/vhosts/${vhost}`, { description: 'for definitions', tags: 'one, two' });
  await call('PUT', `/users/${user}`, { password: 'secret', tags: 'management, mine' });
  await call('PUT', `/permissions/${vhost}/${user}`, { configure: '^a', write: '', read: '.*' });
  await call('PUT', `/topic-permissions/${vhost}/${user}`, { exchange: 'amq.topic', write: '^a', read: '.*' });
  await call('PUT', `/vhost-limits/${vhost}/max-queues`, { value: 50 });
  const types = ['direct', 'fanout', 'topic', 'headers'];
  for (const type of types) await call('PUT', `/exchanges/${vhost}/${type}`, { type, durable: type !== 'fanout' });
  const alternate = { type: 'topic', internal: true, auto_delete: true, arguments: { 'alternate-exchange': 'fanout' } };
  await call('PUT', `/exchanges/${vhost}/inner`, alternate);
  for (const [name, body] of Object.entries(queues)) await call('PUT', `/queues/${vhost}/${name}`, body);
  await call('POST', `/bindings/${vhost}/e/direct/q/classic`, { routing_key: 'a b/ü' });
  await call('POST', `/bindings/${vhost}/e/headers/q/quorum`, {
    arguments: { 'x-match': 'any', n: 1, f: 1.5, b: true },
  });
  await call('POST', `/bindings/${vhost}/e/topic/e/inner`, { routing_key: '#' });
  await call('PUT', `/policies/${vhost}/DLX`, {
    pattern: '.*',
    definition: { 'dead-letter-exchange': 'fanout', 'message-ttl': 60_000 },
    'apply-to': 'queues',
    priority: 3,
  });
  await call('PUT', `/operator-policies/${vhost}/most`, { pattern: '.*', definition: { 'max-length': 1_000 } });
}

const queues = {
  classic: {
    durable: true,
    arguments: {
      'x-message-ttl': 5_000,
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': 'x',
      'x-max-priority': 5,
    },
  },
  quorum: {
    durable: true,
    arguments: { 'x-queue-type': 'quorum', 'x-delivery-limit': 3, 'x-dead-letter-strategy': 'at-most-once' },
  },
  transient: {
    auto_delete: true,
    arguments: { 'x-overflow': 'reject-publish-dlx', 'x-max-length': 7, mine: [1, 'two', { three: 3 }] },
  },
};

/** What belongs to this test, in whatever order it comes. */
function ours(definitions: unknown): Record<string, unknown> {
  const kept = Object.entries(definitions as Record<string, unknown>).filter(([, value]) => Array.isArray(value));
  return Object.fromEntries(
    kept.map(([key, list]) => {
      const mine = (list as object[]).filter((item) => JSON.stringify(item).includes(id));
      return [key, mine.map((item) => JSON.stringify(sorted(item))).sort()];
    }),
  );
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, each]) => [key, sorted(each)] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

/** Only what is of this test, as one would send it to a broker that others use, too. */
function sendable(definitions: unknown): Record<string, unknown> {
  const entries = Object.entries(definitions as Record<string, unknown>).filter(([, value]) => Array.isArray(value));
  return Object.fromEntries(
    entries.map(([key, list]) => [key, (list as object[]).filter((item) => JSON.stringify(item).includes(id))]),
  );
}

describe.skipIf(rabbitmq === undefined)('definitions', () => {
  const { origin, username, password } = new URL(rabbitmq ?? 'http://localhost');
  const login = username === '' ? 'guest:guest' : `${username}:${password}`;
  const theirs: Call = async (method, path, body) => {
    const response = await fetch(`${origin}/api${path}`, {
      method,
      headers: {
        authorization: `Basic ${Buffer.from(login).toString('base64')}`,
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  const callOf =
    (harness: ApiHarness): Call =>
    async (method, path, body) => {
      const answer = await harness.call(method, path, { body });
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    };
  const strike = async (): Promise<void> => {
    for (const path of [`/vhosts/${vhost}`, `/users/${user}`]) await theirs('DELETE', path).catch(() => undefined);
  };

  beforeAll(strike);
  afterAll(strike);

  it('of RabbitMQ come in here, and go out as they came', async () => {
    await furnish(theirs);
    const exported = await theirs('GET', '/definitions');
    const harness = apiHarness({ rabbitmq: '3.10' });
    const call = callOf(harness);
    await call('POST', '/definitions', sendable(exported));
    expect(ours(await call('GET', '/definitions'))).toEqual(ours(exported));
    expect((await harness.call('GET', '/whoami', { as: `${user}:secret` })).body).toEqual({
      name: user,
      tags: ['management', 'mine'],
    });
  });

  it('of one virtual host, too', async () => {
    const exported = await theirs('GET', `/definitions/${vhost}`);
    const call = callOf(apiHarness({ rabbitmq: '3.10' }));
    await call('PUT', `/vhosts/${vhost}`);
    await call('POST', `/definitions/${vhost}`, exported);
    const lists = (definitions: unknown) =>
      Object.fromEntries(
        Object.entries(definitions as Record<string, object[]>).map(([key, list]) => [
          key,
          Array.isArray(list) ? list.map((item) => JSON.stringify(sorted(item))).sort() : list,
        ]),
      );
    expect(lists(await call('GET', `/definitions/${vhost}`))).toEqual(lists(exported));
  });

  it('of ours go into RabbitMQ, which lets the same user in', async () => {
    await strike();
    const call = callOf(apiHarness({ rabbitmq: '3.10' }));
    await furnish(call);
    const exported = await call('GET', '/definitions');
    await theirs('POST', '/definitions', sendable(exported));
    const { vhosts, ...imported } = ours(await theirs('GET', '/definitions'));
    const { vhosts: sent, ...expected } = ours(exported);
    expect(imported['permissions']).toEqual(expect.arrayContaining(expected['permissions'] as unknown[]));
    for (const key of ['users', 'topic_permissions', 'parameters', 'policies', 'queues', 'exchanges', 'bindings']) {
      expect([key, imported[key]]).toEqual([key, expected[key]]);
    }
    expect([(vhosts as unknown[]).length, (sent as unknown[]).length]).toEqual([1, 1]);
    expect(await theirs('GET', `/vhosts/${vhost}?columns=description,tags`)).toEqual({
      description: 'for definitions',
      tags: ['one', 'two'],
    });
    const whoami = await fetch(`${origin}/api/whoami`, {
      headers: { authorization: `Basic ${Buffer.from(`${user}:secret`).toString('base64')}` },
    });
    expect(await whoami.json()).toEqual({ name: user, tags: ['management', 'mine'] });
  });
});
