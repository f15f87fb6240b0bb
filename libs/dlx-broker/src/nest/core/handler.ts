import type { AsyncResource } from 'node:async_hooks';
import type { Backend, BackendDelivery } from '../../backends/index.js';
import { matchesPattern } from '../../backends/topology/index.js';
import type { ReplyPublisher } from '../client/reply-publisher.js';
import type { DiscoveredMethod } from '../handlers/explorer.js';
import { parkingLotOf, type RetryPlan } from '../retry/index.js';
import type { DlxContext } from './context.js';
import type { HandlerSettings } from './handler-settings.js';

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

/** True if the queue of a handler is deleted without its consumer: it may be that of one process, under a name of its own. */
export const endsAlone = ({ settings: { queue, queueArguments } }: Pick<Handler, 'settings'>): boolean =>
  queue.exclusive === true || queue.autoDelete === true || queueArguments.has('x-expires');

/**
 * The parking lot of a handler that names none. It is named after the queue, and after the handler if the queue ends alone: each start of
 * a process would leave a parking lot behind.
 */
export const lotOf = (handler: Pick<Handler, 'settings' | 'origin'>, queue: string): string =>
  parkingLotOf(endsAlone(handler) ? handler.origin : queue);

/** A handler with its queue, its retry plan and its settings. */
export interface PlannedHandler {
  readonly handler: Handler;
  readonly queue: string;
  readonly retry: RetryPlan | undefined;
  /** The gate of its queue. */
  readonly gate?: Gate | undefined;
  /** Calls the handler; undefined: by its own function. */
  readonly invoke?: Handler['invoke'] | undefined;
  /** The steps around its attempts; undefined without any. */
  readonly step?: Step | undefined;
}

/** A message that has come from its queue. */
export interface Arrival {
  readonly delivery: BackendDelivery;
  /** The async context of the message. */
  readonly own: AsyncResource;
  /** Undefined if its body is the data itself. */
  readonly opened: Opened | undefined;
}

/** A message that a handler is handling. */
export interface Handling {
  readonly delivery: BackendDelivery;
  readonly planned: PlannedHandler;
  readonly context: DlxContext;
  /** The replies to a request; undefined for other messages. */
  readonly replies: ReplyPublisher | undefined;
}

/**
 * How a handler ended. `failure` is the result of Nest's filters, for the client of a request. `skipped`: the handler was not called,
 * because the message was handled before (`done`), or has to come again soon, as the same attempt (`busy`). `isUndone`: the message
 * returned to its queue before all that belongs to the attempt was done. `isAcked`: a step has acked the message.
 */
export type Outcome =
  | {
      readonly failed: false;
      readonly skipped?: 'done' | 'busy';
      readonly isUndone?: true;
      readonly isAcked?: true;
    }
  | { readonly failed: true; readonly failure: unknown };

export const succeeded: Outcome = { failed: false };
export const undone: Outcome = { failed: false, isUndone: true };
/** The attempt succeeded, and a step has acked the message. */
export const acked: Outcome = { failed: false, isAcked: true };

/** The outcome of an attempt that failed by this error. */
export function failedBy(failure: unknown, context: DlxContext): Outcome {
  context.capture(failure);
  return { failed: true, failure };
}

/** An attempt of a handler, as its steps know it. */
export interface Attempt extends Handling {
  readonly data: unknown;
  /** The attempts of all handlers that have the message; undefined if this is the only one. */
  readonly sharing: readonly Attempt[] | undefined;
  /** The outcome of one of several attempts; undefined until all its steps have ended. */
  readonly outcome: Outcome | undefined;
  /** Called with this outcome then. */
  hasEnded: ((outcome: Outcome) => void) | undefined;
  /** Set by a step whose async context is for the handler, and not for those that hear of the outcome. */
  leave: ((then: () => void) => void) | undefined;
  /** True when the call of the handler has ended. */
  readonly isOver: boolean;
  /** Ends the call of the handler: what the handler does later has no effect. */
  end(outcome: Outcome): void;
}

/** The steps that follow, and the handler at last. */
export type Next = () => Promise<Outcome>;

/**
 * A step around the attempts of a handler. It calls `next` once, or not at all if the handler shall not get the message, and returns the
 * outcome. What it throws or rejects with is a bug: the message is rescued.
 */
export type Step = (attempt: Attempt, next: Next) => Promise<Outcome>;

/** A message, and the handler that has it or would have it. */
export interface Taken {
  readonly delivery: BackendDelivery;
  readonly planned: PlannedHandler;
  /** The attempt; undefined if no handler had the message. */
  readonly handling?: Handling | undefined;
  /** True if the message was refused before a handler got it. */
  readonly isUnhandled?: true;
}

/** A message whose handler failed. */
export interface Failed extends Taken {
  /** The error as it was thrown. */
  readonly error: unknown;
  /** The result of Nest's filters, for the client of a request. */
  readonly filtered: unknown;
}

/** How many messages a consumer may have in hand: as many as its prefetch, one, or none. */
export type Admission = 'all' | 'one' | 'none';

/** A message is to come again later, as the same attempt. */
export interface Hold {
  /** Milliseconds. */
  readonly wait: number;
  /** True if the hold counts as one: an outage is not counted. */
  readonly isCounted: boolean;
}

/** A message that came while its gate was not open. One of these is called, at once or later. */
export interface AtGate {
  /** The message goes to its handler. */
  run(): void;
  /** The message comes again later. */
  hold(): void;
  /** The message returns to its queue. */
  giveBack(): void;
  /** The application shuts down, and nothing is tried any more. Without it the message just stays unsettled. */
  leave?(): void;
}

/** Decides how many messages the handlers of a queue get, by how they ended. */
export interface Gate {
  readonly admission: Admission;
  /** The most messages that a consumer may have in hand, if that is less than its prefetch. */
  readonly most?: number | undefined;
  /** True: {@link admits} is asked about each message, also while the admission is `all`. */
  readonly asks?: boolean;
  /** The wait of messages that come while the gate is not open, in milliseconds. */
  readonly wait: number;
  /** @returns true if the message goes to its handler now; otherwise a function of it is called */
  admits(message: AtGate): boolean;
  /** Handlers get a message. */
  begin(delivery: BackendDelivery): void;
  /** They have succeeded, which is reported before the message is settled. */
  succeeded(delivery: BackendDelivery): void;
  /** @returns how to hold the message; undefined if its error is an ordinary failure */
  failed(failed: Failed): Hold | undefined;
  /** They have ended, however, and the message is settled if that was possible at once. */
  ended(delivery: BackendDelivery): void;
  /** The milliseconds since a time for which the gate was not open: they count against no deadline of a message. */
  closedSince(time: number): number;
}

/** A message whose body is an envelope. */
export interface Opened {
  readonly data: unknown;
  /** True if a client waits for an answer, whatever the kind of the handler. */
  readonly wantsAnswer: boolean;
  contextOf(delivery: BackendDelivery): DlxContext;
  /** The handlers of the message, of all handlers of its queue. */
  select(handlers: readonly PlannedHandler[]): readonly PlannedHandler[];
}

/** Reads the messages of a queue in another way than by their content type and routing key. */
export interface Reader {
  /** @returns undefined for a body that is the data itself @throws UndecodablePayloadError */
  open?(delivery: BackendDelivery): Opened | undefined;
  /** A handler gets a payload that was not opened. @param handler class and method */
  look?(payload: unknown, delivery: BackendDelivery, handler: string): void;
  /** No handler gets the message, which was not opened. */
  unhandled?(delivery: BackendDelivery, handlers: readonly string[]): void;
}

/** A message for handlers that do not begin at once, and how to handle it. */
export interface Job {
  readonly delivery: BackendDelivery;
  /** The first handler of the message. */
  readonly planned: PlannedHandler;
  readonly payload: unknown;
  /** The async context of the message. */
  readonly own: AsyncResource;
  /** Reads the payload again: an attempt may change it. */
  read(): unknown;
  /** Makes the context of an attempt. */
  contextOf(delivery: BackendDelivery): DlxContext;
  /** Ends a message whose attempts are used up. @returns false for any other */
  exhausted(delivery: BackendDelivery, context: DlxContext): boolean;
  /** Begins an attempt. @param ended called when the handler has ended; it may come later than the settlement, or earlier */
  run(delivery: BackendDelivery, context: DlxContext, payload: unknown, ended: () => void): void;
  /** Ends an attempt whose handler was not called. */
  fail(delivery: BackendDelivery, context: DlxContext, failure: unknown): void;
}

/** The messages of a queue that are in hand: says when their handlers begin, and keeps them between their attempts. */
export interface MessageOrder {
  readonly queue: string;
  readonly atWork: number;
  /** Messages that nothing is done with until time passes or a message comes: 0 while a handler is or could be at work. */
  readonly waiting: number;
  take(job: Job): void;
  /** Starts all messages that may begin, one at a time, or none, as the gate of the queue says. What is at work goes on. */
  admit(admission: Admission): void;
  /** Starts nothing any more. What is at work goes on. */
  stop(): void;
  /** Resolves when no handler is at work. */
  idle(): Promise<void>;
  /** The messages in hand have returned to their queue, or can be settled no more. */
  interrupted(): void;
  /** The consumer has ended: what is not at work returns to the queue, as far as there is one. */
  end(): void;
  /** Nothing is handled any more. */
  close(): void;
}

/** How a queue keeps its messages in hand. */
export interface OrderPlan {
  /** The most messages in hand: the prefetch of the consumer. */
  readonly window: number;
  /** @returns the order of a consumer: `known` with this plan, or a new one */
  of(known: MessageOrder | undefined): MessageOrder;
  /** Refuses times in hand that are too long for a server. @throws DlxConfigurationError */
  check(backend: Backend): void;
}

/** The handlers of a queue that a key selects: patterns of requests are compared as text, others have wildcards. */
export const handlersFor = (handlers: readonly PlannedHandler[], key: string): readonly PlannedHandler[] =>
  handlers.filter(({ handler }) => handles(handler, key));

const handles = ({ patterns, kind }: Handler, key: string): boolean =>
  patterns.length === 0 || patterns.some((pattern) => (kind === 'request' ? pattern === key : fits(pattern, key)));

/** The longest key that is compared with wildcards, in characters. A packet may have a pattern of many megabytes. */
const longestKey = 4_096;

const fits = (pattern: string, key: string): boolean =>
  key.length > longestKey ? pattern === '#' || pattern === key : matchesPattern(pattern, key);
