import type { AsyncResource } from 'node:async_hooks';
import { HttpException } from '@nestjs/common';
import {
  type Backend,
  type BackendDelivery,
  type Done,
  isReplyAddress,
  UnroutableError,
} from '../../backends/index.js';
import { type FieldTable, longstr, type Message } from '../../engine/message/index.js';
import { describeError, readable } from '../core/failure.js';
import { replyHeader } from '../core/headers.js';
import { encodePayload } from '../core/payload.js';
import { encodeReply, type ReplyKind } from '../features/envelope/packet.js';
import type { Outbox } from '../features/outbox/outbox.js';
import { RpcException } from '../handlers/nest-versions.js';
import { Batch, type InBatch } from './batch.js';
import { requesterWatch, type WatchedRequest } from './requester-watch.js';

/** The answer of a handler cannot be written as JSON. The cause has the reason; the client gets only the text of JSON's error. */
class UnserialisableReplyError extends Error {
  override readonly name = 'UnserialisableReplyError';

  constructor(cause: unknown) {
    super(`the answer cannot be written as JSON${whyOf(cause)}`, { cause: readable(cause) });
  }
}

/** What a handler returned or emitted throws an error when it is looked at, as a revoked proxy does. The cause is that error. */
export class UnreadableValueError extends Error {
  override readonly name = 'UnreadableValueError';

  constructor(cause: unknown) {
    super('a value of the handler cannot be read', { cause: readable(cause) });
  }
}

/** True for a reply of this library; those of other clients have no such header. */
export const hasReplyKind = (message: Message): boolean => message.own.headers?.has(replyHeader) === true;

/** The kind of a reply. A reply without the header (of other clients) is the last one. */
export function replyKindOf(message: Message): ReplyKind {
  const kind = message.own.headers?.get(replyHeader)?.value;
  return kind === 'next' || kind === 'complete' || kind === 'error' ? kind : 'last';
}

const kindHeaders: Readonly<Record<ReplyKind, FieldTable>> = {
  next: new Map([[replyHeader, longstr('next')]]),
  last: new Map([[replyHeader, longstr('last')]]),
  complete: new Map([[replyHeader, longstr('complete')]]),
  error: new Map([[replyHeader, longstr('error')]]),
};

/** The stream of values that a handler returned. */
export interface ReplyStream {
  /** No client waits for the answer any more. */
  gone(): void;
  /** A value could not be sent, so the stream has to stop. */
  faulty(failure: Error): void;
}

/** A value that waits until the end of the tick. */
class LateValue implements InBatch {
  slot = -1;

  constructor(
    readonly publisher: ReplyPublisher,
    readonly value: unknown,
  ) {}
}

/** A message that may be a request. */
interface Arrived {
  readonly delivery: BackendDelivery;
  /** The packet that it is. */
  readonly opened: { readonly wantsAnswer: boolean } | undefined;
  readonly own: AsyncResource;
}

/** Makes the publisher of the replies to each request of a queue. */
export class ReplyPublishers {
  readonly requesters: Batch<WatchedRequest>;
  /** The values of all answers that wait until the end of the tick. */
  readonly late = new Batch<LateValue>(
    (run) => process.nextTick(run),
    (late) => late.publisher.due(late),
  );

  constructor(readonly backend: Backend) {
    this.requesters = requesterWatch(backend);
  }

  /** @returns undefined for a message without an answer */
  for({ delivery, opened, own }: Arrived, handler: { readonly kind: string } | undefined): ReplyPublisher | undefined {
    const { replyTo, correlationId } = delivery.message.own;
    const isWanted = opened === undefined ? handler?.kind === 'request' : opened.wantsAnswer;
    if (replyTo === undefined || !isWanted) return undefined;
    return new ReplyPublisher(this, opened !== undefined, replyTo, correlationId, own);
  }
}

/**
 * Answers one request. A value waits until the end of the tick: if the stream ends with it, both are one reply. `done`
 * of the last reply comes after all others were published.
 */
export class ReplyPublisher implements WatchedRequest {
  #waiting: LateValue | undefined;
  #failure: Error | undefined;
  #failed = false;
  #stream: ReplyStream | undefined;
  #unwatch: (() => void) | undefined;
  #isOver = false;
  #outbox: Outbox | undefined;
  slot = -1;

  constructor(
    private readonly all: ReplyPublishers,
    /** True: replies are packets of Nest. */
    private readonly isPacket: boolean,
    readonly replyTo: string,
    readonly correlationId: string | undefined,
    private readonly own: AsyncResource,
  ) {}

  /** The answer is a stream. It is informed when no client waits for further values. */
  begin(stream: ReplyStream): void {
    this.#stream = stream;
  }

  /** Watches the client from the next turn on, until {@link unwatch}. */
  watch(): void {
    this.all.requesters.add(this);
  }

  unwatch(): void {
    this.#isOver = true;
    this.all.requesters.leave(this);
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
    this.all.late.add(this.#waiting);
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
    this.all.late.leave(waiting);
    return waiting;
  }

  /** Publishes a reply. An unroutable reply is no failure: the reply queue is gone, so no client waits for the reply. */
  #publish(kind: ReplyKind, value: unknown, done: Done): void {
    let payload;
    try {
      payload = this.isPacket ? encodeReply(kind, value) : encodePayload(value);
    } catch (error) {
      return done(new UnserialisableReplyError(error));
    }
    const { contentType, body } = payload;
    const headers = this.isPacket ? undefined : kindHeaders[kind];
    const properties = { contentType, correlationId: this.correlationId, headers };
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
      this.all.backend.publish({ exchange: '', routingKey: this.replyTo, properties, body, mandatory }, settled);
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

/** The text of an error of JSON.stringify. An error of the application's own `toJSON` must not reach clients. */
function whyOf(cause: unknown): string {
  const { message } = describeError(cause);
  if (message.includes('BigInt')) return ': it holds a BigInt';
  return message.startsWith('Converting circular structure') ? ': it is circular' : '';
}

/** The body of an error, as Nest's default filter writes it. */
const errorBody = (message: string) => ({ status: 'error', message });

/**
 * The reply to a request whose handler failed: Nest's exceptions as Nest's default filter writes them, other errors by their
 * message (JSON would write `{}`), and any other thrown value as it is, if JSON can write it.
 */
function errorReply(failure: unknown): unknown {
  try {
    const error = contentOf(failure);
    encodePayload(error);
    return error;
  } catch {
    const { name, message } = describeError(failure);
    return errorBody(message === '' ? name : message);
  }
}

function contentOf(failure: unknown): unknown {
  if (!failure) return errorBody(String(failure)); // a client would not recognise a false value as an error
  if (failure instanceof RpcException) return objectOr(failure.getError(), failure);
  if (failure instanceof HttpException) return objectOr(failure.getResponse(), failure);
  if (failure instanceof Error) return errorBody(describeError(failure).message);
  if (typeof failure === 'function' || typeof failure === 'symbol') return errorBody(describeError(failure).message);
  return failure;
}

const objectOr = (content: unknown, error: Error): unknown =>
  typeof content === 'object' && content !== null ? content : errorBody(error.message);
