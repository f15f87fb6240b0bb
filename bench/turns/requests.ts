import type { Resource } from '../../libs/dlx-broker/src/server/http/resource.js';
import { definitions, type Size } from './scene.js';

/** One request, and the preparation of the broker. */
export interface Asked {
  readonly label: string;
  readonly method: string;
  /** Below `/api`. */
  readonly path: string;
  readonly body?: unknown;
  /** A preparation of the server. */
  readonly before?: string;
  /** Milliseconds to wait for the answer. A stream has no end. */
  readonly ends?: number;
  /** True: the redrive is measured to its end. */
  readonly isRedrive?: boolean;
}

type Details = Omit<Partial<Asked>, 'label' | 'method'> & { readonly query?: string };

/** The values for names in a path, of one route or of all routes. */
const names: Readonly<Record<string, string>> = {
  vhost: '%2F',
  name: 'q.000001',
  node: 'rabbit@localhost',
  source: 'x',
  kind: 'q',
  destination: 'q.000001',
  props: 'key.1',
  username: 'guest',
  user: 'user.000001',
  within: '1',
  unit: 'weeks',
  port: '1',
  protocol: 'amqp',
  component: 'vhost-limits',
  exchange: 'topics',
  id: '1',
  connection: '{connection}',
  channel: '{channel}',
};

const evil = 'use_regex=true&name=%28%28%5Ba-z0-9.%5D%29%2B.%29%2B%5BA-Z%5D%28%5Ba-z%5D%29%2B%24';
const rights = { configure: '.*', write: '(a+)+$', read: '.*' };
const policy = { pattern: '(([a-z0-9.])+.)+[A-Z]([a-z])+$', definition: { 'max-length': 5_000_000 } };
const pages = 'page=1&page_size=500';
const message = { routing_key: 'big', properties: {}, payload_encoding: 'string' };
const got = { ackmode: 'ack_requeue_true', encoding: 'auto' };

/** The other parts of a request. There are several where clients choose the size. */
const details = (size: Size): Readonly<Record<string, Details | readonly Details[]>> => ({
  'GET /queues': [
    '',
    `${pages}&${evil}`,
    `${pages}&sort=message_stats.publish_details.rate`,
    `${pages}&sort=arguments`,
    'columns=name',
    'disable_stats=true',
  ].map((query) => ({ query })),
  'GET /exchanges': ['', `${pages}&${evil}`].map((query) => ({ query })),
  'GET /bindings': ['', 'sort=arguments', 'columns=source'].map((query) => ({ query })),
  'GET /bindings/:vhost/e/:source/:kind/:destination': [
    {},
    { path: '/bindings/%2F/e/headers/q/caught' },
    { path: '/bindings/%2F/e/x/e/x' },
  ],
  'GET /bindings/:vhost/e/:source/:kind/:destination/:props': { path: '/bindings/%2F/e/headers/q/caught/~none' },
  'GET /queues/:vhost/:name/bindings': [{}, { path: '/queues/%2F/caught/bindings' }],
  'GET /exchanges/:vhost/:name/bindings/source': { path: '/exchanges/%2F/x/bindings/source' },
  'GET /exchanges/:vhost/:name': { path: '/exchanges/%2F/x' },
  'GET /channels': ['', `${pages}&${evil}`, `${pages}&sort=message_stats.publish_details.rate`].map((query) => ({
    query,
  })),
  'GET /consumers': ['', 'sort=queue.name'].map((query) => ({ query })),
  'GET /nodes/:node': ['', 'memory=true', 'data_rates_age=3600&data_rates_incr=1'].map((query) => ({ query })),
  'GET /overview': ['', 'lengths_age=3600&lengths_incr=5&msg_rates_age=3600&msg_rates_incr=5'].map((query) => ({
    query,
  })),
  'PUT /exchanges/:vhost/:name': { path: '/exchanges/%2F/new', body: {} },
  'DELETE /exchanges/:vhost/:name': { path: '/exchanges/%2F/heavy', before: 'heavy' },
  'POST /exchanges/:vhost/:name/publish': [
    { path: '/exchanges/%2F/amq.default/publish', body: { ...message, payload: 'x' } },
    { path: '/exchanges/%2F/amq.default/publish', body: { ...message, payload: 'x'.repeat(16_000_000) } },
    { path: '/exchanges/%2F/topics/publish', body: { ...message, payload: 'x', routing_key: 'a.'.repeat(120) } },
  ],
  'PUT /queues/:vhost/:name': { path: '/queues/%2F/new', body: {} },
  'DELETE /queues/:vhost/:name': { path: '/queues/%2F/heavy', before: 'heavy' },
  'DELETE /queues/:vhost/:name/contents': { path: '/queues/%2F/big/contents', before: 'refill' },
  'POST /queues/:vhost/:name/actions': { body: { action: 'sync' } },
  'POST /queues/:vhost/:name/get': [
    { path: '/queues/%2F/big/get', before: 'refill', body: { ...got, count: Math.min(500_000, size.messages) } },
    { path: '/queues/%2F/big/get', body: { ...got, count: 50_000, ackmode: 'reject_requeue_true' } },
    { path: '/queues/%2F/big/get', body: { ...got, count: 50_000, ackmode: 'ack_requeue_false' } },
    { path: '/queues/%2F/died/get', body: { ...got, count: 300 } },
  ],
  'POST /bindings/:vhost/e/:source/:kind/:destination': { body: { routing_key: 'more', arguments: { a: 1 } } },
  'DELETE /bindings/:vhost/e/:source/:kind/:destination/:props': {},
  'DELETE /connections/username/:username': { path: '/connections/username/crowd', before: 'crowd' },
  'PUT /vhosts/:vhost': { path: '/vhosts/new', body: {} },
  'DELETE /vhosts/:vhost': { path: '/vhosts/doomed', before: 'doomed' },
  'POST /users/bulk-delete': { body: { users: ['crowd'] }, before: 'crowd' },
  'PUT /users/:user': { path: '/users/new', body: { password: 'secret', tags: '' } },
  'DELETE /users/:user': { path: '/users/crowd', before: 'crowd' },
  'PUT /permissions/:vhost/:user': { body: rights },
  'PUT /topic-permissions/:vhost/:user': { body: { exchange: 'topics', write: '.*', read: '.*' } },
  'PUT /policies/:vhost/:name': [
    { path: '/policies/%2F/evil', body: policy },
    { path: '/policies/%2F/all', body: { ...policy, pattern: '.*' } },
    { path: '/policies/%2F/short', before: 'refill', body: { pattern: '^big$', definition: { 'max-length': 10 } } },
  ],
  'DELETE /policies/:vhost/:name': ['evil', 'all', 'short'].map((name) => ({ path: `/policies/%2F/${name}` })),
  'PUT /operator-policies/:vhost/:name': { path: '/operator-policies/%2F/evil', body: policy },
  'DELETE /operator-policies/:vhost/:name': { path: '/operator-policies/%2F/evil' },
  'PUT /parameters/:component/:vhost/:name': {
    path: '/parameters/vhost-limits/%2F/limits',
    body: { value: { 'max-queues': 100_000 } },
  },
  'DELETE /parameters/:component/:vhost/:name': { path: '/parameters/vhost-limits/%2F/limits' },
  'PUT /global-parameters/:name': { path: '/global-parameters/one', body: { value: 1 } },
  'PUT /cluster-name': { body: { name: 'one' } },
  'PUT /vhost-limits/:vhost/:name': { path: '/vhost-limits/%2F/max-queues', body: { value: 100_000 } },
  'DELETE /vhost-limits/:vhost/:name': { path: '/vhost-limits/%2F/max-queues' },
  'PUT /user-limits/:user/:name': { path: '/user-limits/user.000001/max-connections', body: { value: 100_000 } },
  'DELETE /user-limits/:user/:name': { path: '/user-limits/user.000001/max-connections' },
  // The answer is always 400, because there are no feature flags.
  'PUT /feature-flags/:name/enable': { body: {} },
  'GET /dlx/redrives/:id': { path: '/dlx/redrives/{redrive}' },
  'POST /dlx/redrives/:id/pause': { path: '/dlx/redrives/{redrive}/pause' },
  'POST /dlx/redrives/:id/resume': { path: '/dlx/redrives/{redrive}/resume' },
  'DELETE /dlx/redrives/:id': { path: '/dlx/redrives/{redrive}' },
  'DELETE /connections/:connection': { before: 'crowd' },
  'DELETE /topic-permissions/:vhost/:user/:exchange': { path: '/topic-permissions/%2F/user.000002/topics' },
  'PUT /topic-permissions/:vhost/:user/:exchange': {
    path: '/topic-permissions/%2F/user.000002/topics',
    body: { exchange: 'topics', write: '.*', read: '.*' },
  },
  'GET /global-parameters/:name': { path: '/global-parameters/one' },
  'DELETE /global-parameters/:name': { path: '/global-parameters/one' },
  'DELETE /dlx/queues/:vhost/:name/messages/:id': { path: '/dlx/queues/%2F/died/messages/2' },
  'POST /definitions': { body: definitions(size) },
  'POST /definitions/:vhost': {
    path: '/definitions/imported',
    body: definitions({ ...size, queues: 1_000, bindings: 3_000 }),
  },
  'GET /dlx/queues/:vhost/:name/messages': [
    { path: '/dlx/queues/%2F/died/messages', query: 'page_size=300' },
    { path: '/dlx/queues/%2F/big/messages', query: 'page_size=500&text=nowhere&scan=1000000' },
  ],
  'GET /dlx/queues/:vhost/:name/messages/:id': { path: '/dlx/queues/%2F/died/messages/1' },
  'DELETE /dlx/queues/:vhost/:name/messages': { path: '/dlx/queues/%2F/big/messages', query: 'header=none' },
  'GET /dlx/queues/:vhost/:name/groups': [
    { path: '/dlx/queues/%2F/big/groups', query: 'by=routing-key&scan=1000000' },
    { path: '/dlx/queues/%2F/died/groups', query: 'by=queue' },
  ],
  'GET /dlx/queues': [
    '',
    `${pages}&name=Q.0000&dead=true`,
    `${pages}&sort=dead_in_rate&sort_reverse=true`,
    `${pages}&sort=oldest`,
  ].map((query) => ({ query })),
  'GET /dlx/queues/:vhost/:name': [{}, { path: '/dlx/queues/%2F/caught' }],
  'GET /dlx/groups': [{}, { query: 'queue=big&queue=died&text=nowhere' }],
  'GET /dlx/queues/:vhost/:name/export': [
    { path: '/dlx/queues/%2F/died/export' },
    { path: '/dlx/queues/%2F/big/export', query: 'limit=100000' },
    { path: '/dlx/queues/%2F/big/export', query: 'header=none' },
  ],
  'POST /dlx/redrives': [
    { body: { vhost: '/', queue: 'big', to: { exchange: '', routing_key: 'q.000003' }, rate: 0 }, before: 'refill' },
    ...[false, true].map((keep_original) => ({
      body: {
        vhost: '/',
        queue: 'orders',
        filter: { exchange: '' },
        to: { exchange: '', routing_key: 'q.000003' },
        rate: 0,
        edit: { merge_patch: { currency: 'EUR', lines: null }, keep_original },
      },
      before: 'orders',
      isRedrive: true,
    })),
  ],
  'GET /dlx/events': { ends: 3_000 },
});

/** Every method of every route. Those that only read come first. */
export function requestsOf(resources: readonly Resource[], size: Size): readonly Asked[] {
  const known = details(size);
  const all: Asked[] = [];
  for (const method of ['GET', 'POST', 'PUT', 'DELETE'] as const) {
    for (const resource of resources) {
      if (resource[method] === undefined) continue;
      const route = `${method} ${resource.path}`;
      const path = resource.path.replaceAll(/:(\w+)/g, (_, name: string) => names[name] ?? 'nothing');
      for (const { query = '', ...more } of [known[route] ?? {}].flat() as readonly Details[]) {
        const asked = { method, path, ...more };
        const full = query === '' ? asked.path : `${asked.path}?${query}`;
        const shown = `${method} ${asked.path}${query === '' ? '' : `?${query.replace(evil, 'name=<evil>')}`}`;
        all.push({ ...asked, path: full, label: `${shown}${sizeOf(asked.body)}` });
      }
    }
  }
  return all;
}

function sizeOf(body: unknown): string {
  const length = body === undefined ? 0 : JSON.stringify(body).length;
  return length > 500_000 ? ` (${(length / 1e6).toFixed(1)} MB)` : bodyCount(body);
}

const bodyCount = (body: unknown): string => {
  const { count, ackmode, edit } = (body ?? {}) as {
    count?: number;
    ackmode?: string;
    edit?: { keep_original: boolean };
  };
  if (edit !== undefined) return ` with an edit${edit.keep_original ? ' that keeps the originals' : ''}`;
  return count === undefined ? '' : ` ${count} ${ackmode}`;
};
