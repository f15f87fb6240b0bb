import type { Backend, Publication } from '../../backends/index.js';
import { DlxConfigurationError, flag, optionsOf, parseDuration, text } from '../../platform/options/index.js';
import type { Envelope } from '../decorators/envelope.js';
import type { OutboxScope } from '../features/outbox/scope.js';
import type { LoggingOptions } from '../log/logging.js';
import { parseDelay, type WaitQueueType } from '../retry/index.js';
import type { SafeTracing } from '../tracing/index.js';
import type { StartGate } from './client-state.js';
import { DlxRecord } from './record-builder.js';
import type { SharedReplyChannel } from './shared-reply-channel.js';

/** Where a client publishes. */
export interface DlxClientOptions {
  readonly backend: Backend;
  /** The exchange of events. Default `dlx.events`. */
  readonly events?: string;
  /** The exchange of requests. Default `dlx.requests`. */
  readonly requests?: string;
  /** The type of the wait queues for delayed events, on a broker without delayed exchanges. */
  readonly waitQueueType?: WaitQueueType;
  /** `nest`: writes packets of Nest's RabbitMQ transport, and reads its replies. Default `none`: the body is the data. */
  readonly envelope?: Envelope;
  /** The queue to which packets go, in place of exchanges. */
  readonly queue?: string;
  /** Spans of publishes. Default: none. */
  readonly tracing?: SafeTracing | undefined;
  /** Finds the outbox of the running handler. Default: none, and events are published at once. */
  readonly outboxes?: OutboxScope | undefined;
  /** @internal The channel of the client that made this one. Default: a channel of its own. */
  readonly replies?: SharedReplyChannel;
  /** @internal Holds back what is published before the start. Default: nothing is. */
  readonly gate?: StartGate | undefined;
  /** How lines are logged. Default: as sentences. */
  readonly logging?: LoggingOptions;
}

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
const emitOptions = ['delay', 'messageId', 'outbox', 'timeout'] as const;

/** @throws DlxConfigurationError */
export function checkEmitOptions(options: EmitOptions): void {
  const remedy = "write { delay: '10m' }";
  const { messageId, outbox } = optionsOf<EmitOptions>(options, 'options of emit', remedy, emitOptions);
  if (messageId !== undefined) text.read(messageId, 'messageId of emit');
  if (outbox !== undefined) flag.read(outbox, 'outbox of emit');
}

/** The event with the time limit that its options name. @throws DlxConfigurationError */
export function limitedBy({ timeout }: EmitOptions, event: Publication): Publication {
  const limit = timeLimit(timeout, 'timeout of emit');
  return limit === undefined ? event : { ...event, timeout: limit };
}

/** Reads the time limit of a call. @throws DlxConfigurationError */
function timeLimit(timeout: number | string | undefined, origin: string): number | undefined {
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

/** How a request is sent. */
export interface SendOptions {
  /**
   * How long the client waits for the first answer: milliseconds or `'5s'`. Then the request fails with a RequestTimeoutError, or
   * with a ConnectionLostError if the client is not connected. If it still waits in its queue, it expires there, and no handler gets it.
   */
  readonly timeout?: number | string;
}

export const noSendOptions: SendOptions = {};

/** @returns the timeout in milliseconds; undefined: none @throws DlxConfigurationError */
export function timeoutAsked(options: SendOptions): number | undefined {
  const name = 'options of send';
  const { timeout } = optionsOf<SendOptions>(options, name, "write { timeout: '5s' }", ['timeout']);
  return timeLimit(timeout, 'timeout of send');
}
