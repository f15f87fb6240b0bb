import { dlx } from '../dlx/index.js';
import { badRequest, ok } from '../http/reply.js';
import type { Resource } from '../http/resource.js';
import { bindings } from './resources/bindings.js';
import { channels, connections } from './resources/connections.js';
import { definitions } from './resources/definitions.js';
import { exchanges, queues } from './resources/objects.js';
import { health } from './resources/health.js';
import { publishing, queueGet } from './resources/messages.js';
import { nodes, overview } from './resources/nodes.js';
import { globalParameters, parameters } from './resources/parameters.js';
import { policies } from './resources/policies.js';
import { permissions, topicPermissions, users } from './resources/users.js';
import { userLimits, vhostLimits, vhosts } from './resources/vhosts.js';

const whoami: readonly Resource[] = [
  { path: '/whoami', allows: 'management', GET: ({ user }) => ok({ name: user.name, tags: user.tags }) },
  {
    path: '/login',
    allows: 'management',
    accepts: ['application/x-www-form-urlencoded'],
    hasLoginForm: true,
    POST: () => ok('ok'),
  },
];

/** This broker has neither plugins nor feature flags: the lists are empty, and enabling a flag is refused. */
const plugins: readonly Resource[] = [
  { path: '/extensions', allows: 'management', GET: () => ok([]) },
  { path: '/feature-flags', allows: 'administrator', GET: () => ok([]) },
  {
    path: '/feature-flags/:name/enable',
    allows: 'administrator',
    accepts: ['application/json'],
    PUT: () => {
      throw badRequest('unsupported');
    },
  },
];

/*
 * How to add a resource. A file in resources/ exports a list of rows, `readonly Resource[]`, and gets one line below.
 *
 *   export const things: readonly Resource[] = [
 *     { path: '/things', allows: 'management', GET: (request, management) => list(request, management, rows) },
 *     { path: '/things/:vhost/:name', allows: 'management', GET: get, PUT: put, DELETE: remove },
 *   ];
 *
 * A row is one path below `/api` and a handler for each method; 405, OPTIONS, HEAD, trailing slashes, decoding of names,
 * login, tags (`allows`), existence of `:vhost` and its being open to the user are done before a handler is called. A
 * handler gets the request (`names`, `query`, `user`, `body()`) and the management (`broker`, `vhost(name)`,
 * `vhostsOf(user)`, `as(user, vhost, (channel) => ...)`, `host`, `now()`) and answers with data: `ok(...)`, `one(...)`,
 * `list(...)`, `put('created')`, `noContent`, or a Response to stream. It throws `notFound()`, `badRequest(reason)`, a
 * Problem of its own, or lets the engine's AmqpError through (reply.ts makes HTTP of it).
 *
 * Test it without a port, in virtual time: `apiHarness().call('PUT', '/things/%2F/a', { body })` of test/harnesses/api-harness.ts.
 */
export const resources: readonly Resource[] = [
  ...overview,
  ...nodes,
  ...exchanges,
  ...publishing,
  ...queues,
  ...queueGet,
  ...bindings,
  ...connections,
  ...channels,
  ...health,
  ...whoami,
  ...vhosts,
  ...users,
  ...userLimits,
  ...permissions,
  ...topicPermissions,
  ...policies,
  ...parameters,
  ...globalParameters,
  ...vhostLimits,
  ...definitions,
  ...plugins,
  ...dlx,
];
