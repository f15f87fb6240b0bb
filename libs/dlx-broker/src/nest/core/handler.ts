import type { AsyncResource } from 'node:async_hooks';
import type { BackendDelivery } from '../../backends/index.js';
import type { RetryPlan } from '../retry/index.js';

import type { HandlerSettings } from './handler-settings.js';
import type { Circuit } from '../features/circuit/circuit.js';
import type { SafeProcess } from '../tracing/index.js';
import type { DlxContext } from './context.js';
import type { DiscoveredMethod } from './explorer.js';
import type { OutboxPlan } from '../features/outbox/collector.js';
import type { Outbox } from '../features/outbox/outbox.js';
import type { ReplyPublisher } from '../client/reply-publisher.js';

/** A method that handles messages, by a pattern of Nest or by `@Consume`. */
export interface Handler {
  /** Class and method: `OrdersController.created`. */
  readonly origin: string;
  /** `event` by `@EventPattern`, `request` by `@MessagePattern`, `consume` by `@Consume`. */
  readonly kind: 'event' | 'request' | 'consume';
  /** Routing keys; for `event` and `consume` with wildcards. Empty: all messages of its queue. */
  readonly patterns: readonly string[];
  readonly settings: HandlerSettings;
  /** Its class, and the module that has it; undefined if they are unknown. */
  readonly method?: Pick<DiscoveredMethod, 'hostedBy' | 'module' | 'inController'> | undefined;
  invoke(data: unknown, context: DlxContext): Promise<unknown>;
}

/** A handler with its queue, its retry plan and its settings. */
export interface PlannedHandler {
  readonly handler: Handler;
  readonly queue: string;
  readonly retry: RetryPlan | undefined;
  /** The circuit of the services that it needs. All handlers of a queue have the same. */
  readonly circuit?: Circuit | undefined;
  /** The limits of its outbox; undefined: what it emits is published at once. */
  readonly outbox: OutboxPlan | undefined;
}

/** A message that a handler is handling. */
export interface Handling {
  readonly delivery: BackendDelivery;
  readonly planned: PlannedHandler;
  readonly context: DlxContext;
  /** The replies to a request; undefined for other messages. */
  readonly replies: ReplyPublisher | undefined;
  /** The epoch of its circuit when it began; undefined without a circuit. */
  readonly epoch?: number | undefined;
  /** The async context of the message. */
  readonly own?: AsyncResource | undefined;
  /** The span of the attempt; undefined without tracing. */
  span: SafeProcess | undefined;
  /** When the handler began, in milliseconds since 1970; undefined if errors have no history. */
  begunAt?: number | undefined;
  /** What the handlers of the message emitted; undefined without an outbox. */
  outbox?: Outbox | undefined;
  /** The handlers of the message that share the outbox; undefined if the message has one handler. */
  group?: HandlerGroup | undefined;
}

/**
 * How a handler ended. `failure` is the result of Nest's filters, for the client of a request. `isBusy`: the handler was not called,
 * because a duplicate of the message is being handled. `isUndone`: the message returned to its queue before what the handler emitted
 * could be published.
 */
export type Outcome =
  | { readonly failed: false; readonly isBusy?: true; readonly isUndone?: true }
  | { readonly failed: true; readonly failure: unknown };

/** Called with the outcome of a handler. */
export type End = (outcome: Outcome) => void;

export const succeeded: Outcome = { failed: false };
export const busy: Outcome = { failed: false, isBusy: true };
export const undone: Outcome = { failed: false, isUndone: true };

/** One of several handlers of a message with an outbox. */
export interface GroupMember {
  /** Its attempt has ended. @param then called when the message is committed, or will not be */
  arrive(outcome: Outcome, then: End): void;
  /** To be called with its outcome at last, also if its attempt was never begun. */
  readonly end: End;
}

/** Several handlers of a message with an outbox. */
export interface HandlerGroup {
  /** @param end called with the outcome of one handler */
  member(end: End): GroupMember;
}
