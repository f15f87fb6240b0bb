import type { Broker, User } from '../../engine/broker/index.js';
import { textIn } from '../http/body.js';
import { isOf, mayRead, visibleVhosts } from '../http/auth.js';
import { badRequest, noContent, notFound, ok } from '../http/reply.js';
import type { ApiRequest, Handler, Resource } from '../http/resource.js';
import type { Management } from '../management.js';
import type { HandlerStatus, ManagedHandlers } from '../host.js';
import { onlyKnown } from './input.js';

/** The longest reason of a pause, in characters. */
const longestReason = 500;

/**
 * The handlers of the application in this process, of virtual hosts that the user may see. Without an application there are none. The
 * reason of an open circuit is the text of an error, so that only users with the right to read from the queue see it.
 */
const list: Handler = ({ query, user }, { broker, host }) => {
  onlyKnown(query.keys(), [], 'parameter');
  const visible = new Set(visibleVhosts(broker, user));
  const all = [...(host.handlers ?? [])].flatMap((handlers) =>
    visible.has(handlers.vhost) ? handlers.list().map((each) => ({ ...each, vhost: handlers.vhost })) : [],
  );
  // A pause is one of all handlers of a name.
  const refused = new Set(all.filter((each) => !mayConfigure(broker, user, each)).map(({ handler }) => handler));
  return ok({
    items: all.map((each) => ({
      ...toJson(each, mayRead(broker, user, each.vhost, each.queue)),
      may_pause: !refused.has(each.handler),
    })),
  });
};

/** Pauses a handler in this process, until it is resumed or the process ends. */
const pause: Handler = async (request, management) => {
  onlyKnown(request.query.keys(), [], 'parameter');
  mayPause(request, management); // before the body is read
  const body = await request.body();
  onlyKnown(Object.keys(body), ['reason'], 'key');
  const reason = textIn(body, 'reason');
  if (reason !== undefined && reason.length > longestReason) {
    throw badRequest(`reason has ${reason.length} characters; ${longestReason} is the most`);
  }
  request.note({ ...(reason !== undefined && { reason }) });
  for (const [handlers, { handler }] of mayPause(request, management)) handlers.pause(handler, reason);
  return noContent;
};

/** Ends the pause of a handler. A handler that is not paused stays as it is. */
const resume: Handler = (request, management) => {
  onlyKnown(request.query.keys(), [], 'parameter');
  const found = mayPause(request, management);
  request.note({ was_paused: found.some(([, { state }]) => state === 'paused') });
  for (const [handlers, { handler }] of found) handlers.resume(handler);
  return noContent;
};

/**
 * The handlers that a request names: several if brokers of the application have the same. The user is an administrator, or has the right
 * to configure the queue of each.
 * @throws Problem 404
 * @throws AmqpError 403 without the right
 */
function mayPause(
  { names, user }: ApiRequest,
  management: Management,
): readonly (readonly [ManagedHandlers, HandlerStatus])[] {
  const visible = new Set(visibleVhosts(management.broker, user));
  const found: (readonly [ManagedHandlers, HandlerStatus])[] = [];
  for (const handlers of management.host.handlers ?? []) {
    if (!visible.has(handlers.vhost)) continue;
    for (const each of handlers.list()) if (each.handler === names['name']) found.push([handlers, each]);
  }
  if (found.length === 0) throw notFound();
  if (isOf('administrator', user)) return found;
  for (const [{ vhost }, { queue }] of found) management.vhost(vhost).check(user, 'configure', 'queue', queue);
  return found;
}

interface ListedHandler extends HandlerStatus {
  readonly vhost: string;
}

/** True if the user may pause the handlers of a queue. */
const mayConfigure = (broker: Broker, user: User, { vhost, queue }: ListedHandler): boolean =>
  isOf('administrator', user) || broker.access.may(user.name, vhost, 'configure', 'queue', queue);

const toJson = (
  { handler, vhost, queue, state, circuit, reason, since, nextProbe }: ListedHandler,
  seesReason: boolean,
): object => ({
  handler,
  vhost,
  queue,
  state,
  circuit: circuit ?? null,
  reason: (seesReason ? reason : undefined) ?? null,
  since: since?.getTime() ?? null,
  next_probe: nextProbe?.getTime() ?? null,
});

export const handlers: readonly Resource[] = [
  { path: '/dlx/handlers', allows: 'management', GET: list },
  { path: '/dlx/handlers/:name/pause', allows: 'management', PUT: pause, DELETE: resume },
];
