import 'reflect-metadata';
import { RpcException } from '../handlers/nest-versions.js';
import { fieldTableOf } from '../../backends/topology/index.js';
import { emptyTable, type FieldTable, longstr } from '../../engine/message/index.js';
import { isLockedHeader, retryHeaders } from '../../platform/history/index.js';
import { DlxConfigurationError, optionsOf, parseDuration, refused } from '../../platform/options/index.js';

/*
 * A handler throws one of these to decide about its message, in place of the policy. They are RpcExceptions, so Nest does not log
 * them as errors of the program.
 */

/** What a `RetryLater` leaves for the next attempt. */
export interface RetryLaterOptions {
  readonly reason?: string;
  /** A value of JSON, up to 8 KiB: `state` of the context in the next attempts, until another one replaces it. */
  readonly state?: unknown;
}

/**
 * Another attempt after a delay, and never before it. It counts as an attempt of `@Retry`; without a policy the number of attempts has no
 * limit.
 * @param delay milliseconds, or a string such as `'30s'`; 0 is at once, to the back of the queue
 * @param more the reason, or `{ reason, state }`
 * @throws DlxConfigurationError when the delay is no duration, and for a state that cannot be kept
 */
export class RetryLater extends RpcException {
  override readonly name = 'RetryLater';
  readonly delay: number;
  /** @internal */
  readonly headers: FieldTable;

  constructor(delay: number | string, more: string | RetryLaterOptions = {}) {
    const given = typeof more === 'string' ? { reason: more } : more;
    const options = optionsOf<RetryLaterOptions>(given, 'RetryLater', "write { state: { page: 3 } }, or 'why'", [
      'reason',
      'state',
    ]);
    const { reason = `try again in ${delay}${typeof delay === 'number' ? ' ms' : ''}`, state } = options;
    super(reason);
    this.delay = parseDuration(delay, 'RetryLater');
    this.headers = state === undefined ? emptyTable : new Map([[retryHeaders.state, longstr(jsonOf(state))]]);
  }
}

/** The most bytes of a state. */
const mostState = 8_192;

function jsonOf(state: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(state) as string | undefined;
  } catch (cause) {
    throw new DlxConfigurationError(`RetryLater: its state has no JSON; ${stateRemedy}`, { cause });
  }
  if (json === undefined) throw new DlxConfigurationError(`RetryLater: its state has no JSON; ${stateRemedy}`);
  const size = Buffer.byteLength(json);
  if (size <= mostState) return json;
  throw new DlxConfigurationError(
    `RetryLater: its state has ${size} bytes, and ${mostState} is the most; ${stateRemedy}`,
  );
}

const stateRemedy = 'write a small object of plain values, such as { page: 3 }, and keep more in a database';

/** What is written on a message that its handler gives up. */
export interface GiveUpOptions {
  /** Headers of the parked message or dead letter: plain values by their names. They stay at a redrive. */
  readonly headers?: Readonly<Record<string, unknown>>;
}

/**
 * No further attempt: the message goes to the parking lot, where it stays until it is redriven or consumed.
 * @throws DlxConfigurationError for a header that belongs to the broker, or has no wire type
 */
export class Park extends RpcException {
  override readonly name = 'Park';
  /** @internal */
  readonly headers: FieldTable;

  constructor(reason: string, options: GiveUpOptions = {}) {
    super(reason);
    this.headers = ownHeaders(options, 'Park');
  }
}

/**
 * No further attempt: the queue dead-letters the message, or drops it without a dead-letter exchange. A dead letter of a RabbitMQ lacks
 * the headers, and the log warns of that: a reject of AMQP carries none.
 * @throws DlxConfigurationError for a header that belongs to the broker, or has no wire type
 */
export class Reject extends RpcException {
  override readonly name = 'Reject';
  /** @internal */
  readonly headers: FieldTable;

  constructor(reason: string, options: GiveUpOptions = {}) {
    super(reason);
    this.headers = ownHeaders(options, 'Reject');
  }
}

function ownHeaders(options: GiveUpOptions, by: string): FieldTable {
  const { headers } = optionsOf<GiveUpOptions>(options, by, "write { headers: { ticket: 'A-1' } }", ['headers']);
  if (headers === undefined) return emptyTable;
  const origin = `headers of ${by}`;
  const given = optionsOf<Readonly<Record<string, unknown>>>(headers, origin, "write { ticket: 'A-1' }");
  const locked = Object.keys(given).find(isLockedHeader);
  if (locked === undefined) return fieldTableOf(given, origin);
  throw new DlxConfigurationError(
    `${origin}: '${locked}' is locked; dlx-..., x-..., CC and BCC belong to the broker, write another name`,
  );
}

/** The headers that the exception of a handler asks for; undefined without any. */
export const askedHeaders = (error: unknown): FieldTable | undefined =>
  (error instanceof RetryLater || error instanceof Park || error instanceof Reject) && error.headers.size > 0
    ? error.headers
    : undefined;

/** Acknowledges the message without handling it. */
export class Drop extends RpcException {
  override readonly name = 'Drop';

  constructor(reason = 'dropped by its handler') {
    super(reason);
  }
}

/**
 * Something that the handler needs is not there. The message comes again later, as the same attempt. The circuit of the handler opens
 * at once (`@Circuit`); without a circuit only this message waits.
 * @param wait how long the service is likely to be away: milliseconds, or a string such as `'30s'`. Default: the pause of the circuit, or
 *   30 seconds without one
 * @throws DlxConfigurationError when the wait is no duration above 0
 */
export class Unavailable extends RpcException {
  override readonly name = 'Unavailable';
  /** Milliseconds; undefined if the handler named none. */
  readonly wait: number | undefined;

  constructor(reason: string, wait?: number | string) {
    super(reason);
    this.wait = wait === undefined ? undefined : parseDuration(wait, 'Unavailable');
    if (this.wait === 0) throw refused(wait, 'Unavailable', 'is no time; write one above 0, or leave it out');
  }
}
