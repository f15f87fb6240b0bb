import { AsyncResource } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { ReadPacket, WritePacket } from '@nestjs/microservices';
import { AsyncSubject, from, mergeMap, Observable, throwError } from 'rxjs';
import { DelayedPublisher, type WaitQueueType } from '../retry/index.js';

import type { Backend, Done, Publication } from '../backend/index.js';
import type { PublishSpan, SafeTracing } from '../tracing/index.js';
import type { Properties } from '../message/index.js';
import { DlxConfigurationError } from '../options/index.js';
import { takeAnswer } from './answers.js';
import { ClientClosedError, refuseLater } from './client-closed-error.js';
import { checkEmitOptions, delayAsked, type EmitOptions, noOptions } from './emit-options.js';
import { encodeContent } from './encode-content.js';
import { asError, describeError } from './failure.js';
import { EventLog } from './event-log.js';
import { withMetadata } from './headers.js';
import type { LoggingOptions } from './logging.js';
import { Client, type DispatchHook, InvalidMessageException, type OutgoingPacket } from './nest-versions.js';
import { type ClientTarget, checkTarget } from './packets/client-target.js';
import type { Envelope } from './packets/envelope.js';
import { type PendingRequest, PendingRequests } from './pending.js';
import { DlxRecord, recordProperties } from './record-builder.js';
import { type Asker, SharedReplies } from './shared-replies.js';
import { type DlxStatus, followStatus } from './status.js';
import { UnroutableEvents } from './unroutable-events.js';

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
  readonly tracing?: SafeTracing;
  /** How lines are logged. Default: as sentences. */
  readonly logging?: LoggingOptions;
}

/** The ids of a message that the client does not make itself. */
type OwnIds = Pick<Properties, 'messageId' | 'correlationId'>;

/**
 * Publishes events and requests; the pattern is the routing key, the body is the data. Each gets a message id unless it has one. `emit` succeeds when the broker
 * has taken responsibility; to a missing exchange it fails with the broker's text. `send` fails at once when no handler
 * handles the pattern; unsubscribing (by `timeout`, `take` ...) forgets the request.
 */
export class DlxClient extends Client {
  readonly #backend: Backend;
  readonly #delayed: DelayedPublisher;
  readonly #events: string;
  readonly #requests: string;
  readonly #waitQueueType: WaitQueueType | undefined;
  /** True: messages and replies are packets of Nest. */
  readonly #packets: boolean;
  /** The routing key of all messages in place of their patterns. */
  readonly #queue: string | undefined;
  /** Clients made by {@link to}, by their targets. */
  readonly #targets = new Map<string, DlxClient>();
  readonly #log: EventLog;
  readonly #prefix = randomBytes(6).toString('base64url');
  readonly #pending = new PendingRequests(this.#prefix);
  readonly #unroutable: UnroutableEvents;
  readonly #dropped: (publication: Publication) => void;
  readonly #asker: Asker;
  readonly #tracing: SafeTracing | undefined;
  /** Shared with the clients made by {@link to}. */
  #replies: SharedReplies;
  #dispatchHook: DispatchHook | undefined;
  #unfollow: (() => void) | undefined;
  #connected = false;
  #closed = false;
  #ended = false;
  #messageCount = 0;
  #refusals = 0;

  constructor(options: DlxClientOptions) {
    super();
    const { backend, events = 'dlx.events', requests = 'dlx.requests', waitQueueType, envelope, queue } = options;
    this.#tracing = options.tracing;
    this.#waitQueueType = waitQueueType;
    this.#packets = envelope === 'nest';
    this.#queue = queue;
    this.#backend = backend;
    this.#delayed = new DelayedPublisher(backend, waitQueueType);
    this.#events = events;
    this.#requests = requests;
    this.#log = new EventLog(DlxClient.name, options.logging);
    this.#unroutable = new UnroutableEvents(backend, this.#log);
    this.#dropped = (publication) => this.#unroutable.note(publication);
    this.#replies = new SharedReplies(backend);
    this.#asker = {
      prefix: this.#prefix,
      waitsFor: (id) => this.#pending.get(id) !== undefined,
      answered: (message) => takeAnswer(message, this.#pending, this.#packets),
      lost: (reason) => this.#pending.failAll(reason),
    };
  }

  /** Events that no queue got, as far as the backend can tell. */
  get unroutable(): number {
    let { count } = this.#unroutable;
    for (const client of this.#targets.values()) count += client.unroutable;
    return count;
  }

  /**
   * A client of the same broker for one queue or exchange, as Nest's `ClientRMQ` is. The same target gives the same client. It
   * ends with the application.
   * @throws DlxConfigurationError for an unknown option, for both or neither of queue and exchange, and for a queue without packets
   */
  to(target: ClientTarget): DlxClient {
    const { queue, exchange, envelope = this.#packets ? 'nest' : 'none' } = checkTarget(target, this.#packets);
    const key = JSON.stringify([queue, exchange, envelope]);
    const known = this.#targets.get(key);
    if (known !== undefined) return known;
    const place = exchange ?? '';
    const waitQueueType = this.#waitQueueType;
    const client = new DlxClient({
      backend: this.#backend,
      events: place,
      requests: place,
      waitQueueType,
      envelope,
      queue,
      logging: this.#log.logging,
      ...(this.#tracing && { tracing: this.#tracing }),
    });
    client.#replies = this.#replies;
    if (this.#dispatchHook !== undefined) client.setOnDispatchHook(this.#dispatchHook);
    if (this.#ended) client.end();
    this.#targets.set(key, client);
    return client;
  }

  /** Sets a hook that is called for each event and request before it is published, and for those of the clients made by {@link to}. */
  override setOnDispatchHook(hook: DispatchHook): void {
    this.#dispatchHook = hook;
    for (const client of this.#targets.values()) client.setOnDispatchHook(hook);
  }

  /** Emits the present status of the connection once {@link connect} was called, and each change. */
  override get status(): Observable<DlxStatus> {
    return super.status as Observable<DlxStatus>;
  }

  override async connect(): Promise<void> {
    if (this.#ended) throw new ClientClosedError();
    this.#closed = false;
    if (this.#connected) return;
    await this.#backend.connect();
    this.#connected = true;
    this.#unfollow ??= followStatus(this.#backend, (status) => this._status$.next(status));
  }

  /**
   * Requests without an answer fail, and so do publishes, until {@link connect} is called again. The backend stays open.
   */
  override close(): void {
    this.#closed = true; // so that a request which is sent again when it fails is refused, and does not wait for ever
    const requests = this.#pending.takeAll();
    for (const { id } of requests) this.#replies.giveUp(id);
    this.#replies.leave(this.#asker);
    const reason = new Error('the client was closed');
    for (const asked of requests) asked.end({ err: reason });
    this.#unfollow?.();
    this.#unfollow = undefined;
    if (this.#connected) this._status$.next('disconnected');
    this.#connected = false;
  }

  /** @internal Closes the client for good, at the end of the application. */
  end(): void {
    this.close();
    this.#ended = true;
    for (const client of this.#targets.values()) client.end();
  }

  /** The backend. */
  override unwrap<T>(): T {
    return this.#backend as T;
  }

  /** Publishes at once, with or without a subscriber; a failure without a subscriber is logged. */
  override emit<TResult = unknown, TInput = unknown>(
    pattern: unknown,
    data: TInput,
    options: EmitOptions = noOptions,
  ): Observable<TResult> {
    if (pattern === undefined || pattern === null || data === undefined || data === null) {
      return throwError(() => new InvalidMessageException());
    }
    const result = new AsyncSubject<TResult>();
    let caller: AsyncResource | undefined;
    let isOver = false;
    const done: Done = (failure) => {
      isOver = true;
      if (caller === undefined) this.#emitted(result, failure, pattern);
      else caller.runInAsyncScope(this.#emitted, this, result, failure, pattern);
    };
    if (this.#closed) done(new ClientClosedError());
    else if (this.#connected) this.#emitNow(pattern, data, done, options);
    else this.connect().then(() => this.#emitNow(pattern, data, done, options), done);
    // A later outcome comes from the callback of a disk or a socket. Subscribers get it in the async context of the caller.
    if (!isOver) caller = new AsyncResource('DlxEmit');
    return result;
  }

  /**
   * Cancels a delayed event that is not due yet, if the broker has exact delays.
   * @param exchange the exchange of the event; default: that of events
   * @returns how many events had this message id
   * @throws NotAvailableError on a broker that keeps delayed events in queues
   */
  async cancelDelayed(messageId: string, exchange = this.#events): Promise<number> {
    await this.connect();
    return this.#delayed.cancel(exchange, messageId);
  }

  /** Each subscription sends the request. */
  override send<TResult = unknown, TInput = unknown>(pattern: unknown, data: TInput): Observable<TResult> {
    if (pattern === undefined || pattern === null || data === undefined || data === null) {
      return throwError(() => new InvalidMessageException());
    }
    return new Observable((observer) => {
      if (this.#closed) return refuseLater(observer, this.#refusals++);
      if (this.#connected) return this.publish(this.#packetOf(pattern, data), this.createObserver(observer));
      const connected = from(this.connect()).pipe(mergeMap(() => this.send<TResult, TInput>(pattern, data)));
      return connected.subscribe(observer);
    });
  }

  protected override dispatchEvent<T>(packet: ReadPacket): Promise<T> {
    return new Promise<T>((resolve, reject) =>
      this.#publishEvent(packet, (failure) => (failure === undefined ? resolve(undefined as T) : reject(failure))),
    );
  }

  protected override publish(packet: ReadPacket, callback: (packet: WritePacket) => void): () => void {
    let asked: PendingRequest | undefined;
    let published: PublishSpan | undefined;
    try {
      const data: unknown = packet.data;
      if (data instanceof DlxRecord && data.delay !== undefined) {
        throw new DlxConfigurationError('a request waits for its answer and cannot be delayed; use emit');
      }
      const request = this.#pending.add(
        callback,
        data instanceof DlxRecord ? data.properties.correlationId : undefined,
      );
      asked = request;
      let publication = this.#publication(packet, this.#requests, true, { correlationId: request.id });
      const span = this.#tracing?.published(publication);
      if (span !== undefined) ({ publication } = span);
      published = span;
      this.#replies.request(this.#asker, publication, (failure) => {
        span?.end(failure);
        if (failure !== undefined && this.#pending.delete(request)) request.end({ err: failure });
      });
      return () => {
        if (!this.#pending.delete(request)) return;
        request.forget();
        this.#replies.giveUp(request.id);
      };
    } catch (error) {
      if (asked !== undefined) this.#pending.delete(asked);
      published?.end(describeError(error));
      callback({ err: error });
      return () => undefined;
    }
  }

  /** A dispatch hook of the application may throw. */
  #emitNow(pattern: unknown, data: unknown, done: Done, options: EmitOptions): void {
    let packet: OutgoingPacket;
    try {
      packet = this.#packetOf(pattern, data);
    } catch (error) {
      return done(asError(error));
    }
    this.#publishEvent(packet, done, options);
  }

  #packetOf(pattern: unknown, data: unknown): OutgoingPacket {
    const packet: OutgoingPacket = { pattern, data };
    this.#dispatchHook?.(packet);
    return packet;
  }

  #publishEvent(packet: OutgoingPacket, done: Done, options = noOptions): void {
    let ended = done;
    try {
      if (options !== noOptions) checkEmitOptions(options);
      const publication = this.#publication(packet, this.#events, false, options);
      const delay = delayAsked(packet.data, options);
      const span = this.#tracing?.published(publication);
      if (span !== undefined) ended = endingBy(span, done);
      this.#publishIn(delay, span?.publication ?? publication, ended);
    } catch (error) {
      ended(asError(error));
    }
  }

  /** @param delay milliseconds */
  #publishIn(delay: number, publication: Publication, done: Done): void {
    if (delay === 0) this.#backend.publish(publication, done);
    else this.#delayed.publish(publication, delay, done);
  }

  #publication(packet: OutgoingPacket, exchange: string, mandatory: boolean, ids: OwnIds): Publication {
    const data: unknown = packet.data;
    const record = data instanceof DlxRecord ? data : undefined;
    const { correlationId } = ids;
    const content = record === undefined ? data : record.data;
    const { contentType, body } = encodeContent(packet, content, correlationId, this.#packets);
    const messageId = ids.messageId ?? record?.properties.messageId ?? `${this.#prefix}.${++this.#messageCount}`;
    const properties =
      record === undefined
        ? { deliveryMode: 2, contentType, messageId, correlationId }
        : recordProperties(record, contentType, messageId, correlationId);
    const key = typeof packet.pattern === 'string' ? packet.pattern : this.normalizePattern(packet.pattern as string);
    return {
      exchange: record?.exchange ?? exchange,
      routingKey: this.#queue === undefined || record?.exchange !== undefined ? key : this.#queue,
      properties: packet.metadata === undefined ? properties : withMetadata(properties, packet.metadata, this.#packets),
      body,
      mandatory: record?.mandatory ?? (mandatory || this.#queue !== undefined),
      dropped: this.#dropped,
    };
  }

  /** The routing key of a pattern, for errors; its type if it cannot be written as one. */
  #nameOf(pattern: unknown): string {
    try {
      return this.normalizePattern(pattern as string);
    } catch {
      return typeof pattern;
    }
  }

  #emitted<T>(result: AsyncSubject<T>, failure: Error | undefined, pattern: unknown): void {
    if (failure !== undefined) return this.#emitFailed(result, failure, pattern);
    result.next(undefined as T);
    result.complete();
  }

  /** Fails an event one tick later, so that the caller can subscribe before. */
  #emitFailed<T>(result: AsyncSubject<T>, failure: Error, pattern: unknown): void {
    queueMicrotask(() => {
      if (!result.observed) this.#unroutable.failed(this.#nameOf(pattern), failure);
      result.error(failure);
    });
  }
}

/** Ends a span with the outcome of its publish, which is then passed on. */
const endingBy =
  (span: PublishSpan, done: Done): Done =>
  (failure) => {
    span.end(failure);
    done(failure);
  };
