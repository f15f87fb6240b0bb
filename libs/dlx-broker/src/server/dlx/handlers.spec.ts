import { describe, expect, it } from 'vitest';
import { apiHarness } from '../../../../../test/harnesses/api-harness.js';
import type { HandlerStatus } from '../host.js';

const path = '/dlx/handlers/Payments.pay/pause';

function arrange() {
  let paused: string | undefined;
  const since = new Date(1_767_268_800_000);
  const list = (): readonly HandlerStatus[] => [
    {
      handler: 'Payments.pay',
      queue: 'payments',
      circuit: 'bank',
      ...(paused === undefined ? { state: 'running' } : { state: 'paused', reason: paused, since }),
    },
  ];
  const handlers = {
    vhost: '/',
    list,
    pause: (_: string, reason = ''): void => void (paused = reason),
    resume: (): void => void (paused = undefined),
  };
  const harness = apiHarness({ host: { handlers: [handlers] } });
  const { broker } = harness;
  broker.addVirtualHost('other');
  const passwordHash = broker.access.user('guest')?.passwordHash;
  const user = (name: string, vhost: string, configure: string): void => {
    broker.access.setUser(name, { passwordHash, tags: ['management'] });
    broker.access.setPermissions(name, vhost, { configure, write: '.*', read: '.*' });
  };
  user('bob', '/', '^own');
  user('ann', '/', '^payments$');
  user('eve', 'other', '.*');
  return { ...harness, isPaused: () => paused };
}

describe('handlers over HTTP', () => {
  it('are listed, paused and resumed', async () => {
    const { broker, call, isPaused } = arrange();
    const row = {
      handler: 'Payments.pay',
      vhost: '/',
      queue: 'payments',
      circuit: 'bank',
      next_probe: null,
      may_pause: true,
    };
    const items = async (as = 'guest:guest') => (await call('GET', '/dlx/handlers', { as })).body;
    expect(await items()).toEqual({ items: [{ ...row, state: 'running', reason: null, since: null }] });
    expect((await call('PUT', path, { body: { reason: 'the bank moves' } })).status).toBe(204);
    expect(await items('bob:guest')).toEqual({
      items: [{ ...row, state: 'paused', reason: 'the bank moves', since: 1_767_268_800_000, may_pause: false }],
    });
    // The reason of an open circuit is the text of an error, which may come from a message.
    broker.access.setPermissions('bob', '/', { configure: '.*', write: '.*', read: '^own' });
    expect(await items('bob:guest')).toMatchObject({ items: [{ state: 'paused', reason: null, may_pause: true }] });
    broker.access.setPermissions('guest', '/', { configure: '^$', write: '^$', read: '^$' });
    expect(await items()).toMatchObject({ items: [{ reason: 'the bank moves', may_pause: true }] });
    expect((await call('DELETE', path)).status).toBe(204);
    expect(isPaused()).toBeUndefined();
  });

  it('need the right to configure the queue, or an administrator, and each change is recorded', async () => {
    const { call, isPaused } = arrange();
    for (const method of ['PUT', 'DELETE']) {
      expect((await call(method, path, { body: {}, as: 'bob:guest' })).status).toBe(401);
      expect((await call(method, path, { body: {}, as: 'eve:guest' })).status).toBe(404);
    }
    expect((await call('GET', '/dlx/handlers', { as: 'eve:guest' })).body).toEqual({ items: [] });
    expect(isPaused()).toBeUndefined();
    expect((await call('PUT', path, { body: { reason: 'mine' }, as: 'ann:guest' })).status).toBe(204);
    expect(isPaused()).toBe('mine');
    const { items } = (await call('GET', '/dlx/audit')).body as { items: readonly Record<string, unknown>[] };
    expect(items[0]).toMatchObject({
      user: 'ann',
      action: 'PUT /api/dlx/handlers/:name/pause',
      names: { name: 'Payments.pay' },
      status: 204,
      details: { reason: 'mine' },
    });
  });

  it.each([
    [{ reason: 7 }, 400, 'reason should be a string'],
    [{ for: '1h' }, 400, "unknown key 'for'"],
    [{ reason: 'x'.repeat(501) }, 400, 'reason has 501 characters; 500 is the most'],
  ])('refuse %o', async (body, status, reason) => {
    const { call, isPaused } = arrange();
    const answer = await call('PUT', path, { body });
    expect([answer.status, (answer.body as { reason: string }).reason]).toEqual([
      status,
      expect.stringContaining(reason),
    ]);
    expect(isPaused()).toBeUndefined();
  });

  it('that do not exist are not found, and a broker without an application has none', async () => {
    const { call } = arrange();
    expect((await call('PUT', '/dlx/handlers/Payments.nothing/pause', { body: {} })).status).toBe(404);
    const alone = apiHarness();
    expect((await alone.call('GET', '/dlx/handlers')).body).toEqual({ items: [] });
    expect((await alone.call('PUT', path, { body: {} })).status).toBe(404);
  });
});
