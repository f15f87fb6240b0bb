import { randomBytes } from 'node:crypto';
import type { ReadPacket, WritePacket } from '@nestjs/microservices';
import { from, mergeMap, Observable, throwError } from 'rxjs';
import { DelayedPublisher, type WaitQueueType } from '../retry/index.js';

import type { Address, Backend, Done, Publication } from '../../backends/index.js';
import type { SafeTracing } from '../tracing/index.js';
import { OwnTimers } from '../../platform/index.js';
import type { SchemaTimers } from '../features/contract/check.js';
import { ask, checkSent, type NoContract } from '../features/contract/client-side.js';
import { Contract, type EventContract, type RequestContract } from '../features/contract/contract.js';
import { logSubscriberError } from '../core/failure-log.js';
import { EmitResult } from './emit-result.js';
import {
  checkEmitOptions,
  delayAsked,
  type DlxClientOptions,
  type EmitOptions,
  limitedBy,
  noOptions,
  noSendOptions,
  type SendOptions,
  timeoutAsked,
} from './client-options.js';
import { ClientClosedError, type DlxStatus, followStatus, refuseLater, type StartGate } from './client-state.js';
import { EventFailures } from './event-failures.js';
import { asError } from '../core/failure.js';
import { EventLog } from '../log/event-log.js';
import { Client, type DispatchHook, type OutgoingPacket } from '../handlers/nest-versions.js';
import { checkTarget, type ClientTarget } from '../features/envelope/client-target.js';
import { collect } from '../features/outbox/collect.js';
import type { Collector } from '../features/outbox/collector.js';
import type { OutboxScope } from '../features/outbox/scope.js';
import { endingBy, messageIdOf, missingIn, type OwnIds, publicationOf, type PublishPlace } from './publication.js';
import { DlxRecord } from './record-builder.js';
import { answeredWithin, expiringIn, tooLate } from './request-timeout.js';
import { PendingRequests } from './pending-requests.js';
import { SharedReplyChannel } from './shared-reply-channel.js';

/**
 * Publishes events and requests; the pattern is the routing key, the body is the data. Each gets a message id unless it has one. `emit` succeeds when the broker
 * has taken responsibility; to a missing exchange it fails with the broker's text. `send` fails at once when no handler
 * handles the pattern; unsubscribing (by `timeout`, `take` ...) forgets the request.
 */
export class DlxClient extends Client {
  readonly #backend: Backend;
  readonly #delayed: DelayedPublisher;
  readonly #events: PublishPlace;
  readonly #requests: PublishPlace;
  readonly #waitQueueType: WaitQueueType | undefined;
  /** True: messages and replies are packets of Nest. */
  readonly #packets: boolean;
  /** Clients made by {@link to}, by their targets. */
  readonly #targets = new Map<string, DlxClient>();
  readonly #log: EventLog;
  /** How message ids begin. */
  readonly #prefix: string;
  readonly #failures: EventFailures;
  readonly #tracing: SafeTracing | undefined;
  readonly #outboxes: OutboxScope | undefined;
  /** @internal Opened by the broker of the application. */
  readonly gate: StartGate | undefined;
  /** @internal Ended with the client. */
  readonly timers: OwnTimers;
  readonly #limits: SchemaTimers;
  readonly #pending: PendingRequests;
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
    this.#outboxes = options.outboxes;
    this.gate = options.gate;
    this.#waitQueueType = waitQueueType;
    this.#packets = envelope === 'nest';
    this.#backend = backend;
    this.timers = new OwnTimers(backend.clock);
    this.#limits = { timers: this.timers, failsAtClose: true };
    this.#delayed = new DelayedPublisher(backend, waitQueueType);
    this.#log = new EventLog(DlxClient.name, options.logging);
    const keyOf = (pattern: unknown): string => this.normalizePattern(pattern as string);
    this.#failures = new EventFailures(this.#log, keyOf);
    const dropped = (publication: Publication, isDelayed?: boolean): void =>
      this.#failures.note(publication, isDelayed);
    const place = { queue, isPacket: this.#packets, dropped };
    this.#events = { ...place, exchange: events, mandatory: false };
    this.#requests = { ...place, exchange: requests, mandatory: true };
    const replies = options.replies ?? new SharedReplyChannel(backend);
    const prefix = randomBytes(6).toString('base64url');
    this.#prefix = `${prefix}.`;
    const thrown = logSubscriberError(this.#log, 'a request');
    this.#pending = new PendingRequests(prefix, replies, this.#packets, options.tracing, thrown);
  }

  /** Events that no queue got, as far as the backend can tell. */
  get unroutable(): number {
    let count = this.#failures.unroutable;
    for (const client of this.#targets.values()) count += client.unroutable;
    return count;
  }

  /** @internal Notes a delayed event that no queue got when it was due. */
  unrouted(address: Address): void {
    this.#failures.note(address);
  }

  /**
   * A client of the same broker for one queue or exchange, as Nest's `ClientRMQ` is. The same target gives the same client. It
   * ends with the application.
   * @throws DlxConfigurationError for an unknown option, for both or neither of queue and exchange, and for a queue without packets
   */
  to(target: ClientTarget): DlxClient {
    const own = this.#packets ? 'nest' : 'none';
    const { queue, exchange: place = '', envelope = own } = checkTarget(target, this.#packets);
    const key = JSON.stringify([queue, place, envelope]);
    const known = this.#targets.get(key);
    if (known !== undefined) return known;
    const client = new DlxClient({
      backend: this.#backend,
      events: place,
      requests: place,
      waitQueueType: this.#waitQueueType,
      envelope,
      queue,
      logging: this.#log.logging,
      replies: this.#pending.channel,
      tracing: this.#tracing,
      outboxes: this.#outboxes,
      gate: this.gate,
    });
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
    this.#closed = true; // first, so that a request that is retried when it fails is refused, and does not wait for ever
    this.#pending.close(new Error('the client was closed'));
    this.#unfollow?.();
    this.#unfollow = undefined;
    if (this.#connected) this._status$.next('disconnected');
    this.#connected = false;
  }

  /** @internal Closes the client for good, at the end of the application. */
  end(): void {
    this.close();
    this.#ended = true;
    this.gate?.fail(new ClientClosedError());
    this.timers.close();
    for (const client of this.#targets.values()) client.end();
  }

  /** The backend. */
  override unwrap<T>(): T {
    return this.#backend as T;
  }

  /**
   * Publishes an event by its contract, after its schema has checked the data. What is published are the data as they were given.
   * The observable fails with a ContractError, and nothing is published, if the schema refuses them.
   */
  override emit<T, In>(
    contract: EventContract<T, In>,
    data: NoInfer<In> | DlxRecord<NoInfer<In>>,
    options?: EmitOptions,
  ): Observable<undefined>;
  /**
   * Publishes at once, with or without a subscriber; a failure without a subscriber is logged. In a handler with an outbox (`@Outbox()`)
   * the event is collected, and the observable completes at once: it is published with the ack, or not at all.
   */
  override emit<TResult = unknown, TInput = unknown, P = unknown>(
    pattern: P & NoContract<P>,
    data: TInput,
    options?: EmitOptions,
  ): Observable<TResult>;
  override emit<TResult>(pattern: unknown, data: unknown, options: EmitOptions = noOptions): Observable<TResult> {
    const missing = missingIn('emit', pattern, data);
    if (missing !== undefined) {
      const refused = new EmitResult<TResult>(this.#failures, pattern);
      refused.end(missing);
      return refused;
    }
    const collector = (options as EmitOptions | null)?.outbox === false ? undefined : this.#outboxes?.current;
    if (collector !== undefined) return this.#collect(collector, pattern, data, options);
    const result = new EmitResult<TResult>(this.#failures, pattern);
    const done = result.done();
    if (this.#closed) done(new ClientClosedError());
    else if (this.#connected && this.gate?.isOpen !== false) this.#emitNow(pattern, data, done, options);
    else this.#started().then(() => this.#emitNow(pattern, data, done, options), done);
    return result;
  }

  /**
   * Cancels a delayed event that is not due yet, if the broker has exact delays.
   * @param exchange the exchange of the event; default: that of events
   * @returns how many events had this message id
   * @throws NotAvailableError on a broker that keeps delayed events in queues
   */
  async cancelDelayed(messageId: string, exchange = this.#events.exchange): Promise<number> {
    await this.#started(); // after what was emitted before
    return this.#delayed.cancel(exchange, messageId);
  }

  /** Sends a request by its contract. The schemas check the data before they are sent, and each answer. */
  override send<T, Answer, In, AnswerIn>(
    contract: RequestContract<T, Answer, In, AnswerIn>,
    data: NoInfer<In> | DlxRecord<NoInfer<In>>,
    options?: SendOptions,
  ): Observable<Answer>;
  /** Each subscription sends the request. */
  override send<TResult = unknown, TInput = unknown, P = unknown>(
    pattern: P & NoContract<P>,
    data: TInput,
    options?: SendOptions,
  ): Observable<TResult>;
  override send<TResult>(pattern: unknown, data: unknown, options = noSendOptions): Observable<TResult> {
    const missing = missingIn('send', pattern, data);
    if (missing !== undefined) return throwError(() => missing);
    let timeout: number | undefined;
    try {
      timeout = options === noSendOptions ? undefined : timeoutAsked(options);
    } catch (error) {
      return throwError(() => error);
    }
    if (pattern instanceof Contract) {
      return ask(pattern, data, this.#limits, () => this.send(pattern.pattern, data, options)) as Observable<TResult>;
    }
    const answers = this.#answersTo<TResult>(pattern, data, timeout);
    if (timeout === undefined) return answers;
    const late = () => tooLate(this.#backend.state, this.normalizePattern(pattern as string), timeout);
    return answeredWithin(answers, timeout, this.timers, late);
  }

  /** @param timeout after this many milliseconds the request expires in its queue */
  #answersTo<T>(pattern: unknown, data: unknown, timeout: number | undefined): Observable<T> {
    return new Observable((observer) => {
      if (this.#closed) return refuseLater(observer, this.#refusals++);
      if (this.#connected && this.gate?.isOpen !== false)
        return this.#request(this.#packetOf(pattern, data), this.createObserver(observer), timeout);
      const connected = from(this.#started()).pipe(mergeMap(() => this.#answersTo<T>(pattern, data, timeout)));
      return connected.subscribe(observer);
    });
  }

  protected override dispatchEvent<T>(packet: ReadPacket): Promise<T> {
    return new Promise<T>((resolve, reject) =>
      this.#publishEvent(packet, (failure) => (failure === undefined ? resolve(undefined as T) : reject(failure))),
    );
  }

  protected override publish(packet: ReadPacket, callback: (packet: WritePacket) => void): () => void {
    return this.#request(packet, callback, undefined);
  }

  #request(packet: ReadPacket, callback: (packet: WritePacket) => void, timeout: number | undefined): () => void {
    const publicationOf = (correlationId: string): Publication => {
      const ids = { correlationId, replyTo: this.#pending.channel.address };
      return expiringIn(this.#publication(packet, this.#requests, ids), timeout);
    };
    return this.#pending.ask(packet, publicationOf, callback);
  }

  /** Settles when the client is connected, and what the application needs is declared. */
  async #started(): Promise<void> {
    await this.connect();
    await this.gate?.opened();
  }

  #emitChecked<T>(contract: Contract<T>, data: unknown, done: Done, options: EmitOptions): void {
    checkSent(contract, 'event', data, this.#limits, (failure) => {
      if (failure !== undefined || this.#closed) done(failure ?? new ClientClosedError());
      else this.#emitNow(contract.pattern, data, done, options);
    });
  }

  /** A dispatch hook of the application may throw, and so may a pattern or data that cannot be read, such as a revoked proxy. */
  #emitNow(pattern: unknown, data: unknown, done: Done, options: EmitOptions): void {
    let packet: OutgoingPacket;
    try {
      if (pattern instanceof Contract) return this.#emitChecked(pattern, data, done, options);
      packet = this.#packetOf(pattern, data);
    } catch (error) {
      return done(asError(error));
    }
    this.#publishEvent(packet, done, options);
  }

  /** Keeps an event in the outbox of the handler that emits it. A failure that the handler does not see fails its attempt. */
  #collect<T>(collector: Collector, pattern: unknown, data: unknown, options: EmitOptions): Observable<T> {
    const result = new EmitResult<T>(this.#failures, pattern);
    const done: Done = (failure) => result.end(failure, failure && collector.outbox.doubt());
    const keep = (key: unknown): void => {
      const publicationOf = (): Publication =>
        this.#publication(this.#packetOf(key, data), this.#events, options, collector);
      collect({ collector, delayed: this.#delayed, tracing: this.#tracing }, publicationOf, data, options, done);
    };
    if (this.#closed) done(new ClientClosedError());
    else if (!collector.isOpen) done(collector.closedError());
    else if (!(pattern instanceof Contract)) keep(pattern);
    else {
      const decide = collector.outbox.doubt(); // the commit waits for the schema
      checkSent(pattern, 'event', data, this.#limits, (failure) => {
        if (failure === undefined) keep(pattern.pattern);
        else done(failure);
        decide();
      });
    }
    return result;
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
      const publication = limitedBy(options, this.#publication(packet, this.#events, options));
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

  #publication(packet: OutgoingPacket, place: PublishPlace, ids: OwnIds, collector?: Collector): Publication {
    const given = ids.messageId ?? messageIdOf(packet) ?? collector?.nextId();
    const messageId = given ?? `${this.#prefix}${++this.#messageCount}`;
    const key = typeof packet.pattern === 'string' ? packet.pattern : this.normalizePattern(packet.pattern as string);
    return publicationOf(packet, key, messageId, ids, place);
  }
}
