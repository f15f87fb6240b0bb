import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { type Backend, need, type QueuePause } from '../../backends/index.js';
import type { Topology } from '../../backends/topology/index.js';
import { DlxConfigurationError, optionsOf, parseDuration, refuseUnknown, shown } from '../../platform/options/index.js';
import type { OutcomeEvent } from '../core/outcome-events.js';
import type { Circuit, DlxHandler, HandlerStatus } from '../features/circuit/index.js';
import type { OrderedQueue } from '../features/ordered/ordered-queue.js';
import { type DlxHealth, type HealthResult, liveness, readiness } from '../health/index.js';
import type { BrokerCounts } from './broker-parts.js';
import type { Measured } from './measured.js';
import type { MetricsAddress, ResolvedOptions, SocketAddress } from './options.js';
import type { RunningBroker } from './running-broker.js';

/** How long a queue is paused. */
export interface PauseOptions {
  /** The pause ends by itself after this time, up to 365 days: milliseconds, or a string such as `'1h'`. Default: it lasts. */
  readonly for?: string | number;
}

/**
 * Pauses and resumes one queue, for the consumers of all processes. Possible on the embedded broker and on `dlx-broker serve` with
 * an HTTP API. On a RabbitMQ every method rejects with a NotAvailableError.
 */
export class QueueControl {
  /** @internal Made by `DlxBroker.queue`. */
  constructor(
    /** The name of the queue. */
    readonly name: string,
    private readonly backend: Backend,
  ) {}

  /**
   * Stops the deliveries of the queue; resolves when that is stored. Handlers finish what they have. A second pause replaces reason and
   * end.
   * @param reason up to 500 characters; the console, the HTTP API and the audit log of a server show it
   * @throws DlxConfigurationError for options that are none, TopologyError when there is no such queue, NotAvailableError on a RabbitMQ
   */
  async pause(reason?: string, options: PauseOptions = {}): Promise<void> {
    const origin = `pause() of queue '${this.name}'`;
    if (reason !== undefined && typeof reason !== 'string') {
      throw new DlxConfigurationError(`${origin}: the reason is ${shown(reason)}; write a string`);
    }
    refuseUnknown(optionsOf(options, origin, "write { for: '1h' }"), ['for'], origin);
    const { for: time } = options;
    const milliseconds = time === undefined ? undefined : parseDuration(time, `${origin}: for`);
    await need(this.backend, 'pausing').pause(this.name, {
      ...(reason !== undefined && { reason }),
      ...(milliseconds !== undefined && { for: milliseconds }),
    });
  }

  /** Ends the pause of the queue, if there is one. @throws as {@link pause} */
  async resume(): Promise<void> {
    await need(this.backend, 'pausing').resume(this.name);
  }

  /** The pause of the queue; undefined while it is not paused. @throws as {@link pause} */
  async paused(): Promise<QueuePause | undefined> {
    return need(this.backend, 'pausing').pauseOf(this.name);
  }
}

/**
 * One broker of an application: collects what handlers need, declares it, consumes when the application is up, and
 * waits for handlers when the application shuts down.
 */
export class DlxBroker implements OnModuleInit, OnApplicationShutdown {
  readonly #running: RunningBroker;

  /** @internal Made by DlxBrokerModule. */
  constructor(
    readonly options: ResolvedOptions,
    running: RunningBroker,
  ) {
    this.#running = running;
  }

  get name(): string {
    return this.options.name;
  }

  get backend(): Backend {
    return this.#running.backend;
  }

  /** Counts of the messages of handlers, and of the letters that streams and redrives retried, parked and redrove. */
  get counts(): Readonly<BrokerCounts> {
    return this.#running.counts;
  }

  /** @internal The circuits of its handlers. */
  get circuits(): Iterable<Circuit> {
    return this.#running.circuits;
  }

  /** @internal Measures handlers and broker from now on, for {@link registerDlxMetrics}. */
  measure(): Measured {
    return this.#running.measure();
  }

  /** @internal The queues whose messages are handled in order (`@Ordered`). */
  get ordered(): readonly OrderedQueue[] {
    return this.#running.ordered;
  }

  /** Events of all messages. Hot: later subscribers get no earlier events. It completes with the application. */
  get events(): Observable<OutcomeEvent> {
    return this.#running.events;
  }

  /**
   * Whether this process is alive and ready, and why not, for liveness and readiness probes. It answers from what the process knows:
   * it never publishes or declares. Answers of the same second are the same.
   */
  health(): Promise<DlxHealth> {
    return this.#running.health();
  }

  /**
   * The check of a readiness probe for `@nestjs/terminus`: `health.check([() => broker.isHealthy('dlx')])`.
   * @param key the name of the check in the answer
   * @returns `up`, or `down` with the problems, while publishes are not taken or handlers get no messages
   */
  async isHealthy<const Key extends string>(key: Key): Promise<HealthResult<Key>> {
    return readiness(key, await this.health());
  }

  /**
   * The check of a liveness probe for `@nestjs/terminus`.
   * @param key the name of the check in the answer
   * @returns `up`, or `down` if a restart of the process is the remedy: the journal of its broker failed
   */
  async isAlive<const Key extends string>(key: Key): Promise<HealthResult<Key>> {
    return liveness(key, await this.health());
  }

  /** One queue of the broker, to pause and resume it. Nothing is asked or declared yet. */
  queue(name: string): QueueControl {
    return new QueueControl(name, this.backend);
  }

  /** The handlers known so far, and whether they get messages. */
  get handlers(): readonly HandlerStatus[] {
    return this.#running.handlers;
  }

  /**
   * A handler, to pause and resume it.
   * @param name class and method: `Payments.pay`
   * @throws DlxConfigurationError when there is no such handler
   */
  handler(name: string): DlxHandler {
    return this.#running.handler(name);
  }

  /** The topology of the handlers known so far, declared or not. Reading it declares nothing. */
  topology(): Topology {
    return this.#running.topology();
  }

  /** The topology as text, see {@link topology}. */
  describeTopology(): string {
    return this.#running.describeTopology();
  }

  /** Declares the topology before other modules are initialised, because their hooks may publish. */
  async onModuleInit(): Promise<void> {
    await this.#running.onModuleInit();
  }

  /**
   * Starts to consume. It is called when all providers of the application are ready for messages. When it fails, no consumer runs
   * and no port is open.
   */
  async start(): Promise<void> {
    await this.#running.start();
  }

  /** Where AMQP clients of other processes reach this broker (option `listen`), once the application is up. */
  get amqp(): SocketAddress | undefined {
    return this.#running.amqp;
  }

  /** Where the management API of this broker is (option `listen`), once the application is up. */
  get http(): SocketAddress | undefined {
    return this.#running.http;
  }

  /** Where Prometheus finds the metrics of this broker (option `listen.metrics`), once the application is up. */
  get metrics(): MetricsAddress | undefined {
    return this.#running.metrics;
  }

  /** Closes the backend last, because other providers may publish while they are shut down. */
  async onApplicationShutdown(): Promise<void> {
    await this.#running.onApplicationShutdown();
  }

  /**
   * Stops consuming, ends streams and redrives, waits for running handlers (option `drainTimeout`), and returns the remaining
   * messages to their queues. Idempotent.
   */
  async drain(): Promise<void> {
    await this.#running.drain();
  }
}
