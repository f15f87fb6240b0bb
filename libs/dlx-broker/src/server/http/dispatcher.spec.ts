import { beforeAll, describe, expect, it } from 'vitest';
import { apiHarness, type ApiHarness } from '../../../../../test/harnesses/api-harness.js';

describe('a path', () => {
  it.each([
    ['/whoami', 200],
    ['/whoami/', 200],
    ['/whoami//', 404],
    ['/whoami/x', 404],
    ['/Whoami', 404],
    ['/vhosts/%2F', 200],
    ['/vhosts/%2f/', 200],
    ['/vhosts/%2F?columns=name&x=%', 200],
    ['/vhosts/%252F', 404],
    ['/vhosts/%', 400],
    ['/vhosts/%ff', 400],
    ['/vhosts/.', 404],
    ['/vhosts/..', 404],
    ['', 301],
  ])('%s: %i', async (path, status) => {
    const { call } = apiHarness();
    expect((await call('GET', path)).status).toBe(status);
  });

  it('may name anything at all', async () => {
    const { broker, call } = apiHarness();
    const names = ['..', '%', '%2F', 'a/b', 'ü €', '__proto__', 'a?b#c', '\\', ' '];
    for (const name of names) expect((await call('PUT', `/vhosts/${encodeURIComponent(name)}`)).status).toBe(201);
    expect([...broker.virtualHosts.keys()].slice(1)).toEqual(names);
    for (const name of names) {
      expect((await call('GET', `/vhosts/${encodeURIComponent(name)}?columns=name`)).body).toEqual({ name });
    }
  });
});

describe('a method', () => {
  it.each([
    ['POST', '/whoami', 405, 'HEAD, GET, OPTIONS'],
    ['PATCH', '/vhosts/a', 405, 'HEAD, GET, PUT, DELETE, OPTIONS'],
    ['GET', '/users/bulk-delete', 405, 'POST, OPTIONS'],
    ['OPTIONS', '/vhosts/a', 200, 'HEAD, GET, PUT, DELETE, OPTIONS'],
    ['BREW', '/whoami', 501, null],
  ])('%s %s: %i', async (method, path, status, allow) => {
    const answer = await apiHarness().call(method, path, { as: '' });
    expect(answer).toMatchObject({ status, body: undefined });
    expect(answer.headers.get('allow')).toBe(allow);
  });

  it('HEAD is GET without its body', async () => {
    const { call } = apiHarness();
    const { status, headers, body } = await call('HEAD', '/whoami');
    expect([status, body, headers.get('content-type')]).toEqual([200, undefined, 'application/json']);
    expect(Number(headers.get('content-length'))).toBe(JSON.stringify((await call('GET', '/whoami')).body).length);
  });
});

describe('what a tag opens:', () => {
  let harness: ApiHarness;
  const tags = ['', 'impersonator', 'management', 'policymaker', 'monitoring', 'administrator'];
  beforeAll(async () => {
    harness = apiHarness();
    for (const tag of tags) await harness.call('PUT', `/users/u-${tag}`, { body: { password: 'x', tags: tag } });
    await harness.call('PUT', '/vhosts/mine');
    for (const tag of tags) {
      const body = { configure: '', write: '', read: '' };
      await harness.call('PUT', `/permissions/mine/u-${tag}`, { body });
    }
  });

  const nobody = 'Not management user';
  const object = 'User not authorised to access object';
  const vhost = 'User not authorised to access virtual host';
  const admin = 'Not administrator user';
  const policy = '{"pattern":"a","definition":{"max-length":1}}';
  // The answer for each of the tags above, in their order; a number is a status.
  it.each<readonly [string, string, readonly (string | number)[]]>([
    ['GET', '/whoami', [nobody, nobody, 200, 200, 200, 200]],
    ['GET', '/vhosts/mine', [nobody, nobody, admin, admin, admin, 200]],
    ['GET', '/users', [nobody, nobody, admin, admin, admin, 200]],
    ['GET', '/definitions', [nobody, nobody, admin, admin, admin, 200]],
    ['GET', '/policies/mine', [nobody, nobody, 200, 200, 200, 200]],
    ['GET', '/policies/%2F', [nobody, nobody, vhost, vhost, vhost, 200]],
    ['GET', '/policies/mine/p', [nobody, nobody, object, 404, object, 404]],
    ['PUT', '/policies/mine/p', [nobody, nobody, object, 201, object, 204]],
    ['PUT', '/policies/%2F/p', [nobody, nobody, object, object, object, 201]],
    ['PUT', '/operator-policies/mine/p', [nobody, nobody, admin, admin, admin, 201]],
    ['GET', '/operator-policies/mine/p', [nobody, nobody, admin, admin, admin, 200]],
    ['GET', '/parameters', [nobody, nobody, object, 200, object, 200]],
    ['GET', '/global-parameters', [nobody, nobody, object, 200, object, 200]],
    ['GET', '/vhost-limits/%2F', [nobody, nobody, vhost, vhost, 200, 200]],
    ['PUT', '/cluster-name', [nobody, nobody, admin, admin, admin, 400]],
    ['GET', '/policies/nowhere', [nobody, nobody, 404, 404, 404, 404]],
  ])('%s %s', async (method, path, expected) => {
    const told: (string | number)[] = [];
    for (const tag of tags) {
      const body = method === 'PUT' ? policy : undefined;
      const answer = await harness.call(method, path, { as: `u-${tag}:x`, ...(body && { body }) });
      told.push(answer.status === 401 ? (answer.body as { reason: string }).reason : answer.status);
    }
    expect(told).toEqual(expected);
  });

  it('lists show what one may see', async () => {
    const names = async (tag: string) => (await harness.call('GET', '/vhosts?columns=name', { as: `u-${tag}:x` })).body;
    expect(await names('management')).toEqual([{ name: 'mine' }]);
    expect(await names('monitoring')).toEqual([{ name: '/' }, { name: 'mine' }]);
  });
});
