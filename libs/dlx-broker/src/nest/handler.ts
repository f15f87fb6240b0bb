import type { BackendDelivery } from '../backend/index.js';
import type { RetryPlan } from '../retry/index.js';

import type { HandlerSettings } from './handler-settings.js';
import type { Circuit } from './circuit/circuit.js';
import type { SafeProcess } from '../tracing/index.js';
import type { DlxContext } from './context.js';
import type { Replies } from './replies.js';

/** A method that handles messages, by a pattern of Nest or by `@Consume`. */
export interface Handler {
  /** Class and method: `OrdersController.created`. */
  readonly origin: string;
  /** `event` by `@EventPattern`, `request` by `@MessagePattern`, `consume` by `@Consume`. */
  readonly kind: 'event' | 'request' | 'consume';
  /** Routing keys; for `event` and `consume` with wildcards. Empty: all messages of its queue. */
  readonly patterns: readonly string[];
  readonly settings: HandlerSettings;
  invoke(data: unknown, context: DlxContext): Promise<unknown>;
}

/** A handler with its queue, its retry plan and its settings. */
export interface PlannedHandler {
  readonly handler: Handler;
  readonly queue: string;
  readonly retry: RetryPlan | undefined;
  /** The circuit of the services that it needs. All handlers of a queue have the same. */
  readonly circuit?: Circuit | undefined;
}

/** A message that a handler is handling. */
export interface Handling {
  readonly delivery: BackendDelivery;
  readonly planned: PlannedHandler;
  readonly context: DlxContext;
  /** The replies to a request; undefined for other messages. */
  readonly replies: Replies | undefined;
  /** The epoch of its circuit when it began; undefined without a circuit. */
  readonly epoch?: number | undefined;
  /** The span of the attempt; undefined without tracing. */
  span: SafeProcess | undefined;
  /** When the handler began, in milliseconds since 1970; undefined if errors have no history. */
  begunAt?: number | undefined;
}

/**
 * How a handler ended. `failure` is the result of Nest's filters, for the client of a request. `isBusy`: the handler was not called,
 * because a duplicate of the message is being handled.
 */
export type Outcome =
  { readonly failed: false; readonly isBusy?: true } | { readonly failed: true; readonly failure: unknown };

/** Called with the outcome of a handler. */
export type End = (outcome: Outcome) => void;

export const succeeded: Outcome = { failed: false };
export const busy: Outcome = { failed: false, isBusy: true };
