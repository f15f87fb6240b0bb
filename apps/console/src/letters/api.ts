import { pathOf, refusal, request, send } from '../api/http';
import type { Letter, LetterGroup, RedrivePlan, RedriveTask } from '../api/types';
import { isEmptyFilter, jsonFilter, type LetterFilter, messageQuery, writeFilter } from './filter';

/** The name of a queue in its virtual host. */
export interface QueueName {
  readonly vhost: string;
  readonly queue: string;
}

/** The messages of one queue that an action is about: chosen ones, or all that match a filter. */
export interface Target extends QueueName {
  readonly filter?: LetterFilter;
  readonly ids?: readonly string[];
}

/** The answer of `GET /api/dlx/groups`. */
export interface Groups {
  readonly groups: readonly LetterGroup[];
  readonly queues: number;
  readonly others: number;
  readonly scanned: number;
  readonly complete: boolean;
  readonly skipped: readonly { readonly vhost: string; readonly queue: string; readonly why: string }[];
  /** Queues that only headers of their next message call dead-letter queues. */
  readonly unproven: readonly QueueName[];
}

/** A page of the messages of a queue. */
export interface Letters {
  readonly queue: string;
  readonly messages_ready: number;
  readonly messages_unacknowledged: number;
  readonly items: readonly Letter[];
  readonly scanned: number;
  readonly complete: boolean;
  readonly cursor: string | null;
  readonly unreadable?: { readonly count: number; readonly reason: string };
}

/** An exchange with a routing key. */
export interface Destination {
  readonly exchange: string;
  readonly routing_key: string;
}

/** How messages are moved. Without `to` each goes to its recorded origin. */
export interface RedriveOptions {
  readonly to?: Destination;
  readonly rate?: number;
  readonly limit?: number;
  readonly circuit?: false | { readonly percent: number; readonly at_least: number };
  readonly keep_history?: boolean;
}

const queuePath = ({ vhost, queue }: QueueName, ...rest: readonly string[]): string =>
  pathOf('dlx', 'queues', vhost, queue, ...rest);

/** Groups over all dead-letter queues that the user may read, or over one. */
export function loadGroups(
  { vhost, queue, filter }: { vhost: string | undefined; queue: string | undefined; filter: LetterFilter },
  signal: AbortSignal,
): Promise<Groups> {
  const query = writeFilter(new URLSearchParams(), filter);
  if (vhost !== undefined) query.set('vhost', vhost);
  if (queue !== undefined) query.set('queue', queue);
  return request('dlx/groups', { query, signal });
}

interface FingerprintGroup {
  readonly value: string;
  readonly count: number;
  readonly example_id: string;
  readonly oldest: number | null;
  readonly newest: number | null;
  /** The kind of error of the example. An earlier server does not say it. */
  readonly error?: string | null;
}

/** The messages of one queue, grouped by the fingerprint of their error. */
export async function loadFingerprints(
  { filter, ...name }: QueueName & { filter: LetterFilter },
  signal: AbortSignal,
): Promise<Groups> {
  const query = messageQuery(filter);
  query.set('by', 'fingerprint');
  const { groups, ...answer } = await request<
    Pick<Groups, 'others' | 'scanned' | 'complete'> & { readonly groups: readonly FingerprintGroup[] }
  >(queuePath(name, 'groups'), { query, signal });
  const rows = groups.map(({ value, error, ...group }) => ({
    ...group,
    ...name,
    reason: '',
    first_queue: '',
    error: error ?? '',
    fingerprint: value,
  }));
  return { ...answer, groups: rows, queues: 1, skipped: [], unproven: [] };
}

/** The bytes of each body that a list shows. */
const snippet = 300;

/** A page of messages. */
export function loadLetters(
  target: QueueName & { readonly filter: LetterFilter; readonly cursor?: string },
  signal: AbortSignal,
  { pageSize = 50, truncate = snippet } = {},
): Promise<Letters> {
  const query = messageQuery(target.filter);
  query.set('page_size', String(pageSize));
  query.set('truncate', String(truncate));
  if (target.cursor !== undefined) query.set('cursor', target.cursor);
  return request(queuePath(target, 'messages'), { query, signal });
}

/** One message. @param truncate the most bytes of its body; without it the body is whole */
export const loadLetter = (
  { id, truncate, ...name }: QueueName & { id: string; truncate?: number | undefined },
  signal: AbortSignal,
): Promise<Letter> => request(queuePath(name, 'messages', id), { signal, query: { truncate: truncate } });

/** What selects the messages of a target. */
const selected = ({ vhost, queue, filter, ids }: Target): Record<string, unknown> => ({
  vhost,
  queue,
  ...(ids === undefined ? filter !== undefined && !isEmptyFilter(filter) && { filter: jsonFilter(filter) } : { ids }),
});

/** The body of a redrive. Several targets are its groups. */
const order = (targets: readonly LimitedTarget[], options: RedriveOptions): Record<string, unknown> => {
  const [first] = targets;
  if (targets.length !== 1 || first === undefined) {
    const groups = targets.map(({ limit, ...target }) => ({ ...selected(target), ...(limit && { limit }) }));
    return { groups, ...options };
  }
  const limit = Math.min(first.limit ?? Infinity, options.limit ?? Infinity);
  return { ...selected(first), ...options, ...(limit !== Infinity && { limit }) };
};

/** A target, and the most of its messages that are moved. */
export interface LimitedTarget extends Target {
  readonly limit?: number;
}

/** Asks what a redrive would do. It moves nothing. */
export const tryRedrive = (
  targets: readonly Target[],
  options: RedriveOptions,
  signal: AbortSignal,
): Promise<RedrivePlan> =>
  request('dlx/redrives', { method: 'POST', body: { ...order(targets, options), dry_run: true }, signal });

/** Starts a redrive. */
export const startRedrive = (targets: readonly LimitedTarget[], options: RedriveOptions): Promise<RedriveTask> =>
  request('dlx/redrives', { method: 'POST', body: order(targets, options) });

export const loadRedrive = (id: string, signal: AbortSignal): Promise<RedriveTask> =>
  request(pathOf('dlx', 'redrives', id), { signal });

export const loadRedrives = (signal: AbortSignal): Promise<readonly RedriveTask[]> =>
  request('dlx/redrives', { signal });

/** Pauses, resumes or ends a redrive. */
export const controlRedrive = (id: string, what: 'pause' | 'resume' | 'cancel'): Promise<unknown> =>
  what === 'cancel'
    ? request(pathOf('dlx', 'redrives', id), { method: 'DELETE' })
    : request(pathOf('dlx', 'redrives', id, what), { method: 'POST', body: {} });

/** The most ids in the address of one request. */
const idsAtOnce = 400;

/**
 * Deletes messages, or only counts them.
 * @param options `limit`: the most messages of a filter that are deleted
 * @returns the number of messages that were found
 */
export async function deleteLetters(
  target: Target,
  options: { dryRun: boolean; limit?: number; signal?: AbortSignal },
): Promise<number> {
  const { filter = {}, ids } = target;
  if (ids === undefined && isEmptyFilter(filter)) return emptyQueue(target, options);
  let found = 0;
  for (const query of selections(filter, ids)) {
    if (options.dryRun) query.set('dry_run', 'true');
    if (ids === undefined && options.limit !== undefined) query.set('limit', String(options.limit));
    const answer = await request<{ matched: number; discarded: number }>(queuePath(target, 'messages'), {
      method: 'DELETE',
      query,
      ...(options.signal !== undefined && { signal: options.signal }),
    });
    found += options.dryRun ? answer.matched : answer.discarded;
  }
  return found;
}

/** The queries that select the messages of a target, each with a short address. */
function selections(filter: LetterFilter, ids: readonly string[] | undefined): readonly URLSearchParams[] {
  if (ids === undefined) return [messageQuery(filter)];
  return Array.from(
    { length: Math.ceil(ids.length / idsAtOnce) },
    (_, part) => new URLSearchParams({ ids: ids.slice(part * idsAtOnce, (part + 1) * idsAtOnce).join(',') }),
  );
}

/** All messages of a queue go by a purge: the deletion of messages asks for a filter. */
async function emptyQueue(
  target: Target,
  { dryRun, signal }: { dryRun: boolean; signal?: AbortSignal },
): Promise<number> {
  const options = signal === undefined ? {} : { signal };
  const { messages_ready } = await request<Letters>(queuePath(target, 'messages'), {
    ...options,
    query: { page_size: 1, truncate: 0 },
  });
  if (dryRun) return messages_ready;
  await request(pathOf('queues', target.vhost, target.queue, 'contents'), { method: 'DELETE' });
  return messages_ready;
}

/** The most messages of one export. */
export const mostExported = 100_000;

/** Messages as NDJSON, one line for each. */
export interface Export {
  readonly lines: Blob;
  /** True if {@link mostExported} ended it, so that there may be more messages. */
  readonly isCut: boolean;
}

/** The messages of a target. */
export async function exportLetters(target: Target): Promise<Export> {
  const { filter = {}, ids } = target;
  const parts: Blob[] = [];
  for (const query of selections(filter, ids)) {
    if (ids === undefined) query.set('limit', String(mostExported));
    const response = await send(queuePath(target, 'export'), { query });
    if (!response.ok) throw await refusal(response);
    parts.push(await response.blob());
  }
  const lines = new Blob(parts);
  return { lines, isCut: ids === undefined && (await linesIn(lines)) >= mostExported };
}

/** Counts lines without a copy of all of them in memory. */
async function linesIn(blob: Blob): Promise<number> {
  let found = 0;
  const reader = blob.stream().getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    for (let at = part.value.indexOf(10); at >= 0; at = part.value.indexOf(10, at + 1)) found++;
  }
  return found;
}

/** A changed message. What is not given stays as it is; null removes a header. */
export interface Edit {
  readonly payload?: string;
  readonly headers?: Readonly<Record<string, string | number | boolean | null>>;
  readonly to?: Destination;
}

/** What happened to an edited message, or would happen. */
export interface EditOutcome {
  readonly dry_run: boolean;
  readonly moved: boolean;
  readonly id: string;
  readonly exchange: string | null;
  readonly routing_key: string | null;
  readonly destinations: readonly string[];
  readonly why?: string;
  readonly audit?: number;
}

/** Publishes an edited message and removes the original once the new one is confirmed. */
export const editLetter = (
  { id, ...name }: QueueName & { id: string },
  edit: Edit & { dry_run?: boolean },
  signal?: AbortSignal,
): Promise<EditOutcome> =>
  request(queuePath(name, 'messages', id, 'edit'), { method: 'POST', body: edit, ...(signal && { signal }) });
