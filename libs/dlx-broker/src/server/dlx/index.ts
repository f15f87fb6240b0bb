import { product } from '../../engine/broker/index.js';
import type { AuditEntry, AuditLog } from '../audit/audit-log.js';
import { checkVhost, isOf } from '../http/auth.js';
import { type Answer, notFound, ok } from '../http/reply.js';
import type { Handler, Resource } from '../http/resource.js';
import { untilAborted } from '../http/turns.js';
import { edits } from './edit-resource.js';
import { exportResources } from './export-resource.js';
import { topology } from './graph/topology.js';
import { allGroups, groups } from './groups.js';
import { handlers } from './handlers-resource.js';
import { numberIn, onlyKnown } from './input.js';
import { messages } from './messages.js';
import { overview } from './overview/overview-resource.js';
import { pauses } from './pause.js';
import { queues } from './queues/queues-resource.js';
import { redrives } from './redrives/redrives-resource.js';
import { seenVhosts } from './named.js';

/**
 * The entries of the audit log, newest first.
 * @throws Problem 400
 */
function auditPage(query: URLSearchParams, audit: AuditLog): Answer {
  onlyKnown(query.keys(), ['page_size', 'cursor', 'user', 'vhost', 'action'], 'parameter');
  const limit = numberIn(query, 'page_size', 100, 1, 500);
  const before = numberIn(query, 'cursor', Number.MAX_SAFE_INTEGER, 1, Number.MAX_SAFE_INTEGER);
  const [user, vhost, action] = ['user', 'vhost', 'action'].map((name) => query.get(name));
  const isWanted = (entry: AuditEntry): boolean =>
    (user === null || entry.user === user) &&
    (vhost === null || (entry.names['vhost'] ?? entry.details?.['vhost']) === vhost) &&
    (action === null || entry.action.includes(action ?? ''));
  const page = audit.page(limit + 1, before, isWanted);
  const items = page.slice(0, limit);
  return ok({ items, cursor: page.length > limit ? String(items.at(-1)?.number) : null });
}

const audits: readonly Resource[] = [
  { path: '/dlx/audit', allows: 'monitor', GET: ({ query }, { dlx }) => auditPage(query, dlx.audit) },
];

/** What the console can do for a user. */
const capabilities: readonly Resource[] = [
  {
    path: '/dlx/capabilities',
    allows: 'management',
    GET: ({ user }, { edits }) =>
      ok({ product: product.name, version: product.version, edits: edits && isOf('editor', user) }),
  },
];

/**
 * Drops the messages with a message id that a delayed exchange has not released. The user needs the right to write to
 * the exchange.
 */
const cancel: Handler = (request, management) => {
  onlyKnown(request.query.keys(), [], 'parameter');
  const { names, user } = request;
  const [name = '', id = ''] = [names['name'], names['id']];
  const vhost = management.vhost(names['vhost'] ?? '');
  if (!vhost.exchanges.has(name)) throw notFound();
  vhost.check(user, 'write', 'exchange', name);
  const cancelled = vhost.cancelDelayed(name, id);
  request.note({ cancelled });
  return ok({ exchange: name, message_id: id, cancelled });
};

const delayed: readonly Resource[] = [
  { path: '/dlx/exchanges/:vhost/:name/delayed/:id', allows: 'management', DELETE: cancel },
];

/** Live counters as Server-Sent Events: `state` with everything, then `change` with what changed. */
const listen: Handler = async (request, management) => {
  const { method, query, user, signal } = request;
  const { broker, dlx } = management;
  onlyKnown(query.keys(), ['interval', 'vhost', 'queue'], 'parameter');
  const interval = numberIn(query, 'interval', 1_000, 100, 60_000);
  const vhost = query.get('vhost');
  if (vhost !== null) checkVhost(broker, user, vhost, 'GET');
  const queues = query.getAll('queue');
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' };
  if (method === 'HEAD') return new Response(null, { headers });
  // The first event has the ages of dead-letter queues, and the graphs say which these are.
  for (const each of seenVhosts(request, management)) await dlx.graphs.of(each);
  const stream = dlx.streams.open(user, interval, {
    ...(vhost !== null && { vhost }),
    ...(queues.length > 0 && { queues: new Set(queues) }),
  });
  return untilAborted(stream, signal, headers);
};

const events: readonly Resource[] = [{ path: '/dlx/events', allows: 'management', GET: listen }];

/** The resources under `/api/dlx/`, which RabbitMQ does not have. */
export const dlx: readonly Resource[] = [
  ...capabilities,
  ...delayed,
  ...overview,
  ...queues,
  ...pauses,
  ...handlers,
  ...messages,
  ...edits,
  ...exportResources,
  ...groups,
  ...allGroups,
  ...topology,
  ...redrives,
  ...audits,
  ...events,
];
