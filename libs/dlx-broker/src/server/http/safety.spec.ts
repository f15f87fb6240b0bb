import { describe, expect, it, vi } from 'vitest';
import { apiHarness } from '../../../../../test/harnesses/api-harness.js';
import { isKnownHost } from './app.js';

const vhost = (name: string) => ['PUT', `/vhosts/${name}`] as const;

describe('a page of another site', () => {
  it.each([
    ['a name of its own that points here', { host: 'rebound.example' }],
    ['the same with our port', { host: 'rebound.example:15672' }],
    ['a name that only begins like ours', { host: 'localhost.example' }],
    ['a name that only ends like ours', { host: 'notlocalhost' }],
    ['an address in front of its name', { host: '127.0.0.1.example' }],
    ['a user in front of its name', { host: 'localhost@rebound.example' }],
    ['no name at all', { host: '/' }],
  ])('has no answer by %s (DNS rebinding)', async (_, headers) => {
    const { broker, call } = apiHarness();
    for (const [method, path] of [['GET', '/whoami'], vhost('a')] as const) {
      const { status, body } = await call(method, path, { headers });
      expect(status).toBe(421);
      expect(body).toMatchObject({ error: 'misdirected_request' });
    }
    expect([...broker.virtualHosts.keys()]).toEqual(['/']);
  });

  it.each([
    ['Origin', { origin: 'https://evil.example' }],
    ['Origin of another port of this machine', { origin: 'http://localhost:8080' }],
    ['Origin null, of a sandboxed frame or a file', { origin: 'null' }],
    ['Origin that begins like ours', { origin: 'http://localhost:15672.evil.example' }],
    ['Sec-Fetch-Site cross-site', { 'sec-fetch-site': 'cross-site' }],
    ['Sec-Fetch-Site of a kind to come', { 'sec-fetch-site': 'other' }],
    ['Sec-Fetch-Site same-site', { 'sec-fetch-site': 'same-site', origin: 'http://localhost:8080' }],
    [
      'a form that is sent by a click',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', origin: 'null' },
    ],
  ])('changes nothing: %s', async (_, headers) => {
    const { broker, call } = apiHarness();
    for (const type of ['text/plain', 'application/json', 'application/x-www-form-urlencoded']) {
      const options = { headers: { ...headers, 'content-type': type }, body: '{"users":["guest"]}' };
      expect((await call('POST', '/users/bulk-delete', options)).status).toBe(403);
      expect((await call('PUT', '/vhosts/a', options)).status).toBe(403);
      expect((await call('DELETE', '/vhosts/%2F', options)).status).toBe(403);
    }
    expect(broker.access.user('guest')).toBeDefined();
    expect([...broker.virtualHosts.keys()]).toEqual(['/']);
  });

  it('cannot load an answer as an image, a script or a frame', async () => {
    const { call } = apiHarness();
    for (const mode of ['no-cors', 'cors']) {
      const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': mode };
      expect((await call('GET', '/whoami', { headers })).status).toBe(403);
    }
    const { headers } = await call('GET', '/whoami');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('is allowed nothing by CORS, preflight or not', async () => {
    const { call } = apiHarness();
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'PUT' };
    const answers = [
      await call('OPTIONS', '/vhosts/a', { as: '', headers }),
      await call('GET', '/whoami', { headers }),
      await call('GET', '/nothing', { headers }),
    ];
    for (const answer of answers) {
      expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });
});

describe('every answer has the safe headers:', () => {
  it.each([
    ['GET', '/whoami', 200],
    ['GET', '/nothing', 404],
    ['GET', '/vhosts/none', 404],
    ['POST', '/whoami', 405],
    ['PUT', '/vhosts/a', 201],
    ['PUT', '/users/a', 400],
  ])('%s %s: %i', async (method, path, status) => {
    const answer = await apiHarness().call(method, path);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });

  it('401 and what a host name is refused with', async () => {
    const { call } = apiHarness();
    for (const options of [{ as: '' }, { headers: { host: 'rebound.example' } }]) {
      expect((await call('GET', '/whoami', options)).headers.get('x-frame-options')).toBe('DENY');
    }
  });
});

describe('who is welcome:', () => {
  it.each([
    ['curl', { 'user-agent': 'curl/8', 'content-type': 'application/x-www-form-urlencoded' }],
    ['rabbitmqadmin', { 'content-type': 'application/json' }],
    ['a page of our own', { origin: 'http://localhost:15672', 'sec-fetch-site': 'same-origin' }],
    ['a page of our own behind TLS', { origin: 'https://localhost:15672' }],
    ['a page of our own behind a proxy', { origin: 'https://broker.example', 'sec-fetch-site': 'same-origin' }],
    ['a user who types the address', { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }],
  ])('%s', async (_, headers) => {
    const { call } = apiHarness();
    expect((await call('PUT', '/vhosts/a', { headers, body: '{}' })).status).toBe(201);
    expect((await call('POST', '/users/bulk-delete', { headers, body: '{"users":[]}' })).status).toBe(204);
  });

  it('who follows a link of another page', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect((await apiHarness().call('GET', '/whoami', { headers })).status).toBe(200);
  });

  it.each([
    ['localhost', true],
    ['LOCALHOST:15672', true],
    ['broker.localhost:15672', true],
    ['127.0.0.1:15672', true],
    ['127.1', true],
    ['[::1]:15672', true],
    ['192.0.2.7:15672', true],
    ['[2001:db8::1]', true],
    ['broker', false],
    ['broker:15672', false],
    ['', false],
    ['a b', false],
    ['localhost/x', false],
  ])('by the name %j: %s', (host, expected) => expect(isKnownHost(host, [])).toBe(expected));

  it('by names that are configured', () => {
    expect(isKnownHost('Broker:15672', ['broker'])).toBe(true);
    expect(isKnownHost('broker.example', ['broker'])).toBe(false);
    expect(isKnownHost('anything.example', ['*'])).toBe(true);
  });
});

describe('a password', () => {
  // It was answered with 429 before, right or wrong: strangers without any password could lock a user out.
  it('is looked at slowly after a handful of failures, and a right one gets in', async () => {
    const { clock, call } = apiHarness();
    const guess = async (as: string, peer = '127.0.0.1') => (await call('GET', '/whoami', { as, peer })).status;
    for (let failure = 0; failure < 5; failure++) expect(await guess('guest:wrong')).toBe(401);
    const late = call('GET', '/whoami', { as: 'guest:guest' });
    let isAnswered = false;
    void late.then(() => (isAnswered = true));
    await vi.waitFor(() => expect(clock.nextWakeUp()).toBe(clock.now() + 1_000), { timeout: 8_000 });
    expect(await guess('guest:guest', '::1')).toBe(200);
    clock.advance(999);
    await new Promise((resolve) => setImmediate(resolve));
    expect(isAnswered).toBe(false);
    clock.advance(1);
    expect((await late).status).toBe(200);
    expect(await guess('guest:guest')).toBe(200);
  });

  it('of the console opens no dialog of the browser: a 401 has no challenge', async () => {
    const { call } = apiHarness();
    const ask = async (as: string, name?: string) => {
      const { status, headers } = await call('GET', '/whoami', {
        as,
        headers: name === undefined ? {} : { 'x-requested-with': name },
      });
      return [status, headers.get('www-authenticate')];
    };
    for (const as of ['', 'guest:wrong', 'nobody:at all']) {
      expect(await ask(as, 'dlx-console')).toEqual([401, null]);
      for (const other of [undefined, 'XMLHttpRequest', '']) {
        expect(await ask(as, other)).toEqual([401, 'Basic realm="RabbitMQ Management"']);
      }
    }
    expect(await ask('guest:guest', 'dlx-console')).toEqual([200, null]);
  });

  it('of the console is looked at as slowly as any other, reported, and a right one gets in', async () => {
    const notices: string[] = [];
    const { clock, call } = apiHarness({ host: { notice: (text) => void notices.push(text) } });
    const headers = { 'x-requested-with': 'dlx-console' };
    for (let failure = 0; failure < 5; failure++) {
      expect((await call('GET', '/whoami', { as: 'guest:wrong', headers })).status).toBe(401);
    }
    expect(notices).toHaveLength(5);
    const late = call('GET', '/whoami', { headers });
    await vi.waitFor(() => expect(clock.nextWakeUp()).toBe(clock.now() + 1_000), { timeout: 8_000 });
    clock.advance(1_000);
    expect((await late).status).toBe(200);
  });

  it('set a moment late is right at once, whatever failed before', async () => {
    const { call } = apiHarness();
    for (let failure = 0; failure < 5; failure++) await call('GET', '/whoami', { as: 'late:x' });
    await call('PUT', '/users/late', { body: { password: 'x', tags: 'management' } });
    expect((await call('GET', '/whoami', { as: 'late:x' })).status).toBe(200);
  });

  it('that is wrong is reported to the operator, without the password itself', async () => {
    const lines: string[] = [];
    const { call } = apiHarness({ host: { notice: (text) => void lines.push(text) } });
    await call('GET', '/whoami', { as: 'ada:p4ssw0rd', peer: '192.0.2.7' });
    await call('GET', '/whoami', { as: 'guest:guest', peer: '192.0.2.7' });
    await call('GET', '/whoami', { as: '' });
    expect(lines).toEqual([
      'HTTP login refused: user "ada" at 192.0.2.7 - invalid credentials',
      'HTTP login refused: user "guest" at 192.0.2.7 - invalid credentials',
    ]);
  });

  it('of guest is none from elsewhere', async () => {
    const { call } = apiHarness();
    const { status, body } = await call('GET', '/whoami', { peer: '192.0.2.7' });
    expect(status).toBe(401);
    expect(body).toEqual({ error: 'not_authorised', reason: 'User can only log in via localhost' });
    expect((await call('GET', '/whoami', { peer: '192.0.2.7', as: 'guest:wrong' })).body).toMatchObject({
      reason: 'Login failed',
    });
    for (const peer of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
      expect((await call('GET', '/whoami', { peer })).status).toBe(200);
    }
  });

  it.each(['x-forwarded-for', 'forwarded'])('of guest is none through a proxy on this machine (%s)', async (name) => {
    const { call } = apiHarness();
    const { status, body } = await call('GET', '/whoami', { headers: { [name]: '192.0.2.7' } });
    expect([status, body]).toMatchObject([401, { reason: 'User can only log in via localhost' }]);
    await call('PUT', '/users/ada', { body: { password: 'x', tags: 'management' } });
    expect((await call('GET', '/whoami', { as: 'ada:x', headers: { [name]: '192.0.2.7' } })).status).toBe(200);
  });

  it('of guest is refused from a socket that is gone already', async () => {
    const { broker, api } = apiHarness();
    const headers = { authorization: `Basic ${btoa('guest:guest')}` };
    const request = new Request('http://localhost:15672/api/vhosts/a', { method: 'PUT', headers });
    const incoming = { url: '/api/vhosts/a', socket: { remoteAddress: undefined } };
    expect((await api.fetch(request, { incoming } as never)).status).toBe(401);
    expect([...broker.virtualHosts.keys()]).toEqual(['/']);
  });

  it('may hold colons and letters beyond ASCII', async () => {
    const { call } = apiHarness();
    await call('PUT', '/users/ada', { body: { password: 'a:b:ü€', tags: 'management' } });
    expect((await call('GET', '/whoami', { as: 'ada:a:b:ü€' })).status).toBe(200);
  });

  it('and its hash never come to the log, whatever goes wrong', async () => {
    const logged: unknown[] = [];
    const { broker, call } = apiHarness({ host: { log: (error) => void logged.push(error) } });
    broker.access.setUser = () => {
      throw new TypeError('the disk is full');
    };
    const { status, body } = await call('PUT', '/users/ada', { body: { password: 'p4ssw0rd', tags: '' } });
    expect([status, body]).toEqual([500, { error: 'internal_error', reason: 'Internal Server Error' }]);
    await call('PUT', '/users/ada', { body: '{"password":"p4ssw0rd","tags":""' });
    await call('PUT', '/users/ada', { body: { password_hash: 'p4ssw0rd!', tags: '' } });
    expect(logged).toHaveLength(1);
    expect(JSON.stringify(logged.map((error) => (error as Error).stack))).not.toContain('p4ssw0rd');
  });

  it.each([
    ['Basic !!!', 400],
    ['Basic', 401],
    ['Basic Zm9v', 400],
    ['Bearer Z3Vlc3Q6Z3Vlc3Q=', 401],
    ['basic Z3Vlc3Q6Z3Vlc3Q=', 200],
    ['Basic Z3Vlc3Q6Z3Vlc3Q', 200],
    [`Basic ${Buffer.from('__proto__:x').toString('base64')}`, 401],
    [`Basic ${Buffer.from(':').toString('base64')}`, 401],
  ])('in the header %j: %i', async (authorization, status) => {
    expect((await apiHarness().call('GET', '/whoami', { as: '', headers: { authorization } })).status).toBe(status);
  });
});

describe('a body', () => {
  it('is read as far as it may be long', async () => {
    const { call } = apiHarness({ bodyLimit: 100 });
    const value = 'x'.repeat(100);
    const { status, body } = await call('PUT', '/global-parameters/a', { body: { value } });
    expect(status).toBe(400);
    expect(body).toEqual({ error: 'bad_request', reason: 'Exceeded HTTP request body size limit' });
    expect((await call('PUT', '/global-parameters/a', { body: { value: 'x'.repeat(80) } })).status).toBe(201);
  });

  it('nested without end is refused before it is read', async () => {
    const { broker, call } = apiHarness();
    const deep = `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`;
    expect((await call('PUT', '/global-parameters/a', { body: `{"value":${deep}}` })).status).toBe(400);
    expect(
      (await call('POST', '/definitions', { body: `{"global_parameters":[{"name":"a","value":${deep}}]}` })).status,
    ).toBe(400);
    expect(broker.parameters.list()).toEqual([]);
    const text = JSON.stringify({ value: '[{"\\'.repeat(1_000) });
    expect((await call('PUT', '/global-parameters/a', { body: text })).status).toBe(201);
  });

  it('with keys of every object’s own is data like any other', async () => {
    const { broker, call } = apiHarness();
    const body = '{"value":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}';
    expect((await call('PUT', '/global-parameters/__proto__', { body })).status).toBe(201);
    expect((await call('PUT', '/users/__proto__', { body: '{"__proto__":{"tags":""}}' })).body).toMatchObject({
      reason: 'tags_not_present',
    });
    expect((await call('PUT', '/users/constructor', { body: { tags: '', password: 'x' } })).status).toBe(201);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(broker.access.users().map(({ name }) => name)).toEqual(['guest', 'constructor']);
    const { body: read } = await call('GET', '/global-parameters/__proto__');
    expect(Object.hasOwn((read as { value: object }).value, '__proto__')).toBe(true);
  });
});
