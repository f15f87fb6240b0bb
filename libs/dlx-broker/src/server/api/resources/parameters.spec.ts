import { describe, expect, it } from 'vitest';
import { apiHarness } from '../../../../../../test/harnesses/api-harness.js';

const limits = '/parameters/vhost-limits/%2F/limits';

describe('limits of a virtual host', () => {
  it('are set one by one or all together, by either name', async () => {
    const { broker, call } = apiHarness();
    expect((await call('PUT', '/vhost-limits/%2F/max-queues', { body: { value: 5 } })).status).toBe(204);
    expect((await call('GET', limits)).body).toEqual({
      value: { 'max-queues': 5 },
      vhost: '/',
      component: 'vhost-limits',
      name: 'limits',
    });
    expect((await call('PUT', limits, { body: { value: { 'max-connections': 7 } } })).status).toBe(204);
    expect((await call('GET', '/vhost-limits/%2F')).body).toEqual([{ vhost: '/', value: { 'max-connections': 7 } }]);
    expect([...broker.virtualHost('/').limits.list()]).toEqual([['max-connections', 7]]);
    expect((await call('DELETE', limits)).status).toBe(204);
    expect((await call('DELETE', limits)).status).toBe(404);
    expect((await call('PUT', limits, { body: { value: { 'max-queues': 1 } } })).status).toBe(201);
    expect((await call('DELETE', '/vhost-limits/%2F/max-queues')).status).toBe(204);
    expect((await call('GET', '/vhost-limits')).body).toEqual([]);
  });

  it('hold at once', async () => {
    const { broker, call } = apiHarness();
    await call('PUT', '/vhost-limits/%2F/max-queues', { body: { value: 0 } });
    const connection = broker.connect();
    const channel = connection.openChannel({} as never);
    expect(() => channel.declareQueue('q')).toThrow('queue limit');
  });

  it.each([
    ['/vhost-limits/%2F/max-nonsense', 5, 'Unrecognised terms [{<<"max-nonsense">>,5}] in limits'],
    ['/vhost-limits/%2F/max-queues', '5', 'max-queues should be a number, actually was <<"5">>'],
    ['/vhost-limits/%2F/max-queues', 1.5, 'max-queues should be a number, actually was 1.5'],
    [limits, { 'max-queues': '5' }, 'max-queues should be a number, actually was &lt;&lt;"5"&gt;&gt;'],
    ['/parameters/nothing/%2F/x', {}, 'component nothing not found'],
    ['/parameters/operator_policy/%2F/x', { pattern: 'a', definition: {} }, 'Key "priority" not found in x'],
  ])('%s = %j is refused', async (path, value, line) => {
    const { call } = apiHarness();
    expect((await call('PUT', path, { body: { value } })).body).toEqual({
      error: 'bad_request',
      reason: `Validation failed\n\n${line}\n`,
    });
  });

  it('a policy is no parameter, though an operator policy is', async () => {
    const { call } = apiHarness();
    const value = { pattern: 'a', definition: { 'max-length': 3 }, priority: 0 };
    expect((await call('PUT', '/parameters/policy/%2F/x', { body: { value } })).body).toMatchObject({
      reason: 'policies may not be set using this method',
    });
    expect((await call('PUT', '/parameters/operator_policy/%2F/x', { body: { value } })).status).toBe(201);
    expect((await call('GET', '/parameters')).body).toEqual([
      { value: { ...value, 'apply-to': 'all' }, vhost: '/', component: 'operator_policy', name: 'x' },
    ]);
    expect((await call('DELETE', '/parameters/operator_policy/%2F/x')).status).toBe(204);
    expect((await call('DELETE', '/parameters/operator_policy/%2F/x')).status).toBe(404);
  });
});

describe('global parameters', () => {
  it('are any JSON, null included', async () => {
    const { call } = apiHarness();
    expect((await call('PUT', '/global-parameters/a', { body: { value: { x: [1] } } })).status).toBe(201);
    expect((await call('PUT', '/global-parameters/a', { body: { value: null } })).status).toBe(204);
    expect((await call('GET', '/global-parameters')).body).toEqual([{ name: 'a', value: null }]);
    expect((await call('PUT', '/global-parameters/a', { body: {} })).status).toBe(400);
    expect((await call('DELETE', '/global-parameters/a')).status).toBe(204);
    expect((await call('GET', '/global-parameters/a')).status).toBe(404);
  });

  it('the name of the cluster is one', async () => {
    const { call } = apiHarness();
    expect((await call('GET', '/cluster-name')).body).toEqual({ name: 'rabbit@localhost' });
    expect((await call('PUT', '/cluster-name', { body: { name: 'home' } })).status).toBe(204);
    expect((await call('GET', '/cluster-name')).body).toEqual({ name: 'home' });
    expect((await call('GET', '/global-parameters/cluster_name')).body).toEqual({
      name: 'cluster_name',
      value: 'home',
    });
    expect((await call('PUT', '/cluster-name', { body: { name: 5 } })).status).toBe(400);
  });
});
