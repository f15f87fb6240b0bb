import type { OnApplicationShutdown, OnModuleInit, Type } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { type Backend, ConnectionLostError } from '../../backends/index.js';
import { describeTopology, type Topology } from '../../backends/topology/index.js';
import { HomeContext } from '../../platform/index.js';
import type { DlxClient } from '../client/client.js';
import type { AttemptParts } from '../core/attempt.js';
import { AttemptWatch } from '../core/attempt-watch.js';
import { DeliveryTimers } from '../core/delivery-timers.js';
import type { Feature } from '../core/feature.js';
import type { OutcomeCounts } from '../core/reports.js';
import type { HandlerSource } from '../handlers/handler-source.js';
import { endsAlone, type Handler, type MessageOrder } from '../core/handler.js';
import { retain, retentions } from '../retry/lot-retention.js';
import type { LetterCounts, OutcomeEvent, OutcomeEvents } from '../core/outcome-events.js';
import { type Plan, planHandlers } from '../core/plan.js';
import { QueueConsumers } from '../core/queue-consumers.js';
import { Settlement } from '../core/settlement.js';
import { within } from '../core/within.js';
import type { Circuit, DlxHandler, HandlerStatus, HealthProbe } from '../features/circuit/index.js';
import { HandlerGates } from '../features/circuit/handler-gates.js';
import { featuresOf, metricsOf } from '../features/index.js';
import type { OutboxScope } from '../features/outbox/scope.js';
import { deadLetterQueues, type DlxHealth, Health, liveness, readiness } from '../health/index.js';
import { EventLog } from '../log/event-log.js';
import { StartChecks } from '../log/start-checks.js';
import { logPlace } from '../log/start-lines.js';
import { describeRetry, type WaitQueues } from '../retry/index.js';
import type { DeadLetters, Redrives } from '../streams/index.js';
import type { SafeTracing } from '../tracing/index.js';
import { type Measured, measured } from './measured.js';
import type { Connected, ResolvedOptions } from './options.js';
import { QueueControl } from './queue-control.js';
import type { DlxServer } from './server.js';
import { logUnclosed, shutDown } from './shut-down.js';

/** The parts of a broker besides its handlers. */
export interface BrokerParts {
  readonly client: DlxClient;
  readonly waitQueues: WaitQueues;
  readonly events: OutcomeEvents;
  readonly letters: DeadLetters;
  readonly redrives: Redrives;
  /** Finds the outbox of a handler; shared with the client. */
  readonly outboxes: OutboxScope;
  /** Undefined without the option. */
  readonly tracing: SafeTracing | undefined;
  /** Finds a provider by its class. @throws when there is none */
  readonly provider: (type: Type<HealthProbe>) => HealthProbe;
}

/** Counts of the handlers, of the letters of streams and redrives, and of the events of the client. */
export interface BrokerCounts extends OutcomeCounts, Pick<LetterCounts, 'redriven' | 'unanswered'> {
  /** Events that no queue got. */
  readonly unroutable: number;
}

/**
 * One broker of an application: collects what handlers need, declares it, consumes when the application is up, and
 * waits for handlers when the application shuts down.
 */
export class DlxBroker implements OnModuleInit, OnApplicationShutdown {
  readonly #log: EventLog;
  readonly #settlement: Settlement;
  readonly #consumers: QueueConsumers;
  readonly #checks: StartChecks;
  readonly #health: Health;
  readonly #gates: HandlerGates;
  readonly #watch: AttemptWatch;
  readonly #features: readonly Feature[];
  /** Waits for the backend, each with the function that ends it. */
  readonly #waits = new Set<(reason: Error) => void>();
  #booted = false;
  #isUp = false;
  #listening = false;
  #closing = false;
  #turn: Promise<void> = Promise.resolve();
  #measured: Measured | undefined;
  /** Ends the reports of delayed events that no queue got. */
  #unlisten: (() => void) | undefined;

  /** @internal Made by DlxBrokerModule. */
  constructor(
    readonly options: ResolvedOptions,
    private readonly connected: Connected,
    private readonly server: DlxServer,
    private readonly source: HandlerSource,
    private readonly parts: BrokerParts,
  ) {
    const { backend } = connected;
    const log = new EventLog(`DlxBroker ${options.name}`, options.logging);
    const home = new HomeContext();
    const { drainTimeout } = options;
    const restore = (): Promise<void> => this.#inTurn(() => this.#consume());
    const gates = new HandlerGates({
      options,
      clock: backend.clock,
      provider: parts.provider,
      events: parts.events,
      log,
      consumers: () => this.#consumers,
      plan: () => this.#plan(),
    });
    this.#gates = gates;
    const watch = new AttemptWatch(backend, options.stuckAfter, log);
    this.#watch = watch;
    const timers = new DeliveryTimers(backend.clock);
    const { tracing, outboxes } = parts;
    const { circuits, scope, rates } = gates;
    const settling = (): Settlement => this.#settlement;
    const { client } = parts;
    const own = { client, circuits, rates, settlement: settling, orders: () => this.orders };
    const features = featuresOf({ backend, options, log, timers, tracing, outboxes, ...own });
    this.#features = features;
    const settlement = new Settlement(backend, parts.waitQueues, parts.events, options, log, timers, features);
    const processing: AttemptParts['processing'] = (context, run) => server.process(context, run);
    parts.letters.obstacleOf = (queue) => gates.circuits.obstacle(queue);
    const work = { backend, settlement, home, log, processing, scope, watch };
    this.#consumers = new QueueConsumers({ ...work, drainTimeout, restore });
    this.#checks = new StartChecks({ options, backend, source, server, home, log, features });
    this.#health = new Health({
      name: options.name,
      options: options.health,
      backend,
      condition: connected.condition?.bind(connected),
      log,
      phase: () => (this.#closing ? 'closing' : this.#isUp ? 'up' : 'starting'),
      unserved: () => (this.#listening || !options.registerHandlers ? [] : server.added.map(({ pattern }) => pattern)),
      consumers: () => this.#consumers.condition,
      stopped: () => this.#gates.stopped,
      stuck: () => watch.stuck,
      parked: () => this.counts.parked,
      deadLetterQueues: () => deadLetterQueues(this.#plan()),
    });
    this.#log = log;
    this.#settlement = settlement;
    if (options.metrics || connected.metrics?.isWanted === true) this.measure();
    server.attach({
      backend,
      listen: () => this.#listen(),
      drain: () => this.#drainServer(),
    });
  }

  get name(): string {
    return this.options.name;
  }

  get backend(): Backend {
    return this.connected.backend;
  }

  /** Counts of the messages of handlers, and of the letters that streams and redrives retried, parked and redrove. */
  get counts(): Readonly<BrokerCounts> {
    const { counts } = this.#settlement.reports;
    const { retried, parked, redriven, unanswered } = this.parts.events.letters;
    const both = { retried: counts.retried + retried, parked: counts.parked + parked };
    return { ...counts, ...both, redriven, unanswered, unroutable: this.parts.client.unroutable };
  }

  /** @internal The circuits of its handlers. */
  get circuits(): Iterable<Circuit> {
    return this.#gates.circuits.all;
  }

  /** @internal Measures handlers and broker from now on, for {@link registerDlxMetrics}. */
  measure(): Measured {
    if (this.#measured !== undefined) return this.#measured;
    const added = metricsOf(this.#features, this.name);
    this.#measured = measured(this, this.connected.metrics, this.#settlement.reports, this.parts.events.letters, added);
    const known = this.#booted ? this.#plan().consumers : []; // others follow when they start
    for (const { handlers } of known) for (const planned of handlers) this.#settlement.reports.meter?.of(planned);
    return this.#measured;
  }

  /** @internal See {@link Feature.waiting}. */
  waiting(queue: string): number {
    return this.#features.reduce((count, feature) => count + (feature.waiting?.(queue) ?? 0), 0);
  }

  /** @internal The queues whose messages are kept in an order. */
  get orders(): readonly MessageOrder[] {
    return this.#consumers.orders;
  }

  /** Events of all messages. Hot: later subscribers get no earlier events. It completes with the application. */
  get events(): Observable<OutcomeEvent> {
    return this.parts.events.stream;
  }

  /**
   * Whether this process is alive and ready, and why not, for liveness and readiness probes. It answers from what the process knows:
   * it never publishes or declares. Answers of the same second are the same.
   */
  health(): Promise<DlxHealth> {
    return this.#health.get();
  }

  /**
   * The check of a readiness probe for `@nestjs/terminus`: `health.check([() => broker.isHealthy('dlx')])`.
   * @param key the name of the check in the answer
   * @returns `up`, or `down` with the problems, while publishes are not taken or handlers get no messages
   */
  async isHealthy<const Key extends string>(
    key: Key,
  ): Promise<Record<Key, { readonly status: 'up' | 'down' } & Readonly<Record<string, unknown>>>> {
    return readiness(key, await this.health());
  }

  /**
   * The check of a liveness probe for `@nestjs/terminus`.
   * @param key the name of the check in the answer
   * @returns `up`, or `down` if a restart of the process is the remedy: the journal of its broker failed
   */
  async isAlive<const Key extends string>(
    key: Key,
  ): Promise<Record<Key, { readonly status: 'up' | 'down' } & Readonly<Record<string, unknown>>>> {
    return liveness(key, await this.health());
  }

  /** One queue of the broker, to pause and resume it. Nothing is asked or declared yet. */
  queue(name: string): QueueControl {
    return new QueueControl(name, this.backend);
  }

  /** The handlers known so far, and whether they get messages. */
  get handlers(): readonly HandlerStatus[] {
    return this.#gates.all;
  }

  /**
   * A handler, to pause and resume it.
   * @param name class and method: `Payments.pay`
   * @throws DlxConfigurationError when there is no such handler
   */
  handler(name: string): DlxHandler {
    return this.#gates.handler(name);
  }

  /** The topology of the handlers known so far, declared or not. Reading it declares nothing. */
  topology(): Topology {
    return this.#plan().topology;
  }

  /** The topology as text, see {@link topology}. */
  describeTopology(): string {
    const { topology, consumers } = this.#plan();
    const retries = consumers.flatMap(({ handlers, style, styleReason }) =>
      handlers.flatMap(({ retry }) => (retry === undefined ? [] : describeRetry(retry, style, styleReason))),
    );
    return [describeTopology(topology), `retries: ${retries.length}`, ...retries].join('\n');
  }

  /** Declares the topology before other modules are initialised, because their hooks may publish. */
  async onModuleInit(): Promise<void> {
    await this.#inTurn(async () => {
      if (this.#closing) return;
      this.connected.check?.();
      await this.#untilClosing(this.source.prepare((handler) => this.#startWaits(handler)));
      const plan = this.#plan();
      this.#gates.check();
      await this.#untilClosing(this.backend.connect());
      await this.#declare(plan);
      this.parts.client.gate?.open();
    }).catch((error: unknown) => this.#failed(error));
  }

  #startWaits(handler: string): void {
    const text = `the start waits since 10 s for useFactory of @HandlerAsync on ${handler}; see what it awaits`;
    this.#log.write('startWaits', text, { handler });
  }

  /** Closes everything that was opened, because Nest does not close an application whose start failed. */
  async #failed(error: unknown): Promise<never> {
    await this.onApplicationShutdown().catch((failure: unknown) => logUnclosed(this.#log, failure));
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
    this.connected.manage?.(this.#gates.operated);
    await this.#consume();
    if (this.#closing) return;
    await this.connected.open();
    this.#isUp = true;
    this.#unlisten = this.backend.delayed?.onUnrouted?.((address) => this.parts.client.unrouted(address));
    this.#health.start();
    if (this.options.registerHandlers) {
      this.#checks.unservedSoon(
        () => this.#listening,
        () => this.#consumers.queues.length > 0,
      );
    } else {
      const text = 'handlers get no messages in this process, which only publishes (option registerHandlers)';
      this.#log.write('handlersNotRegistered', text, {});
    }
    logPlace(this.connected, this.#log);
  }

  /** Where AMQP clients of other processes reach this broker (option `listen`), once the application is up. */
  get amqp(): { readonly host: string; readonly port: number } | undefined {
    return this.connected.amqp();
  }

  /** Where the management API of this broker is (option `listen`), once the application is up. */
  get http(): { readonly host: string; readonly port: number } | undefined {
    return this.connected.http();
  }

  /** Where Prometheus finds the metrics of this broker (option `listen.metrics`), once the application is up. */
  get metrics(): { readonly host: string; readonly port: number; readonly url: string } | undefined {
    return this.connected.metrics?.address();
  }

  /** Closes the backend last, because other providers may publish while they are shut down. */
  async onApplicationShutdown(): Promise<void> {
    await shutDown(this.#log, [
      () => this.drain(),
      () => this.#unlisten?.(),
      () => this.parts.client.end(),
      () => this.parts.waitQueues.close(),
      () => this.connected.close(),
      () => this.#health.close(),
      () => this.parts.events.end(),
    ]);
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
    let redrives: Promise<void> | undefined;
    let letters: ReadonlyMap<string, number> = new Map();
    const interrupted = new ConnectionLostError('the application was closed while it started', false);
    await shutDown(this.#log, [
      () => {
        redrives = this.parts.redrives.close(); // before the end of the streams from which they take letters
      },
      () => (letters = this.parts.letters.unsettled()),
      () => this.parts.letters.close(),
      () => this.#checks.close(),
      () => this.#consumers.cancel(),
      () => this.#gates.close(), // afterwards, so that nothing begins in place of what waited for a probe
      () => redrives,
      () => this.#waits.forEach((end) => end(interrupted)),
      () => within(this.options.drainTimeout, Promise.allSettled([this.#turn])),
      () => this.#consumers.stop(letters),
      () => this.#watch.close(),
    ]);
  }

  /** Starts the server. In a hybrid application it waits until the application is up. */
  async #listen(): Promise<void> {
    this.#listening = true;
    if (this.#booted) await this.#inTurn(() => this.#consume());
  }

  async #drainServer(): Promise<void> {
    this.#listening = false;
    await this.#consumers.stopOf(new Set(this.source.ofServer(this.server)));
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
    for (const { ordering } of plan.consumers) ordering?.check(this.backend);
    const different = this.options.declare ? await this.#untilClosing(this.backend.declare(plan.topology)) : undefined;
    this.#retryByReject(plan, different);
    const lots = retentions(plan.consumers.flatMap(({ handlers }) => handlers));
    this.parts.waitQueues.declared(plan.delays, lots.keys(), plan.topology.queues);
    this.#checks.plan(plan, different === undefined ? [] : retain(lots, different, this.backend));
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
      const started = this.#consumers.start(consumer);
      if (started !== undefined) starts.push(started);
      for (const planned of consumer.handlers) {
        this.#checks.handler(planned, consumer, plan.topology);
        this.#settlement.reports.meter?.of(planned);
      }
    }
    await Promise.all(starts);
  }

  #plan(): Plan {
    const handlers = [...this.source.ofModule(), ...this.source.ofServer(this.server)];
    const { rejectsWithHeaders } = this.backend;
    const { registerHandlers } = this.options;
    const declaring = registerHandlers ? handlers : handlers.filter((handler) => !endsAlone(handler));
    const plan = planHandlers(declaring, this.options, this.source.features(), rejectsWithHeaders, this.#features);
    return registerHandlers ? plan : { ...plan, consumers: [] };
  }
}
