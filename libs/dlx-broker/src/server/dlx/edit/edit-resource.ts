import type { Entry, Queue, Settled } from '../../../engine/broker/index.js';
import { isShortstr, maxShortstrBytes } from '../../../engine/message/index.js';
import { badRequest, notAuthorised, notFound, ok, Problem } from '../../http/reply.js';
import type { ApiRequest, Handler, Resource } from '../../http/resource.js';
import { inTurns } from '../../http/turns.js';
import { checkMemory, type Management } from '../../management.js';
import { RedriveCounts } from '../../redrive/index.js';
import { onlyKnown } from '../input.js';
import { positionNamed } from '../named-message.js';
import { readableQueue } from '../readable-queue.js';
import { Mover, originalsQueueName } from '../redrives/mover.js';
import { type BodySums, checkBodies } from './bodies.js';
import { type Edit, editIn } from './edit-input.js';
import { checkEdits } from './edit-rights.js';
import { editedMessage } from './edited-message.js';
import { isHeld } from './held.js';

/**
 * Replaces a message by an edited one at its origin, or at another address. Both happen in one step: as long as the
 * edited message has not reached every queue of its address, the original stays.
 */
const edit: Handler = async (request, management) => {
  checkEdits(request, management);
  onlyKnown(request.query.keys(), [], 'parameter');
  const queue = readableQueue(request, management);
  const position = positionNamed(request);
  const body = await request.body();
  // A body of some megabytes is parsed in one turn, and converted in the next.
  await management.dlx.turns.next();
  const given = editIn(body);
  await management.dlx.turns.next();
  const { to, dryRun } = given;
  const { headers, keepsOriginal } = given;
  request.note({
    dry_run: dryRun,
    to: to ?? null,
    headers: headers && [...headers.keys()].slice(0, mostNames),
    keep_original: keepsOriginal,
  });
  if (!dryRun) checkMemory(management.host);
  checkTarget(request, management, given);
  if (keepsOriginal) declareOriginalsQueue(queue, dryRun, request, management);
  const { message } = await entryAt(position, queue, request, management);
  const sums = await search(request, management, checkBodies(message, given));
  const entry = await entryAt(position, queue, request, management);
  return replace(entry, { request, management, queue, given, sums });
};

/** The parts of one edit. */
interface Task {
  readonly request: ApiRequest;
  readonly management: Management;
  readonly queue: Queue;
  readonly given: Edit;
  readonly sums: BodySums;
}

async function replace(entry: Entry, { request, management, queue, given, sums }: Task) {
  const { user } = request;
  const { to, dryRun } = given;
  const vhost = management.vhost(request.name('vhost'));
  // Rights may have changed while the body was read.
  vhost.check(user, 'read', 'queue', queue.name);
  const note = { by: user.name, at: management.now(), sha256: sums.before };
  const edited = editedMessage(entry.message, given, user, vhost, note);
  const task = `edit-${management.dlx.redrives.name()}`;
  const counts = new RedriveCounts();
  const order = {
    vhost,
    queue,
    user,
    by: user.name,
    ...(to && { to }),
    rate: Infinity,
    dryRun,
    keepsOriginal: given.keepsOriginal,
  };
  const { promise: stored, settled } = awaitedCommit();
  new Mover(order, task, counts, settled).move(entry, management.now(), edited);
  const [left] = counts.leftAt;
  if (left?.why === 'forbidden') throw notAuthorised('Access refused.');
  const isMoved = counts.moved > 0 && !dryRun;
  const address = to ?? entry.message.origin;
  const place = { exchange: address?.exchange ?? null, routing_key: address?.routingKey ?? null };
  const arrived = { destinations: [...counts.destinations.keys()], other_destinations: counts.otherDestinations };
  const answer = { ...place, ...arrived, ...(left && { why: left.why }) };
  // Recorded at once: a crash while the store works must not leave an edited message without a record (decision 170).
  const audit = isMoved ? record({ ...answer, task }, sums, request, management) : null;
  const failure = isMoved ? await stored : undefined;
  if (failure !== undefined) throw notStored(failure, { task, edit: audit }, request, management);
  return ok({
    id: String(entry.position),
    dry_run: dryRun,
    moved: isMoved,
    ...answer,
    task: isMoved ? task : null,
    audit,
  });
}

/** The most queues, and the most headers, that the audit log names. */
const mostNames = 100;

/** Records which message replaced which: the new one has the name of the task in a header. */
function record(
  details: { readonly destinations: readonly string[]; readonly [key: string]: unknown },
  { before, after }: BodySums,
  { user, peer, names }: ApiRequest,
  management: Management,
): number | null {
  const destinations = details.destinations.slice(0, mostNames);
  const sums = { payload_sha256_before: before, payload_sha256: after };
  const entry = { user: user.name, from: peer, action: 'message edited', names };
  return management.dlx.audit.record({ ...entry, details: { ...details, destinations, ...sums } }) ?? null;
}

/** Records that the store failed with an edit that is in the log already. */
function notStored(
  { message }: Error,
  details: Readonly<Record<string, unknown>>,
  { user, peer, names }: ApiRequest,
  { dlx }: Management,
): Problem {
  dlx.audit.record({ user: user.name, from: peer, action: 'message edit not stored', names, details });
  return new Problem(500, 'internal_error', message);
}

/** @throws AmqpError 403 without the right to write, Problem 400 for a missing exchange */
function checkTarget({ user, name }: ApiRequest, management: Management, { to }: Edit): void {
  if (to === undefined) return;
  const vhost = management.vhost(name('vhost'));
  vhost.check(user, 'write', 'exchange', to.exchange);
  const exchange = vhost.exchanges.get(to.exchange);
  if (exchange === undefined) throw badRequest(`no exchange '${to.exchange}' in vhost '${vhost.name}'`);
  vhost.checkTopic(user, 'write', exchange, to.routingKey);
}

/** @throws Problem 404 if the queue never had the message, 409 with the reason if it is not ready any more */
export async function entryAt(
  position: number,
  queue: Queue,
  request: ApiRequest,
  management: Management,
): Promise<Entry> {
  const entry = queue.deleted ? undefined : queue.find(position);
  if (entry !== undefined) return entry;
  if (queue.deleted || position > queue.lastPosition || position === 0) throw notFound();
  const vhost = management.vhost(queue.home.name);
  const held = await search(request, management, isHeld(vhost, queue, position));
  throw leftAlready(position, queue, held);
}

/** The refusal of an edit of a message that was in the queue. An edit is never a silent no-op. */
export function leftAlready(position: number, queue: Queue, isHeld: boolean): Problem {
  const why = isHeld
    ? 'is with a consumer, or waits for its retry: try again when it is ready'
    : 'has left the queue: it was consumed, redriven, deleted or dropped, or it expired. Nothing was changed';
  return new Problem(409, 'conflict', `message ${position} of queue '${queue.name}' ${why}`);
}

/**
 * Declares the queue for messages as they were before an edit, with the rights of the user. A full disk would hold up the answer until
 * the declaration is stored. Nothing is declared then, and the edit is refused as one without `keep_original`.
 * @throws Problem 400 if its name would be too long
 * @throws AmqpError 403 without the right to declare it, or to write to it
 */
export function declareOriginalsQueue(
  queue: Queue,
  dryRun: boolean,
  { user }: ApiRequest,
  management: Management,
): void {
  const name = originalsQueueName(queue);
  if (!isShortstr(name))
    throw badRequest(`'keep_original': the name '${name}' is longer than ${maxShortstrBytes} bytes`);
  const vhost = management.vhost(queue.home.name);
  vhost.check(user, 'write', 'exchange', '');
  if (vhost.queues.has(name)) return;
  if (dryRun || queue.home.journal?.trouble !== undefined) vhost.check(user, 'configure', 'queue', name);
  else management.as(user, vhost.name, (channel) => void channel.declareQueue(name, { durable: true }));
}

const search = <T>({ signal }: ApiRequest, { dlx }: Management, work: Iterator<void, T, void>): Promise<T> =>
  inTurns(work, dlx.turns, signal);

/** A promise of the end of a commit: undefined, or the error with which the journal failed. */
function awaitedCommit(): { readonly promise: Promise<Error | undefined>; readonly settled: Settled } {
  let settled: Settled = () => {};
  const promise = new Promise<Error | undefined>((done) => (settled = done));
  return { promise, settled };
}

export const edits: readonly Resource[] = [
  { path: '/dlx/queues/:vhost/:name/messages/:id/edit', allows: 'management', POST: edit },
];
