import { describe, expect, it } from 'vitest';
import { listen } from '../../../../../../test/harnesses/listener.js';
import { apiHarness } from '../../../../../../test/harnesses/api-harness.js';

const bad = (reason: unknown) => ({ error: 'bad_request', reason });

describe('a user', () => {
  it('is made (201), changed (204), shown with its hash, and deleted', async () => {
    const { call } = apiHarness();
    expect((await call('PUT', '/users/ada', { body: { password: 'x', tags: 'management, b ,,c' } })).status).toBe(201);
    expect((await call('PUT', '/users/ada', { body: { password: 'x', tags: ['management'] } })).status).toBe(204);
    expect((await call('GET', '/users/ada')).body).toEqual({
      name: 'ada',
      password_hash: expect.stringMatching(/^[A-Za-z0-9+/]{48}$/),
      hashing_algorithm: 'rabbit_password_hashing_sha256',
      tags: ['management'],
      limits: {},
    });
    expect((await call('GET', '/whoami', { as: 'ada:x' })).body).toEqual({ name: 'ada', tags: ['management'] });
    expect((await call('DELETE', '/users/ada')).status).toBe(204);
    expect((await call('DELETE', '/users/ada')).status).toBe(404);
    expect((await call('GET', '/users/ada')).status).toBe(404);
  });

  it('may come with the hash of RabbitMQ, or without a password: then every login is refused', async () => {
    const { clock, call } = apiHarness();
    const login = async (password: string) => {
      clock.advance(3_600_000); // failures are forgotten
      return (await call('GET', '/whoami', { as: `ada:${password}` })).status;
    };
    const put = (body: object) => call('PUT', '/users/ada', { body: { tags: 'management', ...body } });
    await put({ password_hash: 'kI3GCqW5JLMJa4iX1lo7X4D6XbYqlLgxIs30+P6tENUV2POR' });
    expect(await login('test12')).toBe(200);
    for (const none of [{}, { password_hash: '' }, { password: '' }]) {
      await put(none);
      expect(await login('')).toBe(401);
      expect(await login('test12')).toBe(401);
    }
  });

  it.each([
    ['no tags', { password: 'x' }, 'tags_not_present'],
    ['both', { password: 'x', password_hash: 'AAAA', tags: '' }, 'both_password_and_password_hash_are_provided'],
    ['no base64', { password_hash: 'no!', tags: '' }, ['not_base64', 'no!']],
    ['a password that is no text', { password: 5, tags: '' }, 'password should be a string'],
    ['tags that are no text', { password: 'x', tags: 5 }, 'tags should be a string or a list of strings'],
    ['no JSON', '{', 'not_json'],
    ['no object', '[]', 'not_json'],
    ['JSON in JSON', '"x"', expect.stringContaining('doubly-JSON-encoded')],
  ])('is refused with %s', async (_, body, reason) => {
    const { broker, call } = apiHarness();
    expect(await call('PUT', '/users/ada', { body })).toMatchObject({ status: 400, body: bad(reason) });
    expect(broker.access.user('ada')).toBeUndefined();
  });

  it('who is deleted is sent away at once', async () => {
    const { broker, call } = apiHarness();
    await call('PUT', '/users/ada', { body: { password: 'x', tags: '' } });
    await call('PUT', '/permissions/%2F/ada', { body: { configure: '.*', write: '.*', read: '.*' } });
    const { errors } = listen(broker, { user: 'ada' });
    const { errors: others } = listen(broker, { user: 'guest' });
    await call('DELETE', '/users/ada');
    expect(errors.map(({ message }) => message)).toEqual(["CONNECTION_FORCED - user 'ada' is deleted"]);
    expect(others).toEqual([]);
  });
});

describe('several users', () => {
  it('are listed by name, with the columns that were asked for, never in pages', async () => {
    const { call } = apiHarness();
    for (const name of ['bob', 'ada']) await call('PUT', `/users/${name}`, { body: { tags: '' } });
    const names = [{ name: 'ada' }, { name: 'bob' }, { name: 'guest' }];
    expect((await call('GET', '/users?columns=name')).body).toEqual(names);
    expect((await call('GET', '/users?columns=name&page=1&page_size=1')).body).toEqual(names);
    expect((await call('GET', '/users/without-permissions?columns=name')).body).toEqual(names.slice(0, 2));
  });

  it('are deleted together, as far as they are there', async () => {
    const { broker, call } = apiHarness();
    for (const name of ['bob', 'ada']) await call('PUT', `/users/${name}`, { body: { tags: '' } });
    const remove = (body: object) => call('POST', '/users/bulk-delete', { body });
    expect(await remove({})).toMatchObject({ status: 400, body: bad('[{key_missing,users}]') });
    expect(await remove({ users: 'ada' })).toMatchObject({ status: 400 });
    expect(await remove({ users: ['nobody'] })).toMatchObject({ status: 400, body: bad(['no_such_user', 'nobody']) });
    expect(await remove({ users: ['ada', 'bob'] })).toMatchObject({ status: 204 });
    expect(broker.access.users().map(({ name }) => name)).toEqual(['guest']);
  });
});
