import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentOutbox } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { type HttpListener, listenHttp } from '../../libs/dlx-broker/src/server/http/http-listener.js';
import type { ManagedHandlers } from '../../libs/dlx-broker/src/server/host.js';
import { resources } from '../../libs/dlx-broker/src/server/api/resources.js';
import { apiHarness, type ApiHarness } from '../harnesses/api-harness.js';

interface Row {
  /** As the registry has it. */
  readonly route: string;
  readonly path: string;
  readonly body: object;
  readonly status: number;
  /** What the request has changed, to be looked at behind it. */
  readonly changed?: (harness: ApiHarness) => unknown;
  readonly to?: unknown;
  /** Part of the answer. */
  readonly answer?: RegExp;
}

const rights = { configure: '.*', write: '.*', read: '.*' };
const topicRights = { exchange: 'amq.topic', write: '.*', read: '.*' };
const policy = { pattern: '^new', definition: { 'max-length': 7 } };
const root = ({ broker }: ApiHarness) => broker.virtualHost('/');
const newUser = ({ broker }: ApiHarness) => broker.access.user('new')?.tags;

/** An application with one handler. */
function application(): ManagedHandlers {
  let reason: string | undefined;
  return {
    vhost: '/',
    list: () => [
      { handler: 'Payments.pay', queue: 'payments', state: 'running', ...(reason !== undefined && { reason }) },
    ],
    pause: (_, why) => void (reason = why),
    resume: () => void (reason = undefined),
  };
}

/** Every route that takes a body, in an order in which each finds what it needs. */
const rows: readonly Row[] = [
  {
    route: 'PUT /vhosts/:vhost',
    path: '/vhosts/new',
    body: { description: 'd', tags: 'a' },
    status: 201,
    changed: ({ broker }) => broker.virtualHost('new').metadata,
    to: { description: 'd', tags: ['a'] },
  },
  {
    route: 'PUT /users/:user',
    path: '/users/new',
    body: { password: 'secret', tags: 'monitoring' },
    status: 201,
    changed: newUser,
    to: ['monitoring'],
  },
  { route: 'PUT /user-limits/:user/:name', path: '/user-limits/new/max-channels', body: { value: 9 }, status: 204 },
  { route: 'PUT /permissions/:vhost/:user', path: '/permissions/%2F/new', body: rights, status: 201 },
  { route: 'PUT /topic-permissions/:vhost/:user', path: '/topic-permissions/%2F/new', body: topicRights, status: 201 },
  {
    route: 'PUT /topic-permissions/:vhost/:user/:exchange',
    path: '/topic-permissions/%2F/new/amq.topic',
    body: topicRights,
    status: 204,
  },
  {
    route: 'PUT /exchanges/:vhost/:name',
    path: '/exchanges/%2F/new',
    body: { type: 'topic', durable: true },
    status: 201,
    changed: (harness) => root(harness).exchanges.get('new')?.declared.type,
    to: 'topic',
  },
  {
    route: 'PUT /queues/:vhost/:name',
    path: '/queues/%2F/new',
    body: { durable: true, arguments: { 'x-max-length': 3 } },
    status: 201,
    changed: (harness) => root(harness).queues.get('new')?.settings.maxLength,
    to: 3,
  },
  {
    route: 'POST /bindings/:vhost/e/:source/:kind/:destination',
    path: '/bindings/%2F/e/new/q/new',
    body: { routing_key: 'a.b', arguments: {} },
    status: 201,
    changed: (harness) => root(harness).exchanges.get('new')?.bindingCount,
    to: 1,
  },
  {
    route: 'POST /exchanges/:vhost/:name/publish',
    path: '/exchanges/%2F/new/publish',
    body: { routing_key: 'a.b', properties: {}, payload: 'some text', payload_encoding: 'string' },
    status: 200,
    answer: /"routed":true/,
    changed: (harness) => root(harness).queues.get('new')?.length,
    to: 1,
  },
  {
    route: 'PUT /dlx/queues/:vhost/:name/pause',
    path: '/dlx/queues/%2F/new/pause',
    body: { reason: 'some text', for: '1h' },
    status: 204,
    changed: (harness) => root(harness).queues.get('new')?.pausing.state?.reason,
    to: 'some text',
  },
  {
    route: 'PUT /dlx/handlers/:name/pause',
    path: '/dlx/handlers/Payments.pay/pause',
    body: { reason: 'some text' },
    status: 204,
    changed: ({ host }) => [...(host.handlers ?? [])][0]?.list()[0]?.reason,
    to: 'some text',
  },
  {
    route: 'POST /dlx/queues/:vhost/:name/messages/:id/edit',
    path: '/dlx/queues/%2F/new/messages/1/edit',
    body: { headers: { a: 'b' }, to: { exchange: '', routing_key: 'new' } },
    status: 200,
    answer: /"moved":true/,
    changed: (harness) => root(harness).queues.get('new')?.length,
    to: 1,
  },
  {
    route: 'POST /queues/:vhost/:name/get',
    path: '/queues/%2F/new/get',
    body: { count: 5, ackmode: 'ack_requeue_false', encoding: 'auto' },
    status: 200,
    answer: /^\[\{.*"payload":"some text".*\}\]$/,
    changed: (harness) => root(harness).queues.get('new')?.length,
    to: 0,
  },
  {
    route: 'POST /queues/:vhost/:name/actions',
    path: '/queues/%2F/new/actions',
    body: { action: 'sync' },
    status: 204,
  },
  {
    route: 'POST /dlx/redrives',
    path: '/dlx/redrives',
    body: { vhost: '/', queue: 'new', to: { exchange: '', routing_key: 'new' } },
    status: 201,
    answer: /"id":"/,
  },
  {
    route: 'PUT /policies/:vhost/:name',
    path: '/policies/%2F/new',
    body: policy,
    status: 201,
    changed: (harness) => root(harness).queues.get('new')?.inForce?.policy?.name,
    to: 'new',
  },
  {
    route: 'PUT /operator-policies/:vhost/:name',
    path: '/operator-policies/%2F/new',
    body: policy,
    status: 201,
    changed: (harness) => root(harness).queues.get('new')?.inForce?.operatorPolicy?.name,
    to: 'new',
  },
  {
    route: 'PUT /parameters/:component/:vhost/:name',
    path: '/parameters/vhost-limits/new/limits',
    body: { value: { 'max-queues': 8 } },
    status: 201,
    changed: ({ broker }) => broker.virtualHost('new').limits.get('max-queues'),
    to: 8,
  },
  {
    route: 'PUT /vhost-limits/:vhost/:name',
    path: '/vhost-limits/new/max-connections',
    body: { value: 80 },
    status: 204,
    changed: ({ broker }) => broker.virtualHost('new').limits.get('max-connections'),
    to: 80,
  },
  {
    route: 'PUT /global-parameters/:name',
    path: '/global-parameters/new',
    body: { value: { a: 1 } },
    status: 201,
    changed: ({ broker }) => broker.parameters.get('new'),
    to: { a: 1 },
  },
  {
    route: 'PUT /cluster-name',
    path: '/cluster-name',
    body: { name: 'new' },
    status: 204,
    changed: ({ broker }) => broker.parameters.get('cluster_name'),
    to: 'new',
  },
  {
    route: 'POST /definitions',
    path: '/definitions',
    body: { queues: [{ name: 'imported', vhost: 'new', durable: true, auto_delete: false, arguments: {} }] },
    status: 204,
    changed: ({ broker }) => broker.virtualHost('new').queues.has('imported'),
    to: true,
  },
  {
    route: 'POST /definitions/:vhost',
    path: '/definitions/new',
    body: { queues: [{ name: 'too', durable: true, auto_delete: false, arguments: {} }] },
    status: 204,
    changed: ({ broker }) => broker.virtualHost('new').queues.has('too'),
    to: true,
  },
  {
    route: 'POST /users/bulk-delete',
    path: '/users/bulk-delete',
    body: { users: ['new'] },
    status: 204,
    changed: newUser,
    to: undefined,
  },
];

/** These requests change something and need no body, or a form in place of JSON. */
const bodiless = [
  'POST /login',
  'PUT /feature-flags/:name/enable',
  'POST /rebalance/queues',
  'POST /vhosts/:vhost/start/:node',
  'POST /dlx/redrives/:id/pause',
  'POST /dlx/redrives/:id/resume',
];

it('every route that takes a body is in the table', () => {
  const all = resources.flatMap((resource) =>
    (['POST', 'PUT'] as const).filter((method) => resource[method]).map((method) => `${method} ${resource.path}`),
  );
  expect([...rows.map(({ route }) => route), ...bodiless].sort()).toEqual(all.sort());
});

const authorization = `Basic ${Buffer.from('guest:guest').toString('base64')}`;

/** As a client sends it that knows all of it, or letter by letter without a length. */
const ways: Readonly<Record<string, (json: string) => RequestInit>> = {
  'with a length': (body) => ({ body }),
  'in pieces': (json) => {
    const pieces = json.match(/[^]{1,20}/g) ?? [];
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      const piece = pieces.shift();
      await new Promise((resolve) => setImmediate(resolve));
      if (piece === undefined) controller.close();
      else controller.enqueue(Buffer.from(piece));
    };
    return { body: new ReadableStream({ pull }), duplex: 'half' } as RequestInit;
  },
};

async function open(bodyLimit: number) {
  const harness = apiHarness({ host: { handlers: [application()] } });
  const listener: HttpListener = await listenHttp(harness.host, { port: 0, bodyLimit, edits: true });
  const ask = async ({ route, path }: Row, init: RequestInit): Promise<readonly [number, string]> => {
    const response = await fetch(`http://127.0.0.1:${listener.port}/api${path}`, {
      method: route.split(' ')[0] ?? '',
      headers: { authorization, 'content-type': 'application/json' },
      ...init,
    });
    return [response.status, await response.text()];
  };
  return { harness, listener, ask };
}

type Opened = Awaited<ReturnType<typeof open>>;

describe.each(Object.entries(ways))('a body that is sent over a socket %s', (_name, sent) => {
  let opened: Opened;
  beforeAll(async () => void (opened = await open(20_000_000)));
  afterAll(() => opened.listener.close());

  it.each(rows)('is understood by $route', async (row) => {
    const [status, text] = await opened.ask(row, sent(JSON.stringify(row.body)));
    expect([status, text]).toEqual([row.status, row.answer === undefined ? '' : expect.stringMatching(row.answer)]);
    if (row.changed !== undefined) expect(row.changed(opened.harness)).toEqual(row.to);
  });
});

describe.each(Object.entries(ways))('a body that is longer than it may be, sent %s', (_name, sent) => {
  let opened: Opened;
  beforeAll(async () => {
    opened = await open(1_000);
    const { broker } = opened.harness;
    broker.addVirtualHost('new');
    broker.access.setUser('new', { tags: [], passwordHash: undefined });
    const channel = broker.connect().openChannel(silentOutbox);
    channel.declareExchange('new', { type: 'topic' });
    channel.declareQueue('new');
    channel.publish('', 'new', {}, Buffer.from('stays'));
  });
  afterAll(() => opened.listener.close());

  it.each(rows)('is refused by $route, and nothing has changed', async (row) => {
    const state = async () => {
      const all = await opened.harness.call('GET', '/definitions');
      return [all.body, root(opened.harness).queues.get('new')?.length];
    };
    const before = await state();
    const [status, text] = await opened.ask(row, sent(JSON.stringify(row.body) + ' '.repeat(1_000)));
    expect([status, text]).toEqual([400, expect.stringContaining('Exceeded HTTP request body size limit')]);
    expect(await state()).toEqual(before);
  });
});
