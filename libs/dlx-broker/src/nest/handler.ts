import type { BackendDelivery } from '../backend/index.js';
import type { RetryPlan } from '../retry/index.js';

import type { HandlerSettings } from './handler-settings.js';
import type { DlxContext } from './context.js';
import type { Replies } from './replies.js';

/** A method that handles messages, of Nest or of `@Consume`. */
export interface Handler {
  /** Class and method: `OrdersController.created`. */
  readonly origin: string;
  /** `event` by `@EventPattern`, `request` by `@MessagePattern`, `consume` by our own decorator. */
  readonly kind: 'event' | 'request' | 'consume';
  /** Routing keys; for `event` and `consume` with wildcards. Empty: it takes whatever its queue holds. */
  readonly patterns: readonly string[];
  readonly settings: HandlerSettings;
  invoke(data: unknown, context: DlxContext): Promise<unknown>;
}

/** A handler with all that was worked out for it. */
export interface PlannedHandler {
  readonly handler: Handler;
  readonly queue: string;
  readonly retry: RetryPlan | undefined;
}

/** A message in a handler's hands. */
export interface Handling {
  readonly delivery: BackendDelivery;
  readonly planned: PlannedHandler;
  readonly context: DlxContext;
  /** Of a request whose caller waits for an answer. */
  readonly replies: Replies | undefined;
}

/** How a handler ended: `failure` is what came out of Nest's filters, for the caller of a request. */
export type Outcome = { readonly failed: false } | { readonly failed: true; readonly failure: unknown };

/** Takes the outcome of a handler. */
export type End = (outcome: Outcome) => void;

export const succeeded: Outcome = { failed: false };
