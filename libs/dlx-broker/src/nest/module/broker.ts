import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { Observable } from 'rxjs';
import type { Backend } from '../../backends/index.js';
import type { Topology } from '../../backends/topology/index.js';
import type { BrokerCounts } from './broker-parts.js';
import type { Circuit, DlxHandler, HandlerStatus } from '../features/circuit/index.js';
import { type DlxHealth, type HealthResult, liveness, readiness } from '../health/index.js';
import type { Measured } from './measured.js';
import type { MetricsAddress, ResolvedOptions, SocketAddress } from './options.js';
import type { OrderedQueue } from '../features/ordered/ordered-queue.js';
import type { OutcomeEvent } from '../core/outcome-events.js';
import { QueueControl } from './queue-control.js';
import type { RunningBroker } from './running-broker.js';

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
