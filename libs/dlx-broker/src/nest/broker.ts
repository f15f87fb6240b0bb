import type { Logger, OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { HomeContext, shownText } from '../host/index.js';
import { type WaitQueues, describeRetry } from '../retry/index.js';
import { MemoryIdempotencyStore } from './idempotency/memory-store.js';
import { type Backend, ConnectionLostError } from '../backend/index.js';
import { Attempts, type Processing } from './attempts.js';
import type { DlxClient } from './client.js';
import { IdempotencyGuard } from './idempotency/guard.js';

import { describeTopology, type Topology } from '../topology/index.js';
import type { DeadLetters, Redrives } from '../streams/index.js';
import { textOf } from './failure-log.js';
import type { HandlerSource } from './handler-source.js';
import type { Handler, PlannedHandler } from './handler.js';
import { defaultBrokerName, type Connected, type ResolvedOptions, type SocketAddress } from './options.js';
import type { LetterCounts, OutcomeEvent, OutcomeEvents } from './outcome-events.js';
import { type ConsumerPlan, planHandlers, type Plan } from './plan.js';
import { QueueConsumer } from './queue-consumer.js';
import { SafeLogger } from './safe-logger.js';
import type { DlxServer } from './server.js';
import {
  argumentWarnings,
  deadLetterWarnings,
  describeHandler,
  idleRetryWarnings,
  lossWarning,
  misplacedWarning,
  overrideWarning,
  silentServerWarning,
  unseenWarning,
  unservedWarning,
} from './start-report.js';
import { Settlement, type HandlerCounts } from './settlement.js';

/** The parts of a broker besides its handlers. */
export interface BrokerParts {
  readonly client: DlxClient;
  readonly waitQueues: WaitQueues;
  readonly events: OutcomeEvents;
  readonly letters: DeadLetters;
  readonly redrives: Redrives;
}

/** Counts of the handlers, and of the events of the client. */
export interface BrokerCounts extends HandlerCounts {
  /** Events that no queue got. */
  readonly unroutable: number;
}

/** How long to wait before a queue that was deleted is declared and consumed again, in milliseconds. */
const restorePause = 1_000;

/** How long an application may take, after its start, to connect and start its server, in milliseconds. */
const serverTimeout = 1_000;

/**
 * One broker of an application: collects what handlers need, declares it, consumes when the application is up, and
 * waits for handlers when the application shuts down.
 */
export class DlxBroker implements OnModuleInit, OnApplicationShutdown {
  readonly #logger: Logger;
  readonly #settlement: Settlement;
  readonly #attempts: Attempts;
  readonly #consumers = new Map<string, QueueConsumer>();
  readonly #restoring = new Set<NodeJS.Timeout>();
  /** Waits for the backend, each with the function that ends it. */
  readonly #waits = new Set<(reason: Error) => void>();
  readonly #reported = new Set<Handler>();
  readonly #home = new HomeContext();
  #booted = false;
  #listening = false;
  #closing = false;
  #turn: Promise<void> = Promise.resolve();
  readonly #warned = new Set<string>();
  #serverTimer: NodeJS.Timeout | undefined;

  /** @internal Made by DlxBrokerModule. */
  constructor(
    readonly options: ResolvedOptions,
    private readonly connected: Connected,
    private readonly server: DlxServer,
    private readonly source: HandlerSource,
    private readonly parts: BrokerParts,
  ) {
    this.#logger = new SafeLogger(`DlxBroker ${options.name}`);
    this.#settlement = new Settlement(connected.backend, parts.waitQueues, parts.events, options, this.#logger);
    const store = options.idempotencyStore ?? new MemoryIdempotencyStore(() => this.backend.clock.now());
    const guard = new IdempotencyGuard(store, this.#logger);
    const processing: Processing = (context, run) => server.process(context, run);
    this.#attempts = new Attempts(this.#settlement, guard, processing, this.#logger);
    server.attach({ backend: connected.backend, listen: () => this.#listen(), drain: () => this.#drainServer() });
  }

  get name(): string {
    return this.options.name;
  }

  get backend(): Backend {
    return this.connected.backend;
  }

  /** Counts of the messages of handlers, and of the letters that streams and redrives retried, parked and redrove. */
  get counts(): Readonly<BrokerCounts & Pick<LetterCounts, 'redriven' | 'unanswered'>> {
    const { counts } = this.#settlement;
    const { retried, parked, redriven, unanswered } = this.parts.events.letters;
    const both = { retried: counts.retried + retried, parked: counts.parked + parked };
    return { ...counts, ...both, redriven, unanswered, unroutable: this.parts.client.unroutable };
  }

  /** Events of all messages. Hot: later subscribers get no earlier events. It completes with the application. */
  get events(): Observable<OutcomeEvent> {
    return this.parts.events.stream;
  }

  /** The topology of the handlers known so far, declared or not. Reading it declares nothing. */
  topology(): Topology {
    return this.#plan().topology;
  }

  /** The topology as text, see {@link topology}. */
  describeTopology(): string {
    const { topology, consumers } = this.#plan();
    const retries = consumers.flatMap(({ handlers, style }) =>
      handlers.flatMap(({ retry }) => (retry === undefined ? [] : describeRetry(retry, style))),
    );
    return [describeTopology(topology), `retries: ${retries.length}`, ...retries].join('\n');
  }

  /** Declares the topology before other modules are initialised, because their hooks may publish. */
  async onModuleInit(): Promise<void> {
    await this.#inTurn(async () => {
      if (this.#closing) return;
      this.connected.check?.();
      await this.#untilClosing(this.backend.connect());
      await this.#declare(this.#plan());
    }).catch((error: unknown) => this.#failed(error));
  }

  /** Closes everything that was opened, because Nest does not close an application whose start failed. */
  async #failed(error: unknown): Promise<never> {
    await this.drain();
    await this.connected.close();
    throw error;
  }

  /**
   * Starts to consume. It is called when all providers of the application are ready for messages. When it fails, no consumer runs
   * and no port is open.
   */
  async start(): Promise<void> {
    this.#booted = true;
    await this.#inTurn(() => this.#open()).catch((error: unknown) => this.#failed(error));
  }

  async #open(): Promise<void> {
    this.connected.check?.();
    await this.#consume();
    if (this.#closing) return;
    await this.connected.open();
    this.#warnOfUnseen();
    this.#warnOfUnservedSoon();
    const { amqp, http } = this;
    if (amqp !== undefined) this.#logger.log(`AMQP 0-9-1 clients may connect to ${amqp.host}:${amqp.port}`);
    if (http !== undefined) this.#logger.log(`the management API is at http://${http.host}:${http.port}/api`);
  }

  /** Where AMQP clients of other processes reach this broker (option `listen`), once the application is up. */
  get amqp(): SocketAddress | undefined {
    return this.connected.amqp();
  }

  /** Where the management API of this broker is (option `listen`), once the application is up. */
  get http(): SocketAddress | undefined {
    return this.connected.http();
  }

  /** Closes the backend last, because other providers may publish while they are shut down. */
  async onApplicationShutdown(): Promise<void> {
    await this.drain();
    this.parts.client.end();
    this.parts.waitQueues.close();
    await this.connected.close();
    this.parts.events.end();
  }

  /**
   * Stops consuming, ends streams and redrives, waits for running handlers (option `drainTimeout`), and returns the remaining
   * messages to their queues. Idempotent.
   */
  async drain(): Promise<void> {
    const drained = this.#drain();
    this.connected.draining?.(drained.catch(() => undefined));
    await drained;
  }

  async #drain(): Promise<void> {
    this.#closing = true;
    const redrives = this.parts.redrives.close(); // before the end of the streams from which they take letters
    for (const [queue, count] of this.parts.letters.unsettled()) {
      this.#logger.warn(`${count} letters of '${shownText(queue)}' were unsettled in a stream and return to the queue`);
    }
    this.parts.letters.close();
    clearTimeout(this.#serverTimer);
    for (const timer of this.#restoring) clearTimeout(timer);
    this.#restoring.clear();
    await redrives;
    for (const consumer of this.#consumers.values()) consumer.cancel(); // also a consumer that the broker has not confirmed yet
    for (const end of this.#waits) end(new ConnectionLostError('the application was closed while it started', false));
    await this.#atMost(this.#turn.catch(() => undefined));
    await this.#stop([...this.#consumers.values()]);
  }

  /** Starts the server. In a hybrid application it waits until the application is up. */
  async #listen(): Promise<void> {
    this.#listening = true;
    if (this.#booted) await this.#inTurn(() => this.#consume());
  }

  async #drainServer(): Promise<void> {
    this.#listening = false;
    const handlers = new Set(this.source.ofServer(this.server));
    await this.#stop([...this.#consumers.values()].filter((consumer) => consumer.serves(handlers)));
  }

  /** Runs one piece of work after the other, because start and listen may overlap. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.catch(() => undefined).then(work);
    this.#turn = turn;
    return turn;
  }

  /** Waits for the backend until the application closes: a server that is unreachable must not hold up a shutdown. */
  #untilClosing<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waits.add(reject);
      void work.then(resolve, reject).finally(() => this.#waits.delete(reject));
    });
  }

  async #declare(plan: Plan): Promise<void> {
    const { declare } = this.options;
    const different = declare ? await this.#untilClosing(this.backend.declare(plan.topology)) : undefined;
    this.#retryByReject(plan, different);
    const lots = plan.consumers.flatMap(({ handlers }) => handlers.flatMap(({ retry }) => retry?.parkingLot ?? []));
    this.parts.waitQueues.declared(plan.delays, lots);
    this.#warn(plan);
  }

  /** Notes the queues that dead-letter to the wait queue of their policy. Existing queues with other arguments do not. */
  #retryByReject({ consumers }: Plan, different: ReadonlySet<string> | undefined): void {
    const rejecting = consumers.filter(({ queue, style }) => style === 'reject' && different?.has(queue) === false);
    this.#settlement.rejecting = new Set(rejecting.map(({ queue }) => queue));
    this.parts.waitQueues.keep(rejecting.flatMap(({ handlers }) => handlers.flatMap(({ retry }) => retry?.only ?? [])));
  }

  async #consume(): Promise<void> {
    if (this.#closing) return;
    const plan = this.#plan();
    const ready = new Set<Handler>([
      ...this.source.ofModule(),
      ...(this.#listening ? this.source.ofServer(this.server) : []),
    ]);
    await this.#untilClosing(this.backend.connect());
    await this.#declare(plan); // handlers may have been added, and the queue may be missing
    const starts: Promise<void>[] = [];
    for (const consumer of plan.consumers) {
      if (this.#closing) break;
      if (!consumer.handlers.every(({ handler }) => ready.has(handler))) continue;
      const known = this.#consumers.get(consumer.queue);
      const running =
        known ?? new QueueConsumer(consumer, this.backend, this.#settlement, this.#attempts, this.#home, this.#logger);
      running.update(consumer);
      this.#consumers.set(consumer.queue, running);
      if (!running.running) {
        const started = running.start((lost, failure) => this.#restoreSoon(lost, failure));
        if (started !== undefined) starts.push(started);
      }
      for (const planned of consumer.handlers) this.#report(planned, consumer, plan.topology);
    }
    await Promise.all(starts);
  }

  /** Logs each handler once. */
  #report(planned: PlannedHandler, consumer: ConsumerPlan, topology: Topology): void {
    if (this.#reported.has(planned.handler)) return;
    this.#reported.add(planned.handler);
    if (this.options.logHandlers) this.#logger.log(describeHandler(planned, consumer, topology));
    const warning = lossWarning(planned, topology, this.backend);
    if (warning !== undefined) this.#logger.warn(warning);
  }

  /** Warns of methods that look like handlers, and that no server can make handlers. */
  #warnOfUnseen(): void {
    for (const override of this.source.overrides()) this.#logger.warn(overrideWarning(override));
    const unseen = this.source.unseen();
    if (unseen.length > 0) this.#logger.warn(unseenWarning(unseen));
  }

  /** Warns later, because a server may be connected and started after the application. */
  #warnOfUnservedSoon(): void {
    const warn = (): void => this.#warnOfUnserved();
    this.#serverTimer = this.#home.runInAsyncScope(() => setTimeout(warn, serverTimeout).unref());
  }

  /** Warns of handlers that get no messages, because no server was connected or started. */
  #warnOfUnserved(): void {
    const misplaced = this.source.misplaced();
    if (misplaced.length > 0) this.#logger.warn(misplacedWarning(misplaced));
    const unserved = this.source.unserved(this.server);
    const token = this.name === defaultBrokerName ? 'DlxServer' : `getDlxServerToken('${this.name}')`;
    if (unserved.length > 0) this.#logger.warn(unservedWarning(unserved, token));
    const waiting = this.#listening ? [] : this.server.added.map(({ pattern }) => pattern);
    if (waiting.length > 0) this.#logger.warn(silentServerWarning(waiting));
    if (unserved.length + waiting.length > 0) return;
    const idle = idleRetryWarnings(Object.keys(this.options.queueRetry), [...this.#consumers.keys()]);
    for (const warning of idle) this.#logger.warn(warning);
  }

  #plan(): Plan {
    const handlers = [...this.source.ofModule(), ...this.source.ofServer(this.server)];
    return planHandlers(handlers, this.options, this.source.features());
  }

  #warn({ topology, notes }: Plan): void {
    for (const warning of [...notes, ...argumentWarnings(topology), ...deadLetterWarnings(topology)]) {
      if (!this.#warned.has(warning)) this.#logger.warn(warning);
      this.#warned.add(warning);
    }
  }

  /** Declares and consumes a queue again after a pause. The queue was deleted, or its node is down. */
  #restoreSoon(consumer: QueueConsumer, failure?: Error): void {
    this.#settlement.timers.sweep();
    if (this.#closing) return;
    const why = failure === undefined ? '' : ` (${textOf(failure)})`;
    this.#logger.warn(
      `the broker ended the consumer of '${shownText(consumer.queue)}'${why}; it starts again in ${restorePause} ms`,
    );
    const restore = (): void => {
      this.#restoring.delete(timer);
      this.#inTurn(() => this.#consume()).catch((error: unknown) => {
        if (this.#closing) return;
        this.#logger.error(`queue '${shownText(consumer.queue)}' cannot be consumed again: ${textOf(error)}`);
        this.#restoreSoon(consumer);
      });
    };
    const timer = this.#home.runInAsyncScope(() => setTimeout(restore, restorePause));
    this.#restoring.add(timer);
  }

  async #stop(consumers: readonly QueueConsumer[]): Promise<void> {
    for (const consumer of consumers) consumer.cancel();
    await this.#atMost(Promise.all(consumers.map((consumer) => consumer.idle())));
    for (const consumer of consumers) {
      const left = consumer.close();
      if (left > 0)
        this.#logger.warn(`${left} messages of '${consumer.queue}' were still at work and go back to the queue`);
      this.#consumers.delete(consumer.queue);
    }
    this.#settlement.timers.sweep();
  }

  /** Waits for work, but no longer than option `drainTimeout`. */
  async #atMost(work: Promise<unknown>): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, this.options.drainTimeout)));
    await Promise.race([work, timeout]);
    clearTimeout(timer);
  }
}
