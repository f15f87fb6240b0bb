import {
  type Address,
  bool,
  type DeathEntry,
  deathsOf,
  type Field,
  fieldSize,
  type FieldTable,
  int32,
  int64,
  isLargerThan,
  longstr,
  type Message,
  Repeated,
  RepeatedField,
  stripDeaths,
  tableSize,
} from '../../engine/message/index.js';
import { deathIn, failingSince, historyAfter, historyOf, redrivesOf, writeDeaths } from './attempts.js';
import { addRedrive, readHistory, writeHistory } from './error-entries.js';
import { errorHeaders, historyHeaders, retryHeaders } from './names.js';
import { addressOf, fingerprintAmong, isFingerprint } from './origin.js';

/** The most bytes of the headers of a successor, its own included. The headers of a message have to fit into one frame. */
export const mostHeaderBytes = 65_536;

/** What was left out of headers that were too large. */
export type LeftOutOfHistory =
  'the stack of its error' | 'the history of its errors' | 'the history of its errors and its deaths';

/**
 * Makes headers fit into {@link mostHeaderBytes}: without the stack, and if that is not enough without the history of the errors, from its
 * middle, and at last without that of the deaths. Other headers stay.
 */
function fit(headers: Map<string, Field>): LeftOutOfHistory | undefined {
  if (!isLargerThan(headers, mostHeaderBytes)) return undefined;
  const hadStack = headers.delete(errorHeaders.stack);
  if (!isLargerThan(headers, mostHeaderBytes)) return 'the stack of its error';
  if (!headers.has(historyHeaders.errors) && !headers.has(retryHeaders.deaths))
    return hadStack ? 'the stack of its error' : undefined;
  const { errors, omitted } = readHistory(headers);
  if (errors.length > 2) {
    const ends = [errors[0]!, errors[errors.length - 1]!];
    writeHistory(headers, { errors: ends, omitted: omitted + errors.length - 2 });
    if (!isLargerThan(headers, mostHeaderBytes)) return 'the history of its errors';
  }
  writeHistory(headers, { errors: [], omitted: 0 });
  if (!isLargerThan(headers, mostHeaderBytes)) return 'the history of its errors';
  return headers.delete(retryHeaders.deaths) ? 'the history of its errors and its deaths' : 'the history of its errors';
}

/** Those headers that still fit when they are added to the headers of a message. */
export function fitting(own: FieldTable | undefined, added: FieldTable): FieldTable {
  const size = own === undefined ? 4 : tableSize(own);
  if (size + addedSize(added) <= mostHeaderBytes) return added;
  const all = new Map<string, Field>(own);
  for (const [name, field] of added) all.set(name, field);
  fit(all);
  const fits = new Map<string, Field>();
  for (const name of added.keys()) {
    const field = all.get(name);
    if (field !== undefined) fits.set(name, field);
  }
  return fits;
}

function addedSize(added: FieldTable): number {
  let size = 0;
  for (const [name, field] of added) size += 1 + name.length + fieldSize(field);
  return size;
}

/** The prefix of headers that describe an error. A redriven message loses these headers. */
const errorPrefix = 'dlx-error-';

/** The state of a message that failed or was postponed. */
export interface RetryProgress {
  /** Its work queue. */
  readonly queue: string;
  /** The number of the next attempt; of a parked message, that of the last one. */
  readonly attempt: number;
  /** The time of its failure, in milliseconds since 1970; undefined if it did not fail, but is handled later. */
  readonly failedAt: number | undefined;
  /** When it failed for the first time, if not the time that its headers name: an outage was left out of it. */
  readonly failingSince?: number | undefined;
  /** True: it failed in its work queue, which is a death there (reason `rejected`). False: it lay elsewhere, or is handled later. */
  readonly isRejected?: boolean;
  readonly isParked: boolean;
  /** Of a parked message. Default: the one it has, or else calculated from its error. */
  readonly fingerprint?: string | undefined;
  /** Where it was published at first. Default: {@link addressOf}. */
  readonly from?: Address;
}

/** The headers of a successor. */
interface SuccessorHeaders {
  readonly headers: FieldTable;
  /** What was left out, because the headers would have been too large. */
  readonly leftOut: LeftOutOfHistory | undefined;
}

// A message that waits keeps its headers. Most messages that wait together failed together.
const lastWritten = new Repeated<SuccessorHeaders>();
const lastRedriven = new Repeated<FieldTable>();
const repeated = {
  attempt: new RepeatedField(int32),
  queue: new RepeatedField(longstr),
  exchange: new RepeatedField(longstr),
  routingKey: new RepeatedField(longstr),
  since: new RepeatedField<number>(int64),
};

/**
 * The headers of a message that is retried, postponed or parked. Its deaths move to `dlx-deaths`: with `x-death` the message could be dropped
 * as a cycle (rules H9, I6). CC would route it to further queues (rule G2). Messages that fail together share the headers.
 * @param added headers that describe the failure, which do not change any more
 */
export function headersForRetry(
  message: Message,
  progress: RetryProgress,
  added: FieldTable | undefined,
): SuccessorHeaders {
  const { queue, attempt, isParked, fingerprint, failedAt, isRejected, from = addressOf(message) } = progress;
  const { exchange, routingKey } = from;
  const carried = carriedHeaders(message);
  const since = sinceOf(message, progress);
  const rejection =
    isRejected === true && failedAt !== undefined ? deathIn(queue, 'rejected', message, failedAt) : undefined;
  const write = (): SuccessorHeaders => {
    const headers = withoutTraces(carried);
    headers.delete(errorHeaders.policy);
    added?.forEach((field, name) => headers.set(name, field));
    headers.set(retryHeaders.attempt, repeated.attempt.of(attempt));
    headers.set(retryHeaders.queue, repeated.queue.of(queue));
    headers.set(retryHeaders.firstExchange, repeated.exchange.of(exchange));
    headers.set(retryHeaders.firstRoutingKey, repeated.routingKey.of(routingKey));
    if (since !== undefined) headers.set(retryHeaders.since, repeated.since.of(since));
    if (isParked) headers.set(retryHeaders.parked, bool(true));
    else headers.delete(retryHeaders.parked);
    const written = isParked ? (fingerprint ?? fingerprintOfParked(message, headers, queue, added)) : undefined;
    if (written === undefined) headers.delete(retryHeaders.fingerprint);
    else headers.set(retryHeaders.fingerprint, longstr(written));
    writeDeaths(headers, rejection === undefined ? historyOf(message) : historyAfter(message, rejection));
    return { headers, leftOut: fit(headers) };
  };
  if (isParked) return write();
  const parts: unknown[] = [carried, added, queue, attempt, exchange, routingKey, since];
  if (rejection !== undefined) addParts(parts, rejection);
  for (const death of deathsOf(message)) addParts(parts, death);
  return lastWritten.of(parts, write);
}

/** What distinguishes a death from others, for {@link Repeated}. */
function addParts(parts: unknown[], { queue, reason, exchange, routingKeys, count, time, ...rest }: DeathEntry): void {
  parts.push(queue, reason, exchange, count, time, rest.originalExpiration, ...routingKeys);
}

/** When a message failed for the first time, in whole milliseconds: a clock of an application may have fractions. */
function sinceOf(message: Message, { queue, failedAt, failingSince: first }: RetryProgress): number | undefined {
  const since = first ?? failingSince(message, queue) ?? failedAt;
  return since === undefined ? undefined : Math.floor(Math.min(since, failedAt ?? since));
}

/** A message that failed again has another fingerprint. */
function fingerprintOfParked(
  { own }: Message,
  headers: FieldTable,
  queue: string,
  added: FieldTable | undefined,
): string | undefined {
  const written = own.headers?.get(retryHeaders.fingerprint)?.value;
  if (added?.has(errorHeaders.class) !== true && isFingerprint(written)) return written;
  return fingerprintAmong(headers, queue);
}

/**
 * The headers of a redriven message, which begins a new life: of its failures only the number of redrives is left, and the history of its
 * errors, with an entry of the redrive. Messages with the same headers that are redriven together share them.
 * @param now milliseconds since 1970
 */
export function headersForRedrive(message: Message, now: number): FieldTable {
  const carried = carriedHeaders(message);
  const at = carried?.has(historyHeaders.errors) === true ? now : undefined; // only an entry of a history has the time
  return lastRedriven.of([carried, at], () => {
    const headers = withoutTraces(carried);
    const redrives = redrivesOf(message) + 1;
    const history = readHistory(headers);
    for (const name of Object.values(retryHeaders)) headers.delete(name);
    for (const name of headers.keys()) if (name.startsWith(errorPrefix)) headers.delete(name);
    writeHistory(headers, addRedrive(history, redrives, now));
    headers.set(retryHeaders.redrives, int32(redrives));
    fit(headers);
    return headers;
  });
}

/** The own headers of a message, with that of its delay. */
const carriedHeaders = ({ own, notes }: Message): FieldTable | undefined =>
  notes === undefined ? own.headers : notes.withDelay(own.headers);

function withoutTraces(carried: FieldTable | undefined): Map<string, Field> {
  const headers = new Map<string, Field>(stripDeaths(carried));
  for (const name of ['CC', 'BCC', 'x-delivery-count', 'x-acquired-count']) headers.delete(name);
  return headers;
}
