import { describe, expect, it } from 'vitest';
import { listen } from '../../../../../../test/harnesses/listener.js';
import { apiHarness } from '../../../../../../test/harnesses/api-harness.js';

describe('a virtual host', () => {
  it('is made with description and tags, and changed', async () => {
    const { call } = apiHarness();
    const body = { description: 'mine', tags: 'a, b' };
    expect((await call('PUT', '/vhosts/v%20%2F%C3%BC', { body })).status).toBe(201);
    expect((await call('GET', '/vhosts/v%20%2F%C3%BC')).body).toMatchObject({
      name: 'v /ü',
      description: 'mine',
      tags: ['a', 'b'],
      metadata: { description: 'mine', tags: ['a', 'b'] },
      tracing: false,
      cluster_state: { 'rabbit@localhost': 'running' },
    });
    expect((await call('PUT', '/vhosts/v%20%2F%C3%BC', { body: { tags: ['c'] } })).status).toBe(204);
    expect((await call('GET', '/vhosts/v%20%2F%C3%BC')).body).toMatchObject({ description: '', tags: ['c'] });
  });

  it.each([
    ['PUT', '/vhosts/v', { default_queue_type: 'stream' }],
    ['PUT', '/vhosts/v', { metadata: { default_queue_type: 'stream' } }],
    ['POST', '/definitions', { vhosts: [{ name: 'v', default_queue_type: 'stream' }] }],
    ['POST', '/definitions', { vhosts: [{ name: 'v', metadata: { 'default-queue-type': 'stream' } }] }],
    ['POST', '/definitions/%2F', { default_queue_type: 'stream' }],
    ['POST', '/definitions/%2F', { metadata: { default_queue_type: 'stream' } }],
  ])('cannot have streams for its queues: %s %s %j', async (method, path, body) => {
    const { broker, call } = apiHarness();
    const { status, body: answer } = await call(method, path, { body });
    expect([status, answer]).toEqual([400, { error: 'bad_request', reason: "unsupported queue type 'stream'" }]);
    expect(broker.virtualHosts.has('v')).toBe(false);
  });

  it('belongs to who made it', async () => {
    const { broker, call } = apiHarness();
    await call('PUT', '/vhosts/v');
    expect(broker.access.permissions('guest', 'v')).toMatchObject({ configure: '.*', write: '.*', read: '.*' });
    await call('DELETE', '/permissions/v/guest');
    await call('PUT', '/vhosts/v', { body: {} });
    expect(broker.access.permissions('guest', 'v')).toBeUndefined();
  });

  it('goes with its connections, queues and permissions', async () => {
    const { broker, call } = apiHarness();
    await call('PUT', '/vhosts/v');
    const { errors, channel } = listen(broker, { vhost: 'v', user: 'guest' });
    channel.declareQueue('q');
    expect((await call('DELETE', '/vhosts/v')).status).toBe(204);
    expect((await call('DELETE', '/vhosts/v')).status).toBe(404);
    expect(errors.map(({ message }) => message)).toEqual(["CONNECTION_FORCED - vhost 'v' is deleted"]);
    expect(broker.access.permissions('guest', 'v')).toBeUndefined();
    await call('PUT', '/vhosts/v');
    expect(broker.virtualHost('v').queues.size).toBe(0);
  });

  it.each([
    [
      'tracing, which is not there',
      { tracing: true },
      "tracing is not supported: this broker publishes no copies to 'amq.rabbitmq.trace'; bind a queue of your own to the exchange",
    ],
    ['what is no boolean', { tracing: 'maybe' }, ['not_boolean', 'maybe']],
    ['what is no text', { description: 5 }, 'description should be a string'],
    ['tags of another kind', { tags: {} }, 'tags should be a string or a list of strings'],
  ])('is refused with %s', async (_, body, reason) => {
    const { broker, call } = apiHarness();
    expect((await call('PUT', '/vhosts/v', { body })).body).toEqual({ error: 'bad_request', reason });
    expect([...broker.virtualHosts.keys()]).toEqual(['/']);
  });

  it('runs already, on this node', async () => {
    const { call } = apiHarness();
    expect((await call('POST', '/vhosts/%2F/start/rabbit@localhost')).status).toBe(204);
    expect((await call('POST', '/vhosts/%2F/start/elsewhere')).body).toMatchObject({
      reason: 'Request to node elsewhere failed with nodedown',
    });
  });
});

describe.each([
  ['3.10', '3.10.8', {}, {}],
  ['4', '4.3.6', { 'x-queue-type': 'classic' }, { 'x-queue-type': 'quorum' }],
] as const)('the profile %s', (rabbitmq, version, classic, quorum) => {
  it('shows its version, and the types of queues that name none as they were seen (rules D1, F10)', async () => {
    const { call } = apiHarness({ rabbitmq });
    expect((await call('GET', '/overview')).body).toMatchObject({ rabbitmq_version: version });
    expect((await call('GET', '/definitions')).body).toMatchObject({ rabbit_version: version });
    await call('PUT', '/queues/%2F/q', { body: { durable: true } });
    expect((await call('GET', '/queues/%2F/q')).body).toHaveProperty('arguments', classic);
    await call('PUT', '/vhosts/v', { body: { default_queue_type: 'quorum' } });
    await call('PUT', '/queues/v/q', { body: { durable: true } });
    expect((await call('GET', '/queues/v/q')).body).toHaveProperty('arguments', quorum);
  });
});
