import type { AuditEntry, AuditLog } from '../audit/audit-log.js';
import { type Answer, ok } from '../http/reply.js';
import type { Resource } from '../http/resource.js';
import { numberIn, onlyKnown } from './input.js';

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

export const audit: readonly Resource[] = [
  { path: '/dlx/audit', allows: 'monitor', GET: ({ query }, { dlx }) => auditPage(query, dlx.audit) },
];
