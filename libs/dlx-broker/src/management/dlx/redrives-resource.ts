import { checkVhost, isOf } from '../http/auth.js';
import type { Management } from '../management.js';
import { RedriveConflictError } from './redrives/redrives.js';
import type { RedriveOrder } from './redrives/redrive-order.js';
import type { QueueRedrive } from './redrives/queue-redrive.js';
import { badRequest, clientGone, created, noContent, notAuthorised, notFound, ok, Problem } from '../http/reply.js';
import type { ApiRequest, Handler, Resource } from '../http/resource.js';
import { filterToJson } from './input.js';
import { readableQueue } from './readable-queue.js';
import { redriveIn } from './redrive-input.js';
import { redriveToJson } from './redrive-json.js';

const start: Handler = async (request, management) => {
  const body = await request.body('vhost', 'queue');
  const order = orderIn(body, request, management);
  request.note({
    vhost: order.vhost.name,
    queue: order.queue.name,
    filter: filterToJson(order.filter),
    ids: order.ids?.length ?? null,
    to: order.to ?? null,
    rate: order.rate === Infinity ? 0 : order.rate,
    dry_run: order.dryRun,
  });
  if (order.dryRun) {
    const { redrives, searches, turns } = management.dlx;
    const task = await searches.run(request.user.name, () => redrives.dryRun(order, turns, request.signal));
    if (request.signal.aborted) throw clientGone();
    request.note({ would_move: task.counts.moved, would_leave: task.counts.left });
    return ok(redriveToJson(task));
  }
  const task = begin(order, management);
  request.note({ task: task.id });
  const { headers } = created({ location: `/api/dlx/redrives/${task.id}` });
  return { status: 201, body: redriveToJson(task), ...(headers && { headers }) };
};

function orderIn(body: Readonly<Record<string, unknown>>, request: ApiRequest, management: Management): RedriveOrder {
  const { vhost: vhostName, queue: name } = body;
  if (typeof vhostName !== 'string' || typeof name !== 'string')
    throw badRequest("'vhost' and 'queue' should be texts");
  checkVhost(management.broker, request.user, vhostName, 'DELETE');
  const vhost = management.vhost(vhostName);
  const queue = readableQueue({ ...request, names: { vhost: vhostName, name } }, management);
  const order = redriveIn(body, { vhost, queue, user: request.user });
  if (order.to !== undefined) {
    const { exchange } = order.to;
    vhost.check(request.user, 'write', 'exchange', exchange);
    if (!vhost.exchanges.has(exchange)) throw badRequest(`no exchange '${exchange}' in vhost '${vhostName}'`);
  }
  return order;
}

function begin(order: RedriveOrder, management: Management): QueueRedrive {
  try {
    return management.dlx.redrives.start(order);
  } catch (error) {
    if (error instanceof RedriveConflictError) throw new Problem(409, 'conflict', error.message);
    throw error;
  }
}

const list: Handler = ({ user }, management) => {
  const visible = management.vhostsOf(user);
  const tasks = management.dlx.redrives.list().filter(({ order }) => visible.includes(order.vhost));
  return ok(tasks.map(redriveToJson));
};

const show: Handler = (request, management) => ok(redriveToJson(taskNamed(request, management)));

/** Stops a redrive. Messages that it has moved stay moved. */
const stop: Handler = (request, management) => {
  const task = ownTask(request, management);
  if (!task.stop(`stopped by ${request.user.name}`)) throw isNot(task, 'stopped');
  return noContent;
};

const pause: Handler = (request, management) => {
  const task = ownTask(request, management);
  if (!task.pause()) throw isNot(task, 'paused');
  return ok(redriveToJson(task));
};

const resume: Handler = (request, management) => {
  const task = ownTask(request, management);
  if (!task.resume()) throw isNot(task, 'resumed');
  return ok(redriveToJson(task));
};

const isNot = ({ id, state }: QueueRedrive, done: string): Problem =>
  new Problem(409, 'conflict', `redrive '${id}' is ${state} and cannot be ${done}`);

/**
 * The redrive that the path names.
 * @throws Problem 404, also if its virtual host is closed to the user
 */
function taskNamed({ names, user }: ApiRequest, management: Management): QueueRedrive {
  const task = management.dlx.redrives.get(names['id'] ?? '');
  if (task === undefined || !management.vhostsOf(user).includes(task.order.vhost)) throw notFound();
  return task;
}

/** A redrive has the rights of the user who started it. Only this user and administrators control it. */
function ownTask(request: ApiRequest, management: Management): QueueRedrive {
  const task = taskNamed(request, management);
  request.note({ vhost: task.order.vhost.name, queue: task.order.queue.name });
  if (task.order.by === request.user.name || isOf('administrator', request.user)) return task;
  throw notAuthorised(`redrive '${task.id}' was started by another user`);
}

export const redrives: readonly Resource[] = [
  { path: '/dlx/redrives', allows: 'management', GET: list, POST: start },
  { path: '/dlx/redrives/:id', allows: 'management', GET: show, DELETE: stop },
  { path: '/dlx/redrives/:id/pause', allows: 'management', POST: pause },
  { path: '/dlx/redrives/:id/resume', allows: 'management', POST: resume },
];
