import { describe, expect, it } from 'vitest';
import { remoteHarness } from '../../../../../test/harnesses/remote-harness.js';
import { silentOutbox } from '../../broker/index.js';
import type { Problem } from '../http/reply.js';
import { Callers } from './callers.js';
import type { RemoteMover, RemoteOrder } from './redrives/remote-redrive.js';

const failing =
  (code: string, message = code) =>
  async () => {
    throw Object.assign(new Error(message), { code });
  };
const answering =
  (status: number, text: string, headers: Record<string, string> = {}) =>
  async () => ({
    status,
    headers: new Headers({ 'content-type': 'application/json', ...headers }),
    body: new Response(text).body!,
  });

const login = (password: string): Headers =>
  new Headers({ authorization: `Basic ${Buffer.from(`guest:${password}`).toString('base64')}` });

describe('the console of an application asks the server', () => {
  it('in the name of its user, and passes no other header on', async () => {
    const { call, asked } = remoteHarness();
    const headers = { cookie: 'secret=1', 'x-forwarded-host': 'evil', 'accept-encoding': 'gzip', accept: 'text/json' };
    expect((await call('GET', '/vhosts?columns=name', { headers })).body).toEqual([{ name: '/' }]);
    expect(asked.map(({ path }) => path)).toEqual(['/api/whoami', '/api/dlx/capabilities', '/api/vhosts?columns=name']);
    expect(asked.at(-1)!.headers).toEqual({
      authorization: `Basic ${Buffer.from('guest:guest').toString('base64')}`,
      accept: 'text/json',
      'x-requested-with': 'dlx-console',
    });
  });

  it('once for requests at the same time, and again after five seconds', async () => {
    const { call, asked, server } = remoteHarness();
    const lists = () => asked.filter(({ path }) => path.startsWith('/api/queues?page')).length;
    await Promise.all(['/dlx/queues', '/dlx/overview', '/dlx/topology'].map((path) => call('GET', path)));
    expect(lists()).toBe(1);
    server.clock.advance(4_000);
    await call('GET', '/dlx/queues');
    expect(lists()).toBe(1);
    server.clock.advance(1_001);
    await call('GET', '/dlx/queues');
    expect(lists()).toBe(2);
  });

  it('for each user, who sees what the server shows to this user', async () => {
    const { call, server } = remoteHarness();
    server.broker.addVirtualHost('hidden');
    server.broker.connect({ vhost: 'hidden' }).openChannel(silentOutbox).declareQueue('secret');
    await server.call('PUT', '/users/clerk', { body: { password: 'clerk', tags: 'management' } });
    await server.call('PUT', '/permissions/%2F/clerk', { body: { configure: '', write: '', read: '' } });
    await server.call('PUT', '/permissions/hidden/guest', { body: { configure: '', write: '', read: '' } });
    const names = async (as: string) =>
      ((await call('GET', '/dlx/queues', { as })).body as { items: { name: string }[] }).items.map(({ name }) => name);
    expect(await names('guest:guest')).toEqual(['secret']);
    expect(await names('clerk:clerk')).toEqual([]);
    expect((await call('GET', '/dlx/queues?vhost=hidden', { as: 'clerk:clerk' })).status).toBe(404);
    expect((await call('GET', '/dlx/queues/hidden/secret', { as: 'clerk:clerk' })).status).toBe(401);
    expect((await call('GET', '/dlx/audit', { as: 'clerk:clerk' })).status).toBe(401);
  });

  it('for no path but those of its pages, and for no part that leads up', async () => {
    const { call, asked } = remoteHarness();
    for (const path of [
      '/queues/%2F/..',
      '/queues/%2F/%2e%2e',
      '/definitions',
      '/nodes/x',
      '/users/guest',
      '/extensions',
    ]) {
      expect((await call('GET', path)).status).toBe(404);
    }
    expect(asked.map(({ path }) => path)).toEqual(['/api/whoami', '/api/dlx/capabilities']);
    expect((await call('GET', '/queues/%2F/%ff')).status).toBe(400);
  });
});

describe('the console of an application refuses', () => {
  it('a wrong password, and slows guesses down', async () => {
    const { call, asked } = remoteHarness();
    for (let guess = 0; guess < 5; guess++) {
      const refused = await call('GET', '/whoami', {
        as: `guest:${guess}`,
        headers: { 'x-requested-with': 'dlx-console' },
      });
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, null]);
    }
    expect(asked).toHaveLength(5);
    let isAnswered = false;
    void call('GET', '/whoami', { as: 'guest:6' }).then(() => (isAnswered = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect([isAnswered, asked.length]).toEqual([false, 5]);
  });

  it('guest from another machine, whom the server would take for a user of this one', async () => {
    const { call, asked } = remoteHarness();
    const refused = await call('GET', '/whoami', { peer: '10.1.2.3' });
    expect(refused).toMatchObject({ status: 401, body: { reason: 'User can only log in via localhost' } });
    expect((await call('GET', '/whoami', { headers: { 'x-forwarded-for': '10.1.2.3' } })).status).toBe(401);
    expect(asked).toEqual([]);
    const elsewhere = remoteHarness({ base: 'http://rabbit-1:15672' });
    await elsewhere.call('GET', '/whoami', { peer: '10.1.2.3' });
    expect(elsewhere.asked[0]!.headers).toMatchObject({ 'x-forwarded-for': '10.1.2.3' });
  });

  it('pages of other origins, and other names of this host', async () => {
    const { call, asked } = remoteHarness();
    expect((await call('GET', '/whoami', { headers: { host: 'evil.example' } })).status).toBe(421);
    expect((await call('DELETE', '/queues/%2F/q', { headers: { origin: 'http://evil.example' } })).status).toBe(403);
    expect(asked).toEqual([]);
  });

  it.each([
    [429, 429],
    [401, 401],
    [503, 502],
  ])('to guess what a server is that answers %i', async (status, shown) => {
    const harness = remoteHarness({ kind: 'dlx-broker' });
    const { call } = harness;
    expect((await call('GET', '/whoami')).status).toBe(200);
    harness.server.clock.advance(30_001);
    harness.answer = async ({ path }) =>
      path.startsWith('/api/whoami')
        ? answering(200, '{"name":"guest","tags":["administrator"]}')()
        : answering(status, '{"error":"busy","reason":"wait"}')();
    expect((await call('GET', '/dlx/capabilities')).status).toBe(shown);
    harness.answer = undefined;
    expect((await call('GET', '/dlx/capabilities')).body).toMatchObject({ product: 'dlx-broker' });
  });

  it('to remember passwords of users who are gone', async () => {
    const { call, remote, server } = remoteHarness();
    expect((await call('GET', '/whoami')).status).toBe(200);
    server.clock.advance(6_000);
    expect((await call('GET', '/whoami', { headers: { 'x-forwarded-for': '10.1.2.3' } })).status).toBe(401);
    await server.call('PUT', '/users/clerk', { body: { password: 'clerk', tags: 'management' } });
    expect((await call('GET', '/whoami', { as: 'clerk:clerk' })).status).toBe(200);
    expect(remote.callers.count).toBe(2);
    server.clock.advance(4_000);
    expect(remote.callers.count).toBe(1);
    server.clock.advance(6_000);
    expect(remote.callers.count).toBe(0);
  });

  it('one client that has gone, and not another one of the same user', async () => {
    const harness = remoteHarness();
    const callers = new Callers(harness.remote.server, harness.server.clock);
    for (let guess = 0; guess < 5; guess++)
      await callers.of(login(`${guess}`), '127.0.0.1', new AbortController().signal).catch(() => undefined);
    const gone = new AbortController();
    const first = callers.of(login('guest'), '127.0.0.1', gone.signal).catch((error: Problem) => error.answer.status);
    const second = callers.of(login('guest'), '127.0.0.1', new AbortController().signal);
    gone.abort();
    expect(await first).toBe(400);
    await new Promise((resolve) => setImmediate(resolve));
    harness.server.clock.advance(10_000);
    expect((await second).user.name).toBe('guest');
  });

  it('a redirect, which could lead to another server', async () => {
    const harness = remoteHarness();
    expect((await harness.call('GET', '/vhosts')).status).toBe(200);
    harness.answer = answering(302, '', { location: 'http://evil.example/api/vhosts' });
    const refused = await harness.call('GET', '/vhosts');
    expect(refused).toMatchObject({ status: 502, body: { reason: expect.stringContaining('not followed') } });
    expect(refused.headers.get('location')).toBe(null);
  });

  it.each([
    ['ECONNREFUSED', failing('ECONNREFUSED'), /refuses connections.*option 'management'.*rabbitmq_management/],
    ['ENOTFOUND', failing('ENOTFOUND'), /name of the host is not known.*option 'management'/],
    ['a private authority', failing('SELF_SIGNED_CERT_IN_CHAIN'), /not trusted.*tls: \{ ca \} of rabbitmq\(\)/],
    ['an old certificate', failing('CERT_HAS_EXPIRED'), /not valid/],
    ['no TLS', failing('EPROTO'), /does not speak TLS; write http:/],
    ['a page', answering(200, '<html>'), /is no management API/],
    ['another API', answering(200, '[]'), /is no management API/],
    ['a redirect', answering(302, '', { location: 'http://evil.example' }), /answers 302|no management API/],
  ])('a server behind %s, and says what to do', async (_, answer, text) => {
    const harness = remoteHarness();
    harness.answer = answer;
    const refused = await harness.call('GET', '/dlx/queues');
    expect(refused.status).toBe(502);
    expect((refused.body as { reason: string }).reason).toMatch(text);
    expect((refused.body as { reason: string }).reason).not.toContain('guest');
  });
});

describe('the console of an application on dlx-broker serve', () => {
  it('has all pages of the server', async () => {
    const { call, server } = remoteHarness({ kind: 'dlx-broker' });
    server.broker.connect().openChannel(silentOutbox).declareQueue('q');
    await server.call('POST', '/exchanges/%2F/amq.default/publish', {
      body: { properties: {}, routing_key: 'q', payload: 'x', payload_encoding: 'string' },
    });
    expect((await call('GET', '/dlx/capabilities')).body).toMatchObject({
      product: 'dlx-broker',
      server: 'http://127.0.0.1:15672',
      look: true,
    });
    const looked = await call('GET', '/dlx/queues/%2F/q/messages');
    expect(looked).toMatchObject({ status: 200, body: { items: [{ payload: 'x' }] } });
    expect((await call('DELETE', '/dlx/queues/%2F/q/messages/1')).status).toBe(204);
    expect((await call('GET', '/dlx/queues/%2F/q/messages')).body).toMatchObject({ items: [] });
    expect((await call('GET', '/definitions')).status).toBe(404);
  });
});

describe('edits at the console of an application on dlx-broker serve', () => {
  it('are those that the server permits each user', async () => {
    const { call, server } = remoteHarness({ kind: 'dlx-broker', edits: true });
    const { access } = server.broker;
    access.setUser('ada', { tags: ['management'], passwordHash: access.user('guest')!.passwordHash });
    access.setPermissions('ada', '/', { configure: '.*', write: '.*', read: '.*' });
    const edits = async (as: string): Promise<unknown> =>
      ((await call('GET', '/dlx/capabilities', { as })).body as { edits: unknown }).edits;
    expect([await edits('guest:guest'), await edits('ada:guest'), await edits('guest:guest')]).toEqual([
      true,
      false,
      true,
    ]);
    const channel = server.broker.connect().openChannel(silentOutbox);
    for (const name of ['q', 'w']) channel.declareQueue(name);
    channel.publish('', 'q', {}, Buffer.from('x'));
    const to = { exchange: '', routing_key: 'w' };
    const body = { vhost: '/', queue: 'q', ids: ['1'], to, edit: { payload: 'y' } };
    expect((await call('POST', '/dlx/redrives', { body, as: 'ada:guest' })).status).toBe(401);
    expect((await call('POST', '/dlx/redrives', { body })).body).toMatchObject({ moved: 1 });
    expect(
      (await call('POST', '/dlx/queues/%2F/w/messages/1/edit', { body: { payload: 'z' }, as: 'ada:guest' })).status,
    ).toBe(401);
  });
});

describe('redrives by consumers of the application', () => {
  const mover = (): RemoteMover & { end: () => void } => {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const counts = { total: 3, moved: 0, left: 0, unproven: 0, cameBack: 0, destinations: {}, error: undefined };
    return {
      counts: { ...counts, state: 'running' },
      watchedUntil: undefined,
      ended,
      end,
      pause: () => undefined,
      resume: () => undefined,
      stop: () => end(),
      close: async () => end(),
    };
  };
  const arrange = () => {
    const orders: RemoteOrder[] = [];
    const harness = remoteHarness({ remoteHost: { startRedrive: (order) => (orders.push(order), mover()) } });
    const channel = harness.server.broker.connect().openChannel(silentOutbox);
    channel.declareQueue('dead');
    for (let count = 0; count < 3; count++) channel.publish('', 'dead', {}, Buffer.from('x'));
    const post = (more: object) =>
      harness.call('POST', '/dlx/redrives', { body: { vhost: '/', queue: 'dead', ...more } });
    return { ...harness, orders, post };
  };

  it('move no more messages than there are, with the password of the user', async () => {
    const { post, orders, call } = arrange();
    expect((await post({ dry_run: true })).body).toMatchObject({ moved: 3, destinations: [], may_refuse: [] });
    expect(orders).toEqual([]);
    const to = { exchange: '', routing_key: 'work' };
    const begun = await post({ to, limit: 10, rate: 0, circuit: false });
    expect(begun.status).toBe(201);
    expect(JSON.stringify(begun.body)).not.toContain('password');
    expect(orders).toMatchObject([
      {
        limit: 3,
        rate: Infinity,
        circuit: undefined,
        to: { exchange: '', routingKey: 'work' },
        user: 'guest',
        password: 'guest',
      },
    ]);
    expect((await post({})).status).toBe(409); // one redrive of a queue at a time
    const { id } = begun.body as { id: string };
    expect((await call('DELETE', `/dlx/redrives/${id}`)).status).toBe(204);
    expect((await call('GET', '/dlx/audit')).body).toMatchObject({
      items: expect.arrayContaining([
        expect.objectContaining({ action: 'POST /api/dlx/redrives', user: 'guest', status: 201 }),
      ]),
    });
  });

  it('are remembered without the password', async () => {
    const { post, remote, orders } = arrange();
    expect((await post({})).status).toBe(201);
    expect(orders).toMatchObject([{ password: 'guest' }]);
    expect(remote.redrives.list()).toMatchObject([{ order: { user: 'guest' } }]);
    expect(remote.redrives.list()[0]!.order).not.toHaveProperty('password');
  });

  it('show no password of the application, whose options may fail with one', async () => {
    const error = new Error("option 'urls' of rabbitmq() failed: GET http://:s3cret@vault:8200/v1\nanswered 503");
    const { counts, ...failed } = mover();
    const startRedrive = () => ({ ...failed, counts: { ...counts, state: 'failed' as const, error } });
    const { call, server } = remoteHarness({ remoteHost: { startRedrive } });
    const channel = server.broker.connect().openChannel(silentOutbox);
    channel.declareQueue('dead');
    channel.publish('', 'dead', {}, Buffer.from('x'));
    const { body } = await call('POST', '/dlx/redrives', { body: { vhost: '/', queue: 'dead' } });
    expect(body).toMatchObject({ state: 'failed', reason: expect.stringContaining("option 'urls'") });
    expect(JSON.stringify(body)).not.toContain('s3cret');
  });

  it('refuse what needs a look at messages, and mistakes', async () => {
    const { post, orders } = arrange();
    for (const more of [
      { filter: { reason: 'rejected' } },
      { ids: ['1'] },
      { groups: [] },
      { keep_history: true },
      { edit: {} },
    ]) {
      expect(await post(more)).toMatchObject({ status: 501, body: { error: 'not_possible' } });
    }
    for (const more of [{ limt: 1 }, { limit: 0 }, { to: 'work' }, { to: { exchange: '', routing_key: 'dead' } }]) {
      expect((await post(more)).status).toBe(400);
    }
    expect((await post({ queue: 'none' })).status).toBe(404);
    expect(orders).toEqual([]);
  });
});
