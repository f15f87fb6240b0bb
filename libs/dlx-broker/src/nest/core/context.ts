import type { BackendDelivery, Done } from '../../backends/index.js';
import { type Address, fromFieldTable, type Message, type Plain, type Properties } from '../../engine/message/index.js';
import {
  attemptOf,
  type ErrorEntry,
  failingSince,
  isQueueItself,
  notedErrorOf,
  publishedTo,
  readHistory,
  stateOf,
  traceContextIn,
  traceHeaders,
  withTraceContext,
} from '../../platform/history/index.js';
import { readDeaths, type XDeath } from '../streams/index.js';
import { readable } from './failure.js';
import { textsOf } from './headers.js';
import { areErrorsHandledBefore, BaseRpcContext } from '../handlers/nest-versions.js';

/**
 * The routing key with which a message was published. After a wait queue the message itself has the name of its work queue as
 * routing key.
 */
export const patternOf = (message: Message, queue: string): string => arrivedBy(message, queue).routingKey;

const arrivedBy = (message: Message, queue: string): Address =>
  isQueueItself(message, queue) ? publishedTo(message, queue) : message;

/** What a context needs of the plan of its handler. */
export interface ContextPlan {
  readonly retry: { readonly attempts: number } | undefined;
}

/** Settles a message that a handler under a retry policy settles by hand. A requeue uses an attempt. */
export interface SettledByHand {
  byHand(how: 'reject' | 'requeue', delivery: BackendDelivery, planned: ContextPlan): void;
}

/** What a handler emits, as long as it leaves with the ack of the message. */
interface Collected {
  readonly count: number;
  readonly bytes: number;
  readonly outbox: {
    /** False once it was committed or dropped. */
    readonly isOpen: boolean;
    commit(delivery: BackendDelivery, done: Done): void;
    drop(): void;
  };
}

/**
 * The context of a handler, by `@Ctx()`: its message and how to settle it. Values are calculated when they are read.
 */
export class DlxContext extends BaseRpcContext<[BackendDelivery]> {
  #headers: Readonly<Record<string, Plain>> | undefined;
  #properties: Properties | undefined;
  #deaths: readonly XDeath[] | undefined;
  #errors: readonly ErrorEntry[] | undefined;
  #failed = false;
  #failure: unknown;
  #hooked = false;
  #planned: ContextPlan | undefined;
  #byHand: SettledByHand | undefined;
  #outbox: Collected | undefined;
  #settled = false;
  #abort: AbortController | undefined;
  #aborted: { readonly reason: unknown } | undefined;
  /** @internal When its handler began, in milliseconds since 1970; undefined if none did. */
  begunAt: number | undefined;

  /** @internal */
  constructor(delivery: BackendDelivery) {
    super([delivery]);
  }

  get message(): Message {
    return this.args[0].message;
  }

  get properties(): Properties {
    return (this.#properties ??= this.args[0].message.properties);
  }

  /** The queue that delivered the message. */
  get queue(): string {
    return this.args[0].queue;
  }

  get redelivered(): boolean {
    return this.args[0].redelivered;
  }

  /**
   * The routing key with which the message came to its work queue. It is the same on each attempt; `message.routingKey` is the name
   * of the queue after a wait.
   */
  get routingKey(): string {
    return this.getPattern();
  }

  /** The exchange from which the message came to its work queue. It is the same on each attempt. */
  get exchange(): string {
    return arrivedBy(this.message, this.queue).exchange;
  }

  /** The headers as plain values. The object has no prototype, because the names come from the wire. */
  get headers(): Readonly<Record<string, Plain>> {
    return (this.#headers ??= fromFieldTable(this.properties.headers));
  }

  /** The deaths since the message was published or redriven, the latest first: those of earlier attempts, too. */
  get deaths(): readonly XDeath[] {
    return (this.#deaths ??= readDeaths(this.args[0].message));
  }

  /** 1 the first time this handler's queue delivers the message, one more after every failure. */
  get attempt(): number {
    return attemptOf(this.message, this.queue);
  }

  /** How many attempts its retry policy allows; undefined without one. */
  get attempts(): number | undefined {
    return this.#planned?.retry?.attempts;
  }

  /** True if there is no further attempt: there is no policy, or this is its last attempt. */
  get isLastAttempt(): boolean {
    const attempts = this.attempts;
    return attempts === undefined || this.attempt >= attempts;
  }

  /**
   * What an earlier attempt left by `new RetryLater(delay, { state })`; undefined if none did. It is a value of JSON, and no proof: a
   * publisher may have written it.
   */
  get state(): unknown {
    return stateOf(this.message, this.queue);
  }

  /** The class and the text of the error of the previous attempt, from the headers of the message. */
  get lastError(): { readonly name: string; readonly message: string } | undefined {
    return notedErrorOf(this.message);
  }

  /**
   * The errors of earlier attempts, the latest first, from the headers of the message (option `errorHistory`). Entries between the first
   * and the latest ones may be missing.
   */
  get errors(): readonly ErrorEntry[] {
    return (this.#errors ??= readHistory(this.message.own.headers).errors);
  }

  /** The time of the first failure since the message was published or redriven; undefined if it never failed. */
  get failingSince(): Date | undefined {
    const time = failingSince(this.message, this.queue);
    return time === undefined ? undefined : new Date(time);
  }

  /**
   * Aborted when the attempt took longer than its policy's `timeout` or the consumer timeout of the server, with a
   * {@link HandlerTimeoutError}; and when the message returned to its queue because the connection was lost.
   */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#aborted !== undefined) this.#abort.abort(this.#aborted.reason);
    }
    return this.#abort.signal;
  }

  /** The routing key with which the message was published. */
  getPattern(): string {
    return patternOf(this.message, this.queue);
  }

  /**
   * The metadata that a dispatch hook of the client attached (`ClientProxy.setOnDispatchHook`). `traceparent`, `tracestate` and
   * `baggage` are those of the message's own headers if it has them, whichever client wrote them.
   */
  getMetadata(): Readonly<Record<string, string>> | undefined {
    return withTraceContext(this.dispatched(), traceContextIn(this.message.own.headers));
  }

  /** @internal The metadata that travels with the message. */
  dispatched(): Readonly<Record<string, string>> | undefined {
    const field = this.message.own.headers?.get(traceHeaders.metadata);
    return field?.type === 'F' ? textsOf(fromFieldTable(field.value)) : undefined;
  }

  /**
   * Acks the message now; the outcome of the handler has no effect any more. With an outbox (`@Outbox()`) what was emitted so far is
   * published with the ack, and nothing can be emitted afterwards; if that fails, the message is not settled, and the attempt fails.
   */
  ack(): void {
    if (this.#settled) return;
    const [delivery] = this.args;
    const outbox = this.#outbox?.outbox;
    if (outbox === undefined) {
      const isOver = delivery.settled;
      delivery.ack();
      this.#settled = !isOver;
      return;
    }
    if (!outbox.isOpen || delivery.settled) return; // its commit failed, or the attempt is over: an ack would lose what was emitted
    this.#settled = true;
    outbox.commit(delivery, (failure) => {
      if (failure !== undefined) this.#settled = false;
    });
  }

  /** How many events the outbox of the handler holds, and their bytes; undefined for a handler without an outbox. */
  get outbox(): { readonly count: number; readonly bytes: number } | undefined {
    return this.#outbox;
  }

  /**
   * Dead-letters the message, or drops it if its queue has no dead-letter exchange. Under a retry policy there is no further
   * attempt: without a dead-letter exchange of its own the message is parked.
   */
  reject(): void {
    this.#leave('reject');
  }

  /**
   * Returns the message to its place in the queue, from where it is delivered again at once. Under a retry policy a requeue uses an
   * attempt, the message goes to the back of its queue, and after the last attempt it is parked.
   */
  requeue(): void {
    this.#leave('requeue');
  }

  #leave(how: 'reject' | 'requeue'): void {
    if (this.isSettled) return;
    const [delivery] = this.args;
    this.#outbox?.outbox.drop();
    if (this.#byHand === undefined || this.#planned === undefined) {
      delivery[how]();
      this.#settled = true;
    } else {
      this.#settled = true;
      this.#byHand.byHand(how, delivery, this.#planned);
    }
  }

  /** True if the handler settled the message by hand, or the message returned to its queue. */
  get isSettled(): boolean {
    return this.#settled || this.args[0].settled;
  }

  /** @internal False for a message that returned to its queue because its connection was lost. */
  get isSettledByHand(): boolean {
    return this.#settled;
  }

  /** @internal @param byHand settles the message under a retry policy; undefined without a policy */
  plan(planned: ContextPlan, byHand: SettledByHand | undefined): void {
    this.#planned = planned;
    this.#byHand = byHand;
  }

  /** @internal What the handler emits is collected here. */
  collect(collected: Collected): void {
    this.#outbox = collected;
  }

  /** @internal */
  get isAborted(): boolean {
    return this.#aborted !== undefined;
  }

  /** @internal */
  abort(reason: unknown): void {
    this.#aborted = { reason };
    this.#abort?.abort(reason);
  }

  /** @internal The pre-request hook was called for this message. */
  markHooked(): void {
    this.#hooked = true;
  }

  /** @internal True if errors of the handler are noted: by the pre-request hook, or, on Nest 11, before Nest handles them. */
  get hooked(): boolean {
    return this.#hooked || areErrorsHandledBefore();
  }

  /** @internal Remembers the error as it was thrown, before exception filters replace it. */
  capture(error: unknown): void {
    this.#failed = true;
    this.#failure = readable(error);
  }

  /** @internal The error as it was thrown; if it was not captured, the result of the filters. */
  failureOr(filtered: unknown): unknown {
    return this.#failed ? this.#failure : readable(filtered);
  }
}
