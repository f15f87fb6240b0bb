import { describe, expect, it } from 'vitest';
import { apiHarness } from '../../../../../test/harnesses/api-harness.js';
import { loadDefinitions } from './load.js';

/** As a real RabbitMQ 3.10.8 writes them, shortened. */
const definitions = {
  rabbit_version: '3.10.8',
  rabbitmq_version: '3.10.8',
  product_name: 'RabbitMQ',
  product_version: '3.10.8',
  users: [
    {
      name: 'ada',
      password_hash: 'kI3GCqW5JLMJa4iX1lo7X4D6XbYqlLgxIs30+P6tENUV2POR',
      hashing_algorithm: 'rabbit_password_hashing_sha256',
      tags: ['management'],
      limits: {},
    },
    { name: 'old', password_hash: '', hashing_algorithm: 'rabbit_password_hashing_md5', tags: '' },
  ],
  vhosts: [{ name: '/' }, { name: 'v' }],
  permissions: [{ user: 'ada', vhost: 'v', configure: '.*', write: '^a', read: '' }],
  topic_permissions: [{ user: 'ada', vhost: 'v', exchange: 'amq.topic', write: '^a', read: '.*' }],
  parameters: [
    {
      value: { pattern: '^a', definition: { 'max-length': 5 }, priority: 0, 'apply-to': 'all' },
      vhost: 'v',
      component: 'operator_policy',
      name: 'p',
    },
    { value: { 'max-queues': 500 }, vhost: 'v', component: 'vhost-limits', name: 'limits' },
  ],
  global_parameters: [{ name: 'internal_cluster_id', value: 'rabbitmq-cluster-id-x' }],
  policies: [
    {
      vhost: 'v',
      name: 'DLX',
      pattern: '.*',
      'apply-to': 'queues',
      definition: { 'dead-letter-exchange': 'dlx' },
      priority: 7,
    },
  ],
  queues: [
    { name: 'q', vhost: 'v', durable: true, auto_delete: false, arguments: { 'x-message-ttl': 5000 } },
    { name: 'quo', vhost: 'v', durable: true, auto_delete: false, arguments: { 'x-queue-type': 'quorum' } },
    { name: 'amq.gen-of-somebody', vhost: 'v', durable: false, auto_delete: false, arguments: {} },
  ],
  exchanges: [
    {
      name: 'dlx',
      vhost: 'v',
      type: 'topic',
      durable: true,
      auto_delete: false,
      internal: true,
      arguments: { 'alternate-exchange': 'amq.fanout' },
    },
  ],
  bindings: [
    { source: 'dlx', vhost: 'v', destination: 'q', destination_type: 'queue', routing_key: 'a.*', arguments: { n: 1 } },
    {
      source: 'amq.topic',
      vhost: 'v',
      destination: 'dlx',
      destination_type: 'exchange',
      routing_key: 'k',
      arguments: {},
    },
    { source: 'gone', vhost: 'v', destination: 'q', destination_type: 'queue', routing_key: '', arguments: {} },
  ],
};

const upload = (call: ReturnType<typeof apiHarness>['call'], body: unknown, path = '/definitions') =>
  call('POST', path, { body });

describe('definitions of RabbitMQ', () => {
  it('make everything they speak of, policies in force', async () => {
    const { broker, call } = apiHarness();
    expect((await upload(call, definitions)).status).toBe(204);
    const vhost = broker.virtualHost('v');
    expect([...vhost.queues.keys()]).toEqual(['q', 'quo']);
    expect(vhost.queues.get('q')?.settings).toMatchObject({ messageTtl: 5_000, deadLetterExchange: 'dlx' });
    expect(vhost.queues.get('quo')?.declared.type).toBe('quorum');
    expect(vhost.exchange('dlx').declared).toMatchObject({ type: 'topic', durable: true, internal: true });
    expect(vhost.exchange('dlx').bindings()).toHaveLength(1);
    expect(vhost.exchange('amq.topic').bindings()).toHaveLength(1);
    expect(vhost.limits.get('max-queues')).toBe(500);
    expect((await call('GET', '/whoami', { as: 'ada:test12' })).status).toBe(200);
    expect(broker.access.permissions('ada', 'v')).toMatchObject({ write: '^a' });
    expect(broker.access.permissions('guest', 'v')).toMatchObject({ write: '.*' }); // who brings a virtual host may use it
  });

  it('come out as they went in, and again from another broker', async () => {
    const first = apiHarness();
    await upload(first.call, definitions);
    const exported = (await first.call('GET', '/definitions')).body as typeof definitions;
    for (const key of ['parameters', 'policies', 'exchanges', 'topic_permissions', 'global_parameters'] as const) {
      expect(exported[key]).toEqual(expect.arrayContaining([...definitions[key]] as object[]));
    }
    expect(exported.users).toContainEqual(definitions.users[0]);
    const [q, other] = definitions.queues;
    const typed = { ...q, arguments: { ...q!.arguments, 'x-queue-type': 'classic' } }; // as RabbitMQ 4 exports it
    expect(exported.queues).toEqual([typed, other]);
    expect(exported.bindings).toEqual(expect.arrayContaining(definitions.bindings.slice(0, 2)));
    const second = apiHarness();
    await upload(second.call, exported);
    expect((await second.call('GET', '/definitions')).body).toEqual(exported);
    await upload(second.call, exported);
    expect((await second.call('GET', '/definitions')).body).toEqual(exported);
  });

  it('go from one virtual host into another, without its name', async () => {
    const { broker, call } = apiHarness();
    await upload(call, definitions);
    await call('PUT', '/vhosts/w');
    const exported = (await call('GET', '/definitions/v')).body as Record<string, readonly object[]>;
    expect(Object.keys(exported)).toEqual([
      'rabbit_version',
      'parameters',
      'policies',
      'queues',
      'exchanges',
      'bindings',
    ]);
    expect(exported['queues']?.[0]).not.toHaveProperty('vhost');
    expect((await upload(call, exported, '/definitions/w')).status).toBe(204);
    expect([...broker.virtualHost('w').queues.keys()]).toEqual(['q', 'quo']);
    expect(broker.virtualHost('w').limits.get('max-queues')).toBe(500);
    expect(broker.virtualHost('w').policies.user.list()).toMatchObject([{ name: 'DLX', priority: 7 }]);
  });

  it('leave queues and exchanges that are there as they are', async () => {
    const { broker, call } = apiHarness();
    await upload(call, definitions);
    const again = {
      ...definitions,
      queues: [{ ...definitions.queues[0], durable: false, arguments: { 'x-expires': 1 } }],
    };
    expect((await upload(call, again)).status).toBe(204);
    expect(broker.virtualHost('v').queues.get('q')?.declared.durable).toBe(true);
  });

  it('come as a file of a form, too', async () => {
    const { broker, call } = apiHarness();
    const form = new FormData();
    form.set('file', new Blob([JSON.stringify(definitions)]), 'broker.json');
    const request = new Response(form);
    const headers = { 'content-type': request.headers.get('content-type') ?? '' };
    expect((await call('POST', '/definitions', { body: await request.text(), headers })).status).toBe(204);
    expect(broker.virtualHosts.has('v')).toBe(true);
    expect((await call('POST', '/definitions', { body: 'no form', headers })).status).toBe(400);
  });

  it('go out as a file, by a name that breaks out of nothing', async () => {
    const { call } = apiHarness();
    const { headers } = await call('GET', '/definitions?download=a%0d%0ab%22;x.json');
    expect(headers.get('content-disposition')).toBe('attachment; filename=a__b__x.json');
  });

  it('are read from a file at start', () => {
    const { host, broker } = apiHarness();
    loadDefinitions(host, `\uFEFF${JSON.stringify(definitions)}`);
    expect(broker.virtualHost('v').queues.has('q')).toBe(true);
    expect(broker.access.permissions('guest', 'v')).toBeUndefined();
    const named = Object.fromEntries(
      ['rabbit_version', 'quees', 'policies', 'original_vhost_name'].map((key) => [key, []]),
    );
    expect(loadDefinitions(host, JSON.stringify({ ...definitions, ...named }))).toEqual(['quees']);
    expect(() => loadDefinitions(host, '{\n"users": [\n')).toThrow('failed_to_parse_json at line 3, column 1');
    expect(() => loadDefinitions(host, '[]')).toThrow('failed_to_parse_json: definitions are an object');
    expect(() => loadDefinitions(host, '{"users":[{"name":"x"}]}')).toThrow("tags_not_present: user 'x' has no tags");
  });

  it('say at start which permission is no pattern, and whose', () => {
    const { host } = apiHarness();
    const all = { user: 'guest', vhost: '/', configure: '', write: '(', read: '' };
    expect(() => loadDefinitions(host, JSON.stringify({ permissions: [all] }))).toThrow(
      "the write permission '(' of user 'guest' in vhost '/' is no regular expression: missing ) at 1",
    );
    const topics = { ...all, exchange: 't' };
    expect(() => loadDefinitions(host, JSON.stringify({ topic_permissions: [topics] }))).toThrow(
      "the write permission '(' for topics of exchange 't' of user 'guest' in vhost '/' is no regular expression",
    );
  });
});

describe('definitions are refused with', () => {
  const queue = { name: 'q', vhost: '/', durable: true, auto_delete: false, arguments: {} };
  it.each([
    ['no JSON', '{', 'failed_to_parse_json'],
    ['no object', '[]', 'failed_to_parse_json'],
    ['no list', { queues: {} }, 'queues should be a list of objects'],
    ['nobody', { permissions: [{ user: 'nobody', vhost: '/' }] }, ['no_such_user', 'nobody']],
    ['nowhere', { queues: [{ ...queue, vhost: 'nowhere' }] }, ['no_such_vhost', 'nowhere']],
    ['a user without tags', { users: [{ name: 'x' }] }, 'tags_not_present'],
    ['a virtual host without a name', { vhosts: [{}] }, '[{key_missing,name}]'],
    [
      'a bad policy',
      { policies: [{ vhost: '/', name: 'p', pattern: '(', definition: { 'max-length': 3 } }] },
      'Validation failed\n\npattern should be regular expression but is invalid: {"missing )",1}\n (//p)',
    ],
    [
      'a policy with a pattern that is too large',
      { policies: [{ vhost: '/', name: 'p', pattern: 'a'.repeat(60_000), definition: { 'max-length': 3 } }] },
      `Validation failed\n\npattern should be regular expression but is invalid: {"regular expression is too large",\n${' '.repeat(54)}60000}\n (//p)`,
    ],
    [
      'an unknown component',
      { parameters: [{ vhost: '/', component: 'shovel', name: 's', value: {} }] },
      'Validation failed\n\ncomponent shovel not found\n (//shovel/s)',
    ],
    [
      'a bad argument',
      { queues: [{ ...queue, arguments: { 'x-expires': 0 } }] },
      ['amqp_error', 'precondition_failed', expect.any(Array), 'none'],
    ],
    ['an argument that has no type', { queues: [{ ...queue, arguments: { a: null } }] }, 'null_not_allowed'],
  ])('%s', async (_, body, reason) => {
    const { call } = apiHarness();
    expect(await upload(call, body)).toMatchObject({ status: 400, body: { error: 'bad_request', reason } });
  });

  it('a virtual host that is not there', async () => {
    const { call } = apiHarness();
    expect((await upload(call, {}, '/definitions/nowhere')).body).toEqual({
      error: 'not_found',
      reason: 'vhost_not_found',
    });
    expect(await call('GET', '/definitions/nowhere')).toMatchObject({ status: 400 });
  });
});
