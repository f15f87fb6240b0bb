import type { AsyncResource } from 'node:async_hooks';
import { isReplyAddress, UnroutableError, type Backend, type Done } from '../../backends/index.js';
import { longstr, type FieldTable, type Message } from '../../engine/message/index.js';
import type { Requesters, OpenAnswer } from './requesters.js';
import { Batch, type InBatch } from './batch.js';
import { errorReply, UnserialisableReplyError } from './error-reply.js';
import { dlxHeaders } from '../core/headers.js';
import type { Outbox } from '../features/outbox/outbox.js';
import { type EncodedPayload, encodePayload } from '../core/payload.js';

/** The part of an answer that a reply has. A reply without the header (of other clients) is the last one. */
export type ReplyKind = 'next' | 'last' | 'complete' | 'error';

/** True for a reply of this library; those of other clients have no such header. */
export const hasReplyKind = (message: Message): boolean => message.own.headers?.has(dlxHeaders.reply) === true;

export function replyKindOf(message: Message): ReplyKind {
  const kind = message.own.headers?.get(dlxHeaders.reply)?.value;
  return kind === 'next' || kind === 'complete' || kind === 'error' ? kind : 'last';
}

const kindHeaders: Readonly<Record<ReplyKind, FieldTable>> = {
  next: new Map([[dlxHeaders.reply, longstr('next')]]),
  last: new Map([[dlxHeaders.reply, longstr('last')]]),
  complete: new Map([[dlxHeaders.reply, longstr('complete')]]),
  error: new Map([[dlxHeaders.reply, longstr('error')]]),
};

/** The stream of values that a handler returned. */
export interface AnswerStream {
  /** No client waits for the answer any more. */
  gone(): void;
  /** A value could not be sent, so the stream has to stop. */
  faulty(failure: Error): void;
}

/** A value that waits until the end of the tick. */
class LateValue implements InBatch {
  slot = -1;

  constructor(
    readonly replies: Replies,
    readonly value: unknown,
  ) {}
}

/** The values of all answers that wait until the end of the tick. */
export type LateValues = Batch<LateValue>;

export const lateValues = (): LateValues =>
  new Batch(
    (run) => process.nextTick(run),
    (late) => late.replies.due(late),
  );

/**
 * Answers one request. A value waits until the end of the tick: if the stream ends with it, both are one reply. `done`
 * of the last reply comes after all others were published.
 */
export class Replies implements OpenAnswer {
  #waiting: LateValue | undefined;
  #failure: Error | undefined;
  #failed = false;
  #stream: AnswerStream | undefined;
  #unwatch: (() => void) | undefined;
  #isOver = false;
  #outbox: Outbox | undefined;
  slot = -1;

  constructor(
    private readonly backend: Backend,
    private readonly requesters: Requesters,
    private readonly late: LateValues,
    readonly replyTo: string,
    readonly correlationId: string | undefined,
    private readonly own: AsyncResource,
  ) {}

  /** The answer is a stream. It is informed when no client waits for further values. */
  begin(stream: AnswerStream): void {
    this.#stream = stream;
  }

  /** Watches the client from the next turn on, until {@link unwatch}. */
  watch(): void {
    this.requesters.add(this);
  }

  unwatch(): void {
    this.#isOver = true;
    this.requesters.leave(this);
    this.#unwatch?.();
  }

  inOwnContext(begin: () => void): void {
    this.own.runInAsyncScope(begin);
  }

  watched(unwatch: () => void): void {
    if (this.#isOver) unwatch();
    else this.#unwatch = unwatch;
  }

  gone(): void {
    this.own.runInAsyncScope(() => this.#stream?.gone());
  }

  next(value: unknown): void {
    if (this.#failure !== undefined) return;
    this.#flush();
    this.#waiting = new LateValue(this, value);
    this.late.add(this.#waiting);
  }

  /** @internal The tick has ended. */
  due(late: LateValue): void {
    if (this.#waiting === late) this.own.runInAsyncScope(() => this.#flush());
  }

  complete(done: Done): void {
    const waiting = this.#takeWaiting();
    if (this.#failure !== undefined) return done(this.#failure);
    if (waiting === undefined) this.#publish('complete', undefined, done);
    else this.#publish('last', waiting.value, done);
  }

  /** Sends the only value of the answer. */
  only(value: unknown, done: Done): void {
    this.#publish(value === undefined ? 'complete' : 'last', value, done);
  }

  /** The last reply is published by a commit, with the events of the handler. */
  hold(outbox: Outbox): void {
    this.#outbox = outbox;
  }

  /** Sends an error, once. */
  error(error: unknown, done: Done): void {
    if (this.#failed) return done();
    this.#failed = true;
    this.#flush();
    this.#publish('error', errorReply(error), done);
  }

  protected headersOf(kind: ReplyKind): FieldTable | undefined {
    return kindHeaders[kind];
  }

  /** Writes a reply. @throws what `JSON.stringify` throws */
  protected encode(_kind: ReplyKind, value: unknown): EncodedPayload {
    return encodePayload(value);
  }

  #flush(): void {
    const waiting = this.#takeWaiting();
    if (waiting === undefined) return;
    this.#publish('next', waiting.value, (failure) => {
      if (failure === undefined) return;
      this.#failure ??= failure;
      this.#stream?.faulty(failure);
    });
  }

  #takeWaiting(): LateValue | undefined {
    const waiting = this.#waiting;
    if (waiting === undefined) return undefined;
    this.#waiting = undefined;
    this.late.leave(waiting);
    return waiting;
  }

  /** Publishes a reply. An unroutable reply is no failure: the reply queue is gone, so no client waits for the reply. */
  #publish(kind: ReplyKind, value: unknown, done: Done): void {
    let payload;
    try {
      payload = this.encode(kind, value);
    } catch (error) {
      return done(new UnserialisableReplyError(error));
    }
    const { contentType, body } = payload;
    const properties = { contentType, correlationId: this.correlationId, headers: this.headersOf(kind) };
    const outbox = kind === 'last' || kind === 'complete' ? this.#outbox : undefined;
    if (outbox?.isOpen === true) {
      const dropped = (): void => this.gone();
      outbox.holdReply({ exchange: '', routingKey: this.replyTo, properties, body, mandatory: false, dropped });
      return done(this.#failure);
    }
    if (outbox?.failure !== undefined) return done(outbox.failure);
    // A mandatory reply to a direct reply-to address is always returned (rule S2).
    const mandatory = !isReplyAddress(this.replyTo);
    const settled: Done = (failure) => {
      if (failure instanceof UnroutableError) {
        done(this.#failure);
        this.gone();
      } else done(failure ?? this.#failure);
    };
    try {
      // A literal: a copy with another property takes V8 longer than all of the rest.
      this.backend.publish({ exchange: '', routingKey: this.replyTo, properties, body, mandatory }, settled);
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  }
}
