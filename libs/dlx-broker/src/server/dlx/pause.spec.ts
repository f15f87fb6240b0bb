import { describe, expect, it } from 'vitest';
import { apiHarness } from '../../../../../test/harnesses/api-harness.js';
import { listen, publishText } from '../../../../../test/harnesses/listener.js';

const path = '/dlx/queues/%2F/orders/pause';

function arrange() {
  const harness = apiHarness();
  const mine = listen(harness.broker);
  mine.channel.declareQueue('orders', { durable: true });
  const { channel } = mine;
  channel.consume('orders', { noAck: true });
  const publish = (body: string): void => publishText(channel, '', 'orders', body);
  const row = async (of: string) => (await harness.call('GET', of)).body as Record<string, unknown>;
  return { ...harness, ...mine, publish, row };
}

describe('a pause over HTTP', () => {
  it('rule X1: stops deliveries until it is ended, and the queue shows it', async () => {
    const { call, clock, publish, bodies, row } = arrange();
    const since = clock.now();
    expect((await call('PUT', path, { body: { reason: 'the bank is down' } })).status).toBe(204);
    publish('a');
    expect(bodies()).toEqual([]);
    const paused = { reason: 'the bank is down', by: 'guest', since, until: null };
    expect(await row('/dlx/queues/%2F/orders')).toMatchObject({ state: 'paused', paused });
    expect(await row('/dlx/queues')).toMatchObject({ items: [{ name: 'orders', state: 'paused', paused }] });
    expect(await row('/queues/%2F/orders')).toMatchObject({ dlx_paused: paused, state: 'running' });
    expect(await row('/queues')).toMatchObject([{ dlx_paused: paused }]);
    expect((await call('DELETE', path)).status).toBe(204);
    expect(bodies()).toEqual(['a']);
    expect(await row('/dlx/queues/%2F/orders')).toMatchObject({ paused: null });
    expect(await row('/queues/%2F/orders')).not.toHaveProperty('dlx_paused');
    expect((await call('DELETE', path)).status).toBe(204);
  });

  it('rule X3: ends when its time is over', async () => {
    const { call, clock, publish, bodies, row } = arrange();
    await call('PUT', path, { body: { for: '1h' } });
    publish('a');
    expect(await row('/dlx/queues/%2F/orders')).toMatchObject({
      paused: { reason: '', since: clock.now(), until: clock.now() + 3_600_000 },
    });
    clock.advance(3_599_999);
    expect(bodies()).toEqual([]);
    clock.advance(1);
    expect(bodies()).toEqual(['a']);
  });

  it('is recorded with its reason, and so is a refused one', async () => {
    const { call, broker } = arrange();
    broker.access.setUser('bob', { passwordHash: broker.access.user('guest')?.passwordHash, tags: ['management'] });
    broker.access.setPermissions('bob', '/', { configure: '^own', write: '.*', read: '.*' });
    await call('PUT', path, { body: { reason: 'why', for: '90s' } });
    const refused = await call('PUT', path, { body: { reason: 'mine' }, as: 'bob:guest' });
    expect(refused).toMatchObject({ status: 401, body: { reason: 'Access refused.' } });
    expect((await call('DELETE', path, { as: 'bob:guest' })).status).toBe(401);
    expect(broker.virtualHost('/').queues.get('orders')?.pausing.state?.reason).toBe('why');
    await call('DELETE', path);
    const { items } = (await call('GET', '/dlx/audit')).body as { items: readonly Record<string, unknown>[] };
    const names = { vhost: '/', name: 'orders' };
    const action = (method: string) => `${method} /api/dlx/queues/:vhost/:name/pause`;
    expect(items).toMatchObject([
      { user: 'guest', action: action('DELETE'), names, status: 204, details: { was_paused: true } },
      { user: 'bob', action: action('DELETE'), status: 401 },
      { user: 'bob', action: action('PUT'), status: 401 },
      { user: 'guest', action: action('PUT'), names, status: 204, details: { reason: 'why', for: '90s' } },
    ]);
  });

  it('is recorded without its reason if the reason is too long: the log stays in memory', async () => {
    const { call } = arrange();
    expect((await call('PUT', path, { body: { reason: 'x'.repeat(1_000_000), for: '90s' } })).status).toBe(400);
    const { items } = (await call('GET', '/dlx/audit')).body as { items: readonly Record<string, unknown>[] };
    expect(items[0]).toMatchObject({ user: 'guest', status: 400 });
    expect(JSON.stringify(items[0]).length).toBeLessThan(1_000);
  });

  it('shows its reason to users who may read from the queue, and that it is paused to all who see the queue', async () => {
    const { call, broker } = arrange();
    await call('PUT', path, { body: { reason: 'why' } });
    const passwordHash = broker.access.user('guest')?.passwordHash;
    const look = async (as: string): Promise<string> => {
      const paths = ['/dlx/queues', '/dlx/queues/%2F/orders', '/queues', '/queues/%2F/orders', '/dlx/overview'];
      const answers = await Promise.all(paths.map((of) => call('GET', of, { as })));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
      const texts = answers.map(({ body }) => JSON.stringify(body));
      expect(texts.filter((text) => text.includes('paused') && text.includes('guest'))).toHaveLength(5);
      return texts.map((text) => (text.includes('why') ? 'why' : '-')).join(' ');
    };
    for (const [name, tags, read] of [
      ['reader', ['management'], '.*'],
      ['other', ['management'], '^own'],
      ['watcher', ['monitoring'], '^own'],
      ['boss', ['administrator'], '^own'],
    ] as const) {
      broker.access.setUser(name, { passwordHash, tags });
      broker.access.setPermissions(name, '/', { configure: '.*', write: '.*', read });
    }
    expect(await look('reader:guest')).toBe('why why why why why');
    expect(await look('boss:guest')).toBe('why why why why why');
    expect(await look('other:guest')).toBe('- - - - -');
    expect(await look('watcher:guest')).toBe('- - - - -');
  });

  it('rule X5: is no part of definitions', async () => {
    const { call } = arrange();
    await call('PUT', path, { body: {} });
    const { body } = await call('GET', '/definitions');
    expect(body).toMatchObject({ queues: [{ name: 'orders' }] });
    expect(JSON.stringify(body)).not.toContain('pause');
  });

  it.each([
    [{ for: 'tomorrow' }, "'for' should be a duration such as 90s, 15m, 2h or 7d: 'tomorrow'"],
    [{ for: '0s' }, "invalid 'for' of a pause: 0 milliseconds; it has to be 1 ms to 365 days"],
    [{ for: '366d' }, "invalid 'for' of a pause"],
    [{ for: 60 }, 'for should be a string'],
    [{ until: '1h' }, "unknown key 'until'; known are reason, for"],
    [{ reason: 7 }, 'reason should be a string'],
    [{ reason: 'x'.repeat(501) }, "invalid 'reason' of a pause: 501 characters, and at most 500 are kept"],
  ])('is refused with %o', async (body, reason) => {
    const { call, broker } = arrange();
    const answer = await call('PUT', path, { body });
    expect(answer.status).toBe(400);
    expect((answer.body as { reason: string }).reason).toContain(reason);
    expect(broker.virtualHost('/').queues.get('orders')?.pausing.state).toBeUndefined();
  });

  it('of no queue is 404, and of an exclusive queue of a client refused', async () => {
    const { call, channel } = arrange();
    channel.declareQueue('own', { exclusive: true });
    for (const method of ['PUT', 'DELETE']) {
      const body = method === 'PUT' ? { body: {} } : {};
      expect((await call(method, '/dlx/queues/%2F/none/pause', body)).status).toBe(404);
      expect((await call(method, '/dlx/queues/none/orders/pause', body)).status).toBe(404);
      const { status, body: told } = await call(method, '/dlx/queues/%2F/own/pause', body);
      expect([status, JSON.stringify(told)]).toEqual([400, expect.stringContaining('cannot obtain exclusive access')]);
    }
    expect((await call('PUT', `${path}?for=1h`, { body: {} })).status).toBe(400);
  });
});
