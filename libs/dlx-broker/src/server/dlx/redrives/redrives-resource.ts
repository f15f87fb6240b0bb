import { checkVhost, isOf } from '../../http/auth.js';
import { jsonObject, type JsonObject } from '../../http/body.js';
import { badRequest, clientGone, created, noContent, notAuthorised, notFound, ok, Problem } from '../../http/reply.js';
import type { ApiRequest, Handler, Resource } from '../../http/resource.js';
import type { Management } from '../../management.js';
import { filterToJson } from '../input.js';
import { readableQueue } from '../named.js';
import { groupToJson, redriveToJson, refusingOf } from './redrive-json.js';
import type { QueueRedrive } from './queue-redrive.js';
import { groupsOf, redriveIn, type RedriveOrder, sharedNames } from './redrive-order.js';
import { RedriveConflictError } from './redrives.js';

/** The most groups whose filters are in the audit log. */
const mostNoted = 20;

const start: Handler = async (request, management) => {
  const body = await request.body();
  if (body['groups'] === undefined) jsonObject(body, ['vhost', 'queue']);
  const order = orderIn(body, request, management);
  const { filter, ids, groups } = order;
  request.note({
    ...sharedNames(order),
    ...(groups === undefined
      ? { filter: filterToJson(filter), ids: ids?.length ?? null }
      : { groups: groups.slice(0, mostNoted).map(groupToJson), more_groups: Math.max(0, groups.length - mostNoted) }),
    to: order.to ?? null,
    rate: order.rate === Infinity ? 0 : order.rate,
    dry_run: order.dryRun,
  });
  if (order.dryRun) {
    const { redrives, turns } = management.dlx;
    const task = await redrives.dryRun(order, turns, request.signal);
    if (request.signal.aborted) throw clientGone();
    request.note({ would_move: task.counts.moved, would_leave: task.counts.left });
    return ok({ ...redriveToJson(task), may_refuse: refusingOf(task) });
  }
  const task = begin(order, management);
  request.note({ task: task.id });
  const { headers } = created({ location: `/api/dlx/redrives/${task.id}` });
  return { status: 201, body: redriveToJson(task), ...(headers && { headers }) };
};

function orderIn(body: JsonObject, request: ApiRequest, management: Management): RedriveOrder {
  const { user } = request;
  const order = redriveIn(body, user, (vhostName, name) => {
    checkVhost(management.broker, user, vhostName, 'DELETE');
    const queue = readableQueue({ ...request, names: { vhost: vhostName, name } }, management);
    return { vhost: management.vhost(vhostName), queue };
  });
  if (order.to !== undefined) {
    const { exchange } = order.to;
    for (const vhost of new Set(groupsOf(order).map((group) => group.vhost))) {
      vhost.check(user, 'write', 'exchange', exchange);
      if (!vhost.exchanges.has(exchange)) throw badRequest(`no exchange '${exchange}' in vhost '${vhost.name}'`);
    }
  }
  return order;
}

function begin(order: RedriveOrder, management: Management): QueueRedrive {
  try {
    return management.dlx.redrives.start(order);
  } catch (error) {
    throw error instanceof RedriveConflictError ? new Problem(409, 'conflict', error.message) : error;
  }
}

const list: Handler = ({ user }, management) => {
  const visible = management.vhostsOf(user);
  const tasks = management.dlx.redrives.list().filter((task) => task.isWithin(visible));
  return ok(tasks.map(redriveToJson));
};

const show: Handler = (request, management) => ok(redriveToJson(taskNamed(request, management)));

/** Cancels a redrive. Messages that it has moved stay moved. */
const cancel: Handler = (request, management) => {
  const task = ownTask(request, management);
  if (!task.cancel(`cancelled by ${request.user.name}`)) throw isNot(task, 'cancelled');
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
  if (task === undefined || !task.isWithin(management.vhostsOf(user))) throw notFound();
  return task;
}

/** A redrive has the rights of the user who started it. Only this user and administrators control it. */
function ownTask(request: ApiRequest, management: Management): QueueRedrive {
  const task = taskNamed(request, management);
  request.note({ ...sharedNames(task.order), ...(task.groups.length > 1 && { groups: task.groups.length }) });
  if (task.order.by === request.user.name || isOf('administrator', request.user)) return task;
  throw notAuthorised(`redrive '${task.id}' was started by another user`);
}

/** An answer has up to a thousand destinations, so that those to changes wait for memory, too. */
const common = { allows: 'management' } as const;

export const redrives: readonly Resource[] = [
  { path: '/dlx/redrives', ...common, GET: list, POST: start },
  { path: '/dlx/redrives/:id', ...common, GET: show, DELETE: cancel },
  { path: '/dlx/redrives/:id/pause', ...common, POST: pause },
  { path: '/dlx/redrives/:id/resume', ...common, POST: resume },
];
