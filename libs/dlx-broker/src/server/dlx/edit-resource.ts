import { isUtf8 } from 'node:buffer';
import {
  AmqpError,
  checkEdited,
  type Entry,
  type Queue,
  type Settled,
  type User,
  type VirtualHost,
} from '../../engine/broker/index.js';
import { type Address, isLost, type Message, messageOf } from '../../engine/message/index.js';
import { editedMessage, sha256 } from '../../platform/history/index.js';
import { checkAudience } from '../http/auth.js';
import type { JsonObject } from '../http/body.js';
import { badRequest, detailOf, notAuthorised, notFound, ok, Problem } from '../http/reply.js';
import type { ApiRequest, Handler, Resource } from '../http/resource.js';
import { checkMemory, type Management } from '../management.js';
import { RedriveCounts } from '../redrive/index.js';
import { addressIn, booleanAt, objectEntries, onlyKnown } from './input.js';
import { positionNamed, readableQueue } from './named.js';
import { Mover } from './redrives/mover.js';

/** The most bytes of a body before and after an edit, which are read in one turn, and the most characters of the headers. */
const longest = { body: 2_000_000, headers: 131_072 };

/** The most queues, and the most headers, that the audit log names. */
const mostNames = 100;

interface Edit {
  /** Default: the body of the message. */
  readonly payload: string | undefined;
  /** Values by the names of headers; null removes one. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** Default: the recorded origin of the message. */
  readonly to: Address | undefined;
  readonly dryRun: boolean;
}

/**
 * Redrives one message with another text or other headers. Both happen in one step: as long as the edited message has not reached every
 * queue of its address, the original stays.
 */
const edit: Handler = async (request, management) => {
  checkEdits(request, management);
  onlyKnown(request.query.keys(), [], 'parameter');
  const queue = readableQueue(request, management);
  const position = positionNamed(request);
  const given = editIn(await request.body());
  const { to, dryRun, headers } = given;
  request.note({ dry_run: dryRun, to: to ?? null, headers: Object.keys(headers).slice(0, mostNames) });
  if (!dryRun) checkMemory(management.host);
  const vhost = management.vhost(request.name('vhost'));
  // Rights may have changed while the request was read.
  vhost.check(request.user, 'read', 'queue', queue.name);
  checkTarget(request.user, vhost, to);
  const entry = entryAt(position, queue);
  const before = bodyOf(entry.message);
  const edited = editOf(entry.message, before, given, { user: request.user, vhost, now: management.now() });
  return replace(entry, edited, { before, given, queue, vhost, request, management });
};

/** @throws Problem 403 if edits are off at this port, 401 for a user without the tag */
function checkEdits({ user }: ApiRequest, { edits }: Management): void {
  if (!edits) {
    const remedy = 'start the broker with serve --edits, or with listen: { http: { edits: true } }';
    throw new Problem(403, 'edits_off', `edits of messages are off at this port: ${remedy}`);
  }
  checkAudience(user, 'editor');
}

/** @throws Problem 400 naming the invalid field */
function editIn(body: JsonObject): Edit {
  onlyKnown(Object.keys(body), ['payload', 'headers', 'to', 'dry_run'], 'key');
  const { payload, headers = {} } = body;
  if (payload !== undefined && typeof payload !== 'string') throw badRequest("'payload' should be a string");
  if (/\p{Surrogate}/u.test(payload ?? '')) throw badRequest("'payload' has half of a surrogate pair");
  const entries = objectEntries(headers, 'headers');
  if (JSON.stringify(headers).length > longest.headers) {
    throw badRequest(`'headers' are longer than ${longest.headers} characters`);
  }
  return {
    payload,
    headers: Object.fromEntries(entries),
    to: addressIn(body['to']),
    dryRun: booleanAt(body, 'dry_run'),
  };
}

/** @throws AmqpError 403 without the right to write, Problem 400 for a missing exchange */
function checkTarget(user: User, vhost: VirtualHost, to: Address | undefined): void {
  if (to === undefined) return;
  vhost.check(user, 'write', 'exchange', to.exchange);
  const exchange = vhost.exchanges.get(to.exchange);
  if (exchange === undefined) throw badRequest(`no exchange '${to.exchange}' in vhost '${vhost.name}'`);
  vhost.checkTopic(user, 'write', exchange, to.routingKey);
}

/** @throws Problem 404 if the queue never had the message, 409 if it is not ready any more: an edit is never a silent no-op */
function entryAt(position: number, queue: Queue): Entry {
  const entry = queue.deleted ? undefined : queue.find(position);
  if (entry !== undefined) return entry;
  if (queue.deleted || position > queue.lastPosition || position === 0) throw notFound();
  const why = 'is with a consumer, waits for its retry, or has left the queue. Nothing was changed';
  throw new Problem(409, 'conflict', `message ${position} of queue '${queue.name}' ${why}`);
}

/** @throws Problem 400 for a body that is too long, 503 if it cannot be read from disk, 409 if it is lost */
function bodyOf(message: Message): Uint8Array {
  if (message.size > longest.body) {
    throw badRequest(`the body has ${message.size} bytes, and an edit here at most ${longest.body}: edit it in code`);
  }
  try {
    return message.body;
  } catch (error) {
    const { message: reason } = error as Error;
    if (isLost(error)) throw new Problem(409, 'conflict', `the body of the message is lost: ${reason}`);
    throw new Problem(503, 'storage_unreadable', `the body of the message cannot be read now: ${reason}`, {
      'retry-after': '5',
    });
  }
}

/** @throws Problem 400 if nothing changes, for a locked header, for a body that stops being JSON, and for what the user could not publish */
function editOf(
  message: Message,
  before: Uint8Array,
  { payload, headers }: Edit,
  { user, vhost, now }: { user: User; vhost: VirtualHost; now: number },
): Message {
  if (payload !== undefined) checkText(payload, before, message.properties.contentType);
  const edited = editedMessage(message, {
    body: payload === undefined ? undefined : Buffer.from(payload),
    headers,
    by: user.name,
    at: now,
    refuse: (header, fault) => badRequest(`header '${header}' ${fault}`),
  });
  if (edited === undefined)
    throw badRequest('the edit changes nothing; POST /api/dlx/redrives sends a message as it is');
  const vouched = ofUser(edited, user);
  try {
    checkEdited(vouched, user, Math.min(longest.body, vhost.profile.maxMessageSize));
  } catch (error) {
    throw error instanceof AmqpError ? badRequest(detailOf(error)) : error;
  }
  return vouched;
}

/** @throws Problem 400 if the old body is no text, or if it is JSON and the new one is not */
function checkText(payload: string, before: Uint8Array, contentType = ''): void {
  if (!isUtf8(before))
    throw badRequest("'payload' replaces text, and the body of the message is none: edit it in code");
  const text = Buffer.from(before.buffer, before.byteOffset, before.length).toString();
  if (!(/^\s*[[{]/.test(text) || /json/i.test(contentType)) || jsonFault(text) !== undefined) return;
  const fault = jsonFault(payload);
  if (fault !== undefined) throw badRequest(`'payload' is not JSON, and it replaces JSON: ${fault}`);
}

function jsonFault(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The broker vouches for the user id of a message, so another user's name is not kept on what this user wrote (rule K7). */
function ofUser(message: Message, { name, tags }: User): Message {
  const { properties, exchange, routingKey } = message;
  if (properties.userId === undefined || properties.userId === name || tags.includes('impersonator')) return message;
  return messageOf(exchange, routingKey, { ...properties, userId: undefined }, message, undefined);
}

/** The parts of one edit. */
interface Task {
  readonly before: Uint8Array;
  readonly given: Edit;
  readonly queue: Queue;
  readonly vhost: VirtualHost;
  readonly request: ApiRequest;
  readonly management: Management;
}

async function replace(entry: Entry, edited: Message, { before, given, queue, vhost, request, management }: Task) {
  const { user, names } = request;
  const { to, dryRun } = given;
  const { dlx } = management;
  const task = `edit-${dlx.redrives.name()}`;
  const counts = new RedriveCounts();
  let settled: Settled = () => {};
  const stored = new Promise<Error | undefined>((resolve) => (settled = resolve));
  const order = { vhost, queue, user, by: user.name, ...(to && { to }), rate: Infinity, dryRun };
  new Mover(order, task, counts, settled).move(entry, management.now(), edited);
  const [left] = counts.leftAt;
  if (left?.why === 'forbidden') throw notAuthorised('Access refused.');
  const moved = counts.moved > 0 && !dryRun;
  const address = to ?? entry.message.origin;
  const answer = {
    exchange: address?.exchange ?? null,
    routing_key: address?.routingKey ?? null,
    destinations: [...counts.destinations.keys()],
    other_destinations: counts.otherDestinations,
    ...(left && { why: left.why }),
  };
  if (!moved) return ok({ id: String(entry.position), dry_run: dryRun, moved, ...answer, task: null, audit: null });
  const record = (action: string, details: Readonly<Record<string, unknown>>): number | null =>
    dlx.audit.record({ user: user.name, from: request.peer, action, names, details: { task, ...details } }) ?? null;
  // Recorded at once: a crash while the store works must not leave an edited message without a record.
  const audit = record('message edited', {
    ...answer,
    destinations: answer.destinations.slice(0, mostNames),
    payload_sha256_before: sha256(before),
    payload_sha256: sha256(edited.body),
  });
  const failure = await stored;
  if (failure !== undefined) {
    record('message edit not stored', { edit: audit });
    throw new Problem(500, 'internal_error', failure.message);
  }
  return ok({ id: String(entry.position), dry_run: dryRun, moved, ...answer, task, audit });
}

export const edits: readonly Resource[] = [
  { path: '/dlx/queues/:vhost/:name/messages/:id/edit', allows: 'management', POST: edit },
];
