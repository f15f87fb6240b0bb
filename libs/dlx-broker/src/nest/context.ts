import { BaseRpcContext } from '@nestjs/microservices/ctx-host/base-rpc.context.js';
import { type BackendDelivery } from '../backend/index.js';
import { type Address, fromFieldTable, type Message, type Plain, type Properties } from '../message/index.js';
import {
  attemptOf,
  failingSince,
  isQueueItself,
  type NotedError,
  notedErrorOf,
  publishedTo,
} from '../history/index.js';
import { readDeaths, type XDeath } from '../streams/index.js';
import { readable } from './failure.js';
import { dlxHeaders } from './headers.js';

/**
 * The routing key a message was published with, also after it came back from a wait queue: there the default exchange
 * brings it by the name of the queue.
 */
export const patternOf = (message: Message, queue: string): string => arrivedBy(message, queue).routingKey;

const arrivedBy = (message: Message, queue: string): Address =>
  isQueueItself(message, queue) ? publishedTo(message, queue) : message;

/** A handler with what was worked out for it, as contexts know it. */
export interface ContextPlan {
  readonly retry: { readonly attempts: number } | undefined;
}

/** Settles what a handler under a retry policy settles by hand: each return of the message uses an attempt. */
export interface SettledByHand {
  rejected(delivery: BackendDelivery, planned: ContextPlan): void;
  requeued(delivery: BackendDelivery, planned: ContextPlan): void;
}

/**
 * The context of a handler, by `@Ctx()`: its message and how to settle it. Everything is worked out when it is asked
 * for.
 */
export class DlxContext extends BaseRpcContext<[BackendDelivery]> {
  #headers: Readonly<Record<string, Plain>> | undefined;
  #properties: Properties | undefined;
  #deaths: readonly XDeath[] | undefined;
  #failed = false;
  #failure: unknown;
  #hooked = false;
  #planned: ContextPlan | undefined;
  #byHand: SettledByHand | undefined;
  #settled = false;
  #abort: AbortController | undefined;
  #aborted: { readonly reason: unknown } | undefined;

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

  /** The queue it came from. */
  get queue(): string {
    return this.args[0].queue;
  }

  get redelivered(): boolean {
    return this.args[0].redelivered;
  }

  /**
   * The routing key the message came to its work queue with: the same on each attempt, where `message.routingKey` is the name
   * of the queue after a wait.
   */
  get routingKey(): string {
    return this.#address().routingKey;
  }

  /** The exchange the message came to its work queue through: the same on each attempt. */
  get exchange(): string {
    return this.#address().exchange;
  }

  #address(): Address {
    return arrivedBy(this.message, this.queue);
  }

  /** An object without a prototype: names come from the wire. */
  get headers(): Readonly<Record<string, Plain>> {
    return (this.#headers ??= fromFieldTable(this.properties.headers));
  }

  /** The history of deaths, newest first. */
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

  /** The error of the previous attempt, from the headers of the message. */
  get lastError(): NotedError | undefined {
    return notedErrorOf(this.message);
  }

  /** The time of the first failure. */
  get failingSince(): Date | undefined {
    const time = failingSince(this.message);
    return time === undefined ? undefined : new Date(time);
  }

  /** Aborted when the attempt took longer than its policy's `timeout`, with a {@link HandlerTimeoutError}. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#aborted !== undefined) this.#abort.abort(this.#aborted.reason);
    }
    return this.#abort.signal;
  }

  /** The routing key it was published with. */
  getPattern(): string {
    return patternOf(this.message, this.queue);
  }

  /** What a dispatch hook of the client attached (`ClientProxy.setOnDispatchHook`). */
  getMetadata(): Readonly<Record<string, string>> | undefined {
    const field = this.message.own.headers?.get(dlxHeaders.metadata);
    return field?.type === 'F' ? (fromFieldTable(field.value) as Readonly<Record<string, string>>) : undefined;
  }

  /** Acks the message now; the outcome of the handler has no effect any more. */
  ack(): void {
    if (!this.#settled) this.args[0].ack();
  }

  /**
   * Dead-letters the message, or drops it if its queue has no dead-letter exchange. Under a retry policy there is no further
   * attempt: without a dead-letter exchange of its own the message is parked.
   */
  reject(): void {
    if (this.isSettled) return;
    if (this.#byHand === undefined || this.#planned === undefined) return this.args[0].reject();
    this.#settled = true;
    this.#byHand.rejected(this.args[0], this.#planned);
  }

  /**
   * Back to its place in the queue; without a delay it comes again at once. Under a retry policy it uses an attempt, comes
   * back behind what waits in the queue, and is parked after the last attempt.
   */
  requeue(): void {
    if (this.isSettled) return;
    if (this.#byHand === undefined || this.#planned === undefined) return this.args[0].requeue();
    this.#settled = true;
    this.#byHand.requeued(this.args[0], this.#planned);
  }

  /** Whether the handler settled the message by hand, or the broker took it back. */
  get isSettled(): boolean {
    return this.#settled || this.args[0].settled;
  }

  /** @internal @param byHand what settles a message under a retry policy; undefined: without a policy */
  plan(planned: ContextPlan, byHand: SettledByHand | undefined): void {
    this.#planned = planned;
    this.#byHand = byHand;
  }

  /** @internal */
  abort(reason: unknown): void {
    this.#aborted = { reason };
    this.#abort?.abort(reason);
  }

  /** @internal The pre-request hook was here. */
  markHooked(): void {
    this.#hooked = true;
  }

  /** @internal */
  get hooked(): boolean {
    return this.#hooked;
  }

  /** @internal Remembers the error as it was thrown, before exception filters replace it. */
  capture(error: unknown): void {
    this.#failed = true;
    this.#failure = readable(error);
  }

  /** @internal The error as it was thrown, or else what came out of the filters. */
  failureOr(filtered: unknown): unknown {
    return this.#failed ? this.#failure : readable(filtered);
  }
}
