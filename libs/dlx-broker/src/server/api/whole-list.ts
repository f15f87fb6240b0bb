import { list, type Row } from './listing.js';
import type { Management } from '../management.js';
import type { Answer } from '../http/reply.js';
import type { ApiRequest } from '../http/resource.js';

/** A list that RabbitMQ never cuts into pages. */
export function wholeList(
  request: ApiRequest,
  management: Management,
  rows: readonly Row[],
  sortedBy: readonly string[] = ['vhost', 'name'],
): Answer {
  return list(withoutPages(request), management, rows, sortedBy);
}

/** A request whose list is not cut into pages. */
export function withoutPages(request: ApiRequest): ApiRequest {
  const query = new URLSearchParams(request.query);
  query.delete('page');
  return { ...request, query };
}
