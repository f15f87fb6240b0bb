import { describe, expect, it } from 'vitest';
import { listen } from '../../../../../../test/harnesses/listener.js';
import { apiHarness } from '../../../../../../test/harnesses/api-harness.js';
import { codes } from '../../http/reply.js';

const rights = { configure: '', write: '^a', read: '.*' };
const notFound = { status: 404, body: { error: 'Object Not Found', reason: 'Not Found' } };

async function arrange() {
  const harness = apiHarness();
  await harness.call('PUT', '/users/ada', { body: { password: 'x', tags: '' } });
  await harness.call('PUT', '/vhosts/v');
  return harness;
}

describe('permissions', () => {
  it('are given, changed, shown, listed and taken', async () => {
    const { call } = await arrange();
    expect((await call('PUT', '/permissions/v/ada', { body: { ...rights, write: '' } })).status).toBe(201);
    expect((await call('PUT', '/permissions/v/ada', { body: rights })).status).toBe(204);
    const row = { user: 'ada', vhost: 'v', ...rights };
    expect((await call('GET', '/permissions/v/ada')).body).toEqual(row);
    expect((await call('GET', '/users/ada/permissions')).body).toEqual([row]);
    expect((await call('GET', '/vhosts/v/permissions?columns=user')).body).toEqual([
      { user: 'ada' },
      { user: 'guest' },
    ]);
    expect((await call('GET', '/permissions')).body).toContainEqual(row);
    expect((await call('DELETE', '/permissions/v/ada')).status).toBe(204);
    expect(await call('DELETE', '/permissions/v/ada')).toMatchObject(notFound);
    expect(await call('GET', '/permissions/v/ada')).toMatchObject(notFound);
  });

  it('hold at once for AMQP, HTTP and for users that a request names (rules N1, N4)', async () => {
    const { broker, call } = await arrange();
    await call('PUT', '/users/ada', { body: { password: 'x', tags: 'management' } });
    expect(() => listen(broker, { user: 'ada', vhost: 'v' })).toThrow("access to vhost 'v' refused for user 'ada'");
    expect((await call('GET', '/policies/v', { as: 'ada:x' })).status).toBe(401);
    await call('PUT', '/permissions/v/ada', { body: { ...rights, configure: '^mine' } });
    expect((await call('GET', '/policies/v', { as: 'ada:x' })).status).toBe(200);
    const { channel } = listen(broker, { user: 'ada', vhost: 'v' });
    channel.declareQueue('mine');
    await call('PUT', '/permissions/v/ada', { body: rights });
    expect(() => channel.declareQueue('mine too')).toThrow("access to queue 'mine too' in vhost 'v' refused");
  });

  it.each([
    ['nothing', {}, '[{key_missing,configure},{key_missing,write},{key_missing,read}]'],
    ['a part', { configure: '', read: '' }, '[{key_missing,write}]'],
    ['what is no text', { ...rights, write: 5 }, 'write should be a string'],
    ['what is no pattern', { ...rights, write: '(' }, ['invalid_regexp', [40], [codes('missing )'), 1]]],
    [
      'a pattern that is too large, of which the beginning is shown',
      { ...rights, write: 'a'.repeat(60_000) },
      ['invalid_regexp', codes('a'.repeat(500)), [codes('regular expression is too large'), 60_000]],
    ],
  ])('are refused with %s', async (_, body, reason) => {
    const { broker, call } = await arrange();
    expect((await call('PUT', '/permissions/v/ada', { body })).body).toEqual({ error: 'bad_request', reason });
    expect(broker.access.permissions('ada', 'v')).toBeUndefined();
  });

  it('of unknown users, or in unknown virtual hosts, are refused', async () => {
    const { call } = await arrange();
    for (const path of ['/permissions/v/nobody', '/permissions/nowhere/ada', '/topic-permissions/v/nobody']) {
      const body = { ...rights, exchange: 'x' };
      expect((await call('PUT', path, { body })).body).toMatchObject({ reason: 'vhost_or_user_not_found' });
      expect(await call('GET', path)).toMatchObject(notFound);
      expect(await call('DELETE', path)).toMatchObject(notFound);
    }
  });
});

describe('topic permissions', () => {
  it('are given by exchange, and taken all together', async () => {
    const { call } = await arrange();
    const put = async (exchange: string, write: string) =>
      (await call('PUT', '/topic-permissions/v/ada', { body: { exchange, write, read: '.*' } })).status;
    expect([await put('amq.topic', '^a'), await put('', '^a'), await put('amq.topic', '^b')]).toEqual([201, 204, 204]);
    const rows = ['', 'amq.topic'].map((exchange) => ({
      user: 'ada',
      vhost: 'v',
      exchange,
      write: exchange === '' ? '^a' : '^b',
      read: '.*',
    }));
    for (const path of ['/topic-permissions', '/vhosts/v/topic-permissions', '/users/ada/topic-permissions']) {
      expect((await call('GET', path)).body).toEqual(rows);
    }
    expect((await call('DELETE', '/topic-permissions/v/ada')).status).toBe(204);
    expect(await call('GET', '/topic-permissions/v/ada')).toMatchObject(notFound);
  });

  it('are refused with what is no pattern', async () => {
    const { call } = await arrange();
    const body = { exchange: 'x', write: '[', read: '' };
    expect((await call('PUT', '/topic-permissions/v/ada', { body })).body).toMatchObject({
      reason: ['invalid_regexp', '[', [expect.any(Array), 1]],
    });
  });

  it('are refused with a pattern that is too large, alone or with the name of the user in it', async () => {
    const { call } = await arrange();
    const name = 'u'.repeat(200);
    await call('PUT', `/users/${name}`, { body: { password: 'x', tags: '' } });
    const put = (user: string, write: string) =>
      call('PUT', `/topic-permissions/v/${user}`, { body: { exchange: 'x', write, read: '' } });
    expect(await put('ada', 'a'.repeat(60_000))).toMatchObject({
      status: 400,
      body: { reason: ['invalid_regexp', 'a'.repeat(500), [codes('regular expression is too large'), 60_000]] },
    });
    expect((await put('ada', '{username}'.repeat(1_000))).status).toBe(201);
    expect(await put(name, '{username}'.repeat(1_000))).toMatchObject({
      status: 400,
      body: { reason: expect.stringContaining('regular expression is too large') as unknown },
    });
  });
});
