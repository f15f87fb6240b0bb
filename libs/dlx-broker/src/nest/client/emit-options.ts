import type { Publication } from '../../backends/index.js';
import {
  DlxConfigurationError,
  flag,
  optionsOf,
  parseDuration,
  refuseUnknown,
  text,
} from '../../platform/options/index.js';
import { parseDelay } from '../retry/index.js';
import { DlxRecord } from './record-builder.js';

/** How an event is published. */
export interface EmitOptions {
  /**
   * The delay: milliseconds or `'10m'`, up to 49 days. To the millisecond where the broker has exact delays, elsewhere
   * rounded up by at most 28 %.
   */
  readonly delay?: number | string;
  /** The id for `cancelDelayed` of DlxClient; the client makes one by default. */
  readonly messageId?: string;
  /** False: the event is published at once, also by a handler with an outbox (`@Outbox()`). Default true. */
  readonly outbox?: boolean;
  /**
   * How long a server may take to confirm the event: milliseconds or `'2s'`. Then `emit` fails, and an event that was not sent is never
   * sent. Default: option `publishTimeout` of `rabbitmq()`, 30 s. An outbox and an embedded broker have no such limit.
   */
  readonly timeout?: number | string;
}

export const noOptions: EmitOptions = {};
const emitOptions: readonly string[] = ['delay', 'messageId', 'outbox', 'timeout'];

/** @throws DlxConfigurationError */
export function checkEmitOptions(options: EmitOptions): void {
  const { messageId, outbox } = optionsOf(options, 'options of emit', "write { delay: '10m' }");
  refuseUnknown(options, emitOptions, 'options of emit');
  if (messageId !== undefined) text.read(messageId, 'messageId of emit');
  if (outbox !== undefined) flag.read(outbox, 'outbox of emit');
}

/** The event with the time limit that its options name. @throws DlxConfigurationError */
export function limitedBy({ timeout }: EmitOptions, event: Publication): Publication {
  const limit = timeLimit(timeout, 'timeout of emit');
  return limit === undefined ? event : { ...event, timeout: limit };
}

/** Reads the time limit of a call. @throws DlxConfigurationError */
export function timeLimit(timeout: number | string | undefined, origin: string): number | undefined {
  if (timeout === undefined) return undefined;
  const limit = parseDuration(timeout, origin);
  if (limit > 0) return limit;
  throw new DlxConfigurationError(`${origin}: 0 is no time at all; leave it out to wait without a limit of its own`);
}

/** The delay of an event. The option of `emit` takes precedence over that of the record. @returns milliseconds, 0 for none */
export function delayAsked(data: unknown, { delay }: EmitOptions): number {
  if (delay !== undefined) return parseDelay(delay, 'delay of emit');
  return data instanceof DlxRecord ? (data.delay ?? 0) : 0;
}
