import { describe, expect, it } from 'vitest';
import { apiHarness } from '../../../../../test/harnesses/api-harness.js';
import { methodNames } from '../http/resource.js';
import { resources } from './resources.js';

const methodsOf = (resource: (typeof resources)[number]): string =>
  methodNames.filter((method) => resource[method] !== undefined).join(', ');

describe('every resource', () => {
  it('is there once, and can do something', () => {
    const paths = resources.map(({ path }) => path.replaceAll(/:\w+/g, ':'));
    expect(new Set(paths).size).toBe(paths.length);
    expect(resources.filter((resource) => methodsOf(resource) === '')).toEqual([]);
  });

  it.each(resources.map((resource) => [resource.path, resource] as const))(
    '%s asks for a login, and refuses users without a tag',
    async (path, resource) => {
      const { broker, call } = apiHarness();
      broker.access.setUser('nobody', {
        passwordHash: broker.access.user('guest')?.passwordHash,
        tags: ['impersonator'],
      });
      broker.access.setPermissions('nobody', '/', { configure: '.*', write: '.*', read: '.*' });
      const place = path.replace(':vhost', '%2F').replaceAll(/:\w+/g, 'x');
      const body = resource.hasLoginForm === true ? 'username=nobody&password=guest' : '{}';
      for (const method of methodNames.filter((name) => resource[name] !== undefined)) {
        expect((await call(method, place, { as: '' })).status).toBe(401);
        expect(await call(method, place, { as: 'nobody:guest', ...(method !== 'GET' && { body }) })).toMatchObject({
          status: 401,
          body: { error: 'not_authorised', reason: 'Not management user' },
        });
      }
    },
  );
});
