import { checkVhost } from '../http/auth.js';
import type { Handler, Resource } from '../http/resource.js';
import { numberIn, onlyKnown } from './input.js';
import { seenVhosts } from './seen-vhosts.js';

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
  signal.addEventListener('abort', () => stream.close());
  if (signal.aborted) stream.close();
  return new Response(stream.body, { headers });
};

export const events: readonly Resource[] = [{ path: '/dlx/events', allows: 'management', GET: listen }];
