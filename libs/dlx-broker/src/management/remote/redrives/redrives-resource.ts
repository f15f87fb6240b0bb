import type { JsonObject } from '../../http/json-object.js';
import { badRequest, noContent, notAuthorised, notFound, ok, Problem } from '../../http/reply.js';
import { isOf } from '../../http/auth.js';
import { paceIn } from '../../dlx/redrive-input.js';
import { addressIn } from '../../dlx/input.js';
import { shownText, withoutPasswords } from '../../../host/index.js';
import { getJson } from '../get-json.js';
import { numberAt } from '../live-queue.js';
import type { RawRow } from '../lists.js';
import { placeOf } from '../mirror.js';
import type { Remote } from '../remote.js';
import type { RemoteHandler, RemoteRequest, RemoteResource } from '../resource.js';
import type { Password, RemoteOrder } from './remote-redrive.js';
import { conflict, type RemoteTask } from './remote-redrives.js';

/** Keys of a redrive that RabbitMQ cannot do, because it shows no messages before they are taken. */
const needLook = ['filter', 'ids', 'groups', 'keep_history', 'edit'];
const keys = ['vhost', 'queue', 'to', 'rate', 'limit', 'circuit', 'dry_run'];

/** What is known before a redrive: the present length of its queue, and the limit of deliveries in it. */
interface QueueState {
  readonly ready: number;
  readonly deliveryLimit: number | undefined;
}

const start: RemoteHandler = async (request, remote) => {
  const body = await request.body('vhost', 'queue');
  const { order, isDry, state } = await orderIn(body, request, remote);
  const { vhost, queue, to, limit, rate } = order;
  request.note({ vhost, queue, to: to ?? null, limit, rate: rate === Infinity ? 0 : rate, dry_run: isDry });
  if (isDry) return ok(planOf(order, state));
  if (state.ready === 0) throw conflict(`queue '${shownText(queue, 255)}' has no message to redrive`);
  const task = remote.redrives.begin(order);
  request.note({ task: task.id });
  return { status: 201, body: taskToJson(task), headers: { location: `/api/dlx/redrives/${task.id}` } };
};

async function orderIn(
  body: JsonObject,
  { caller }: RemoteRequest,
  { snapshots, server }: Remote,
): Promise<{ order: RemoteOrder & Password; isDry: boolean; state: QueueState }> {
  for (const key of Object.keys(body)) {
    if (needLook.includes(key)) {
      const why = 'needs a look at messages; RabbitMQ only gives those at the head of a queue';
      throw new Problem(501, 'not_possible', `'${key}' ${why}`);
    }
    if (!keys.includes(key)) throw badRequest(`unknown key '${shownText(key, 100)}'; known are ${keys.join(', ')}`);
  }
  const { vhost, queue } = body;
  if (typeof vhost !== 'string' || typeof queue !== 'string') throw badRequest("'vhost' and 'queue' should be strings");
  const snapshot = await snapshots.of(caller);
  const known = snapshot.queues.find(({ row }) => placeOf(row['vhost'], row['name']) === placeOf(vhost, queue));
  if (known === undefined) throw notFound();
  const row = (await getJson(server, caller, ['queues', vhost, queue])) as RawRow;
  const ready = numberAt(row, 'messages_ready') ?? 0;
  const { limit, rate, circuit, isDry } = paceIn(body);
  const to = addressIn(body['to']);
  if (to?.exchange === '' && to.routingKey === queue) throw badRequest("'to' is the queue of the redrive itself");
  const order: RemoteOrder & Password = {
    vhost,
    queue,
    to,
    limit: Math.min(limit ?? Infinity, Math.max(1, ready)),
    isWhole: limit === undefined,
    rate,
    circuit,
    user: caller.user.name,
    password: caller.password,
  };
  return { order, isDry, state: { ready, deliveryLimit: known.queue.settings.deliveryLimit } };
}

/** What a redrive would do. Where the messages would go is not known before they are taken, unless the request says it. */
function planOf(order: RemoteOrder, { ready, deliveryLimit }: QueueState): object {
  const count = Math.min(order.limit, ready);
  const { to } = order;
  return {
    ...orderToJson(order),
    id: 'dry-run',
    dry_run: true,
    state: 'completed',
    reason: null,
    started_at: null,
    ended_at: null,
    watched_until: null,
    ready_at_start: ready,
    scanned: count,
    moved: count,
    left: 0,
    unproven_origin: 0,
    gone: 0,
    came_back: 0,
    destinations: to === undefined || to.exchange !== '' ? [] : [{ name: to.routingKey, count }],
    other_destinations: 0,
    left_at: [],
    may_refuse: [],
    delivery_limit: deliveryLimit ?? null,
  };
}

const orderToJson = ({ vhost, queue, to, rate, limit, isWhole, circuit, user }: RemoteOrder): object => ({
  vhost,
  queue,
  filter: null,
  ids: null,
  to: to === undefined ? null : { exchange: to.exchange, routing_key: to.routingKey },
  rate: rate === Infinity ? 0 : rate,
  limit: isWhole ? null : limit,
  circuit: circuit === undefined ? null : { percent: circuit.percent, at_least: circuit.atLeast },
  keep_history: false,
  by: user,
});

/** A redrive as JSON, in the form of those of a dlx-broker; times are milliseconds since 1970. */
export function taskToJson(task: RemoteTask): object {
  const { id, order, mover, startedAt, endedAt, reason } = task;
  const { state, total, moved, left, unproven, cameBack, destinations, error } = mover.counts;
  return {
    ...orderToJson(order),
    id,
    dry_run: false,
    state,
    reason: reason ?? reasonOf(error),
    started_at: startedAt,
    ended_at: endedAt ?? null,
    watched_until: mover.watchedUntil ?? null,
    ready_at_start: total,
    scanned: moved + left,
    moved,
    left,
    unproven_origin: unproven,
    gone: 0,
    came_back: cameBack,
    ...resultsOf(destinations),
    left_at: [],
  };
}

/** A routing key is the name of a queue for the default exchange only. Which queues other exchanges reached is not known. */
function resultsOf(destinations: Readonly<Record<string, number>>): object {
  const queues: object[] = [];
  let others = 0;
  for (const [address, count] of Object.entries(destinations)) {
    if (address.startsWith('/')) queues.push({ name: address.slice(1), count });
    else others += count;
  }
  return { destinations: queues.slice(0, mostDestinations), other_destinations: others };
}

/** The most queues of an answer. */
const mostDestinations = 1_000;

/** The text of an error. That of an option of the application, such as a function of `urls`, may quote an URL with a password. */
const reasonOf = (error: unknown): string | null =>
  error instanceof Error ? shownText(withoutPasswords(error.message), 1_000) : error === undefined ? null : 'it failed';

/** The redrives of the virtual hosts that the user sees. */
const list: RemoteHandler = async ({ caller }, { redrives, snapshots }) => {
  const { graphs } = await snapshots.of(caller);
  return ok(
    redrives
      .list()
      .filter(({ order }) => graphs.has(order.vhost))
      .map(taskToJson),
  );
};

const show: RemoteHandler = async (request, remote) => ok(taskToJson(await taskNamed(request, remote)));

const stop: RemoteHandler = async (request, remote) => {
  const task = await ownTask(request, remote);
  if (task.endedAt !== undefined) throw isNot(task, 'stopped');
  task.reason = `stopped by ${request.caller.user.name}`;
  task.mover.stop();
  return noContent;
};

const pause: RemoteHandler = async (request, remote) => {
  const task = await ownTask(request, remote);
  const { state } = task.mover.counts;
  if (state !== 'running' && state !== 'tripped') throw isNot(task, 'paused');
  task.mover.pause();
  return ok(taskToJson(task));
};

const resume: RemoteHandler = async (request, remote) => {
  const task = await ownTask(request, remote);
  const { state } = task.mover.counts;
  if (state !== 'paused' && state !== 'tripped') throw isNot(task, 'resumed');
  task.mover.resume();
  return ok(taskToJson(task));
};

const isNot = ({ id, mover }: RemoteTask, done: string): Problem =>
  conflict(`redrive '${id}' is ${mover.counts.state} and cannot be ${done}`);

/** @throws Problem 404, also if the user does not see its virtual host */
async function taskNamed({ caller, names }: RemoteRequest, { redrives, snapshots }: Remote): Promise<RemoteTask> {
  const task = redrives.get(names['id'] ?? '');
  if (task === undefined || !(await snapshots.of(caller)).graphs.has(task.order.vhost)) throw notFound();
  return task;
}

/** Only the user who started a redrive, and administrators, control it. */
async function ownTask(request: RemoteRequest, remote: Remote): Promise<RemoteTask> {
  const task = await taskNamed(request, remote);
  request.note({ vhost: task.order.vhost, queue: task.order.queue });
  const { user } = request.caller;
  if (task.order.user === user.name || isOf('administrator', user)) return task;
  throw notAuthorised(`redrive '${task.id}' was started by another user`);
}

export const redrives: readonly RemoteResource[] = [
  { path: '/dlx/redrives', GET: list, POST: start },
  { path: '/dlx/redrives/:id', GET: show, DELETE: stop },
  { path: '/dlx/redrives/:id/pause', POST: pause },
  { path: '/dlx/redrives/:id/resume', POST: resume },
];
