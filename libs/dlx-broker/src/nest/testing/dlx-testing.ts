import type { INestMicroservice, LoggerService, ModuleMetadata } from '@nestjs/common';
import type { TestingModuleBuilder } from '@nestjs/testing';
import type { Address, Properties } from '../../engine/message/index.js';

import {
  DlxBroker,
  DlxBrokerModule,
  type DlxHandler,
  DlxServer,
  encodePayload,
  getDlxToken,
  getDlxConnectedToken,
  givenBackend,
  type TransportOptions,
} from '../index.js';
import { UnroutableError } from '../../backends/index.js';
import type { Letter } from '../streams/index.js';
import {
  DlxConfigurationError,
  didYouMean,
  optionsOf,
  parseDuration,
  refuseUnknown,
  whole,
} from '../../platform/options/index.js';
import { type CircuitView, viewOf } from './circuit-view.js';
import { QueueExpectation } from './expectations.js';
import { type Harness, harnessOf, harnessOptions, type HarnessOptions } from './harness.js';
import type { QueueView } from './queue-view.js';
import { Timeline } from './timeline.js';

/** The real function, because a test may replace the global one by a fake. */
const { setImmediate: soon } = globalThis;

const silent: LoggerService = { log() {}, warn() {}, error() {}, fatal() {} };

/** The broker of a test, how long it waits for handlers, and its log. */
export interface DlxTestingOptions extends HarnessOptions {
  /**
   * How long `settled` and `advance` wait for handlers before they fail, in real milliseconds. Default 2000, so that
   * the test learns why before it runs into its own timeout.
   */
  readonly timeout?: number;
  /** False: no log, for tests of failing handlers. Default: that of `@nestjs/testing`. */
  readonly logger?: LoggerService | false;
}

/** Which unsettled messages a test does not wait for. */
export interface SettledOptions {
  /** Queues in which the test itself keeps messages unsettled. */
  readonly except?: readonly string[];
}

/** Options of {@link DlxTesting.create}. */
export interface DlxTestingCreateOptions extends DlxTestingOptions {
  /** Options of the transport, as for `DlxBrokerModule.forRoot`: retry policies, topology, prefetch ... */
  readonly transport?: TransportOptions;
}

const testingOptions = [...harnessOptions, 'timeout', 'logger'] as const;

/** Handlers did not settle their messages within the timeout of the test. */
export class UnsettledError extends Error {
  override readonly name = 'UnsettledError';
}

/**
 * A Nest application on a broker in virtual time: a backoff of hours takes milliseconds.
 *
 * ```ts
 * const dlx = await DlxTesting.create({ controllers: [OrdersController] });
 * await dlx.publish('orders', { id: 1 });
 * await dlx.advance('1h');
 * dlx.expectQueue('orders.parked').toHold([{ id: 1 }]);
 * await dlx.close();
 * ```
 */
export class DlxTesting {
  readonly #harness: Harness;
  readonly #timeout: number;
  readonly #logger: LoggerService | undefined;
  readonly #timeline: Timeline;
  readonly #brokers = new Set<DlxBroker>();
  #app: INestMicroservice | undefined;
  #watched: DlxBroker | undefined;
  #isClosed = false;

  /** Builds and starts an application; see {@link start}. */
  static async create(metadata: ModuleMetadata, options: DlxTestingCreateOptions = {}): Promise<DlxTesting> {
    refuseUnknown(options, [...testingOptions, 'transport'], 'DlxTesting.create');
    const { transport, ...arranged } = options;
    const dlx = new DlxTesting(arranged);
    await dlx.start(metadata, transport);
    return dlx;
  }

  constructor(options: DlxTestingOptions = {}) {
    const remedy = 'write { start: new Date() }';
    const given = optionsOf<DlxTestingOptions>(options, 'DlxTesting', remedy, testingOptions);
    const { timeout = 2_000, logger, ...arranged } = given;
    whole(1, 2_147_483_647).read(timeout, 'timeout of DlxTesting');
    this.#harness = harnessOf(arranged, 'DlxTesting');
    this.#timeout = timeout;
    this.#logger = logger === false ? silent : logger;
    this.#timeline = new Timeline(this.#harness.clock.now());
  }

  get clock(): Harness['clock'] {
    return this.#harness.clock;
  }

  get broker(): Harness['broker'] {
    return this.#harness.broker;
  }

  /** The backend of the application. */
  get backend(): Harness['backend'] {
    return this.#harness.backend;
  }

  /**
   * Builds and starts an application with the given metadata and a `DlxBrokerModule` on this broker. Needs `@nestjs/testing`.
   * @param metadata as for `Test.createTestingModule`
   * @param options as for `DlxBrokerModule.forRoot`, without the option `broker`
   */
  async start(metadata: ModuleMetadata, options: TransportOptions = {}): Promise<INestMicroservice> {
    const { Test } = await import('@nestjs/testing');
    const root = DlxBrokerModule.forRoot({ drainTimeout: this.#timeout, ...options });
    const imports = [root, ...(metadata.imports ?? [])];
    return this.startModule(Test.createTestingModule({ ...metadata, imports }));
  }

  /**
   * Starts a module that imports `DlxBrokerModule` itself, such as the root module of an application.
   * @param builder of `Test.createTestingModule`, with the overrides of the test
   */
  async startModule(builder: TestingModuleBuilder): Promise<INestMicroservice> {
    if (this.#app !== undefined) throw new Error('the application is running already');
    if (this.#logger !== undefined) builder.setLogger(this.#logger);
    const module = await this.override(builder).compile();
    const app = module.createNestMicroservice({ strategy: module.get<DlxServer>(getDlxToken(DlxServer)) });
    this.#app = app;
    this.watch(module);
    await app.listen();
    return app;
  }

  /**
   * Replaces the broker of a module by this broker. The test starts the module itself.
   * @param name of the broker, if the application has several
   */
  override(builder: TestingModuleBuilder, name = 'default'): TestingModuleBuilder {
    this.#isClosed = false;
    return builder.overrideProvider(getDlxConnectedToken(name)).useValue(givenBackend(this.backend));
  }

  /**
   * Records the outcomes of messages for {@link timeline} and expectations, and knows which messages of `@Ordered` handlers wait in
   * hand, for {@link settled} and {@link advance}. `start` and `startModule` call it.
   * @param name of the broker, if the application has several
   */
  watch(app: Pick<INestMicroservice, 'get'>, name = 'default'): void {
    const broker = app.get<DlxBroker>(getDlxToken(DlxBroker, name), { strict: false });
    this.#brokers.add(broker);
    this.#watched = broker;
    this.#timeline.watch(broker.events);
  }

  /**
   * The state of a circuit.
   * @param name in the option `circuits`, or class and method of a handler that has a circuit of its own
   * @throws DlxConfigurationError when no handler has such a circuit
   */
  circuit(name: string): CircuitView {
    const all = [...this.#application.circuits];
    const found = all.find((circuit) => circuit.name === name);
    if (found !== undefined) return viewOf(found);
    const names = all.map((circuit) => circuit.name).join(', ') || 'none';
    throw new DlxConfigurationError(`no handler has a circuit '${name}'; there are ${names}`);
  }

  /**
   * A handler, to pause and resume it.
   * @param name class and method: `Payments.pay`
   * @throws DlxConfigurationError when there is no such handler
   */
  handler(name: string): DlxHandler {
    return this.#application.handler(name);
  }

  get #application(): DlxBroker {
    if (this.#watched === undefined) throw new Error('no application is watched; call start(), or watch(app) first');
    return this.#watched;
  }

  /** The events so far, one line each. */
  get timeline(): string {
    return this.#timeline.toString();
  }

  /** The application that was started. */
  get app(): INestMicroservice {
    if (this.#app === undefined) throw new Error('no application was started');
    return this.#app;
  }

  /**
   * Publishes, and waits until the broker has taken responsibility.
   * @param to a queue's name, or an exchange and a routing key
   * @param data as `emit` takes it: bytes travel as they are, anything else as JSON
   * @throws UnroutableError when no queue gets the message; RefusedError when the broker refuses it; an error after {@link close}
   */
  publish(to: string | Address, data: unknown, properties: Properties = {}): Promise<void> {
    if (this.#isClosed)
      return Promise.reject(
        new Error('DlxTesting.publish: the application was closed by close(); publish before that'),
      );
    const address = typeof to === 'string' ? { exchange: '', routingKey: to } : to;
    const { contentType, body } = encodePayload(data);
    const all = { deliveryMode: 2, contentType, ...properties };
    const about = `${address.exchange || '(default)'} ${address.routingKey}`;
    this.#timeline.published(this.clock.now(), typeof to === 'string' ? to : '', about);
    return new Promise((resolve, reject) => {
      this.backend.publish({ ...address, properties: all, body, mandatory: true }, (failure) =>
        failure === undefined ? resolve() : reject(this.#explained(failure, address)),
      );
    });
  }

  /** The error of a publish. It names the queue or exchange that a misspelt name probably means. */
  #explained(failure: Error, { exchange, routingKey }: Address): Error {
    const namesOf = (what: 'queues' | 'exchanges'): readonly string[] =>
      [...this.broker.virtualHosts.values()].flatMap((vhost) => [...vhost[what].keys()]);
    if (failure instanceof UnroutableError && exchange === '')
      return new UnroutableError(exchange, routingKey, didYouMean(routingKey, namesOf('queues')));
    const { code } = failure as { readonly code?: unknown };
    if (code === 404)
      Object.assign(failure, { message: `${failure.message}${didYouMean(exchange, namesOf('exchanges'))}` });
    return failure;
  }

  /** The messages of a queue as letters, without consuming them. */
  deadLetters<T = unknown>(name: string): readonly Letter<T>[] {
    return this.queue(name).letters<T>();
  }

  /** Expectations about a queue. A failed one shows the timeline. */
  expectQueue(name: string): QueueExpectation {
    return new QueueExpectation(this.queue(name), this.#timeline);
  }

  /** The state of a queue, read without consuming. */
  queue(name: string): QueueView {
    return this.#harness.queue(name);
  }

  /**
   * Moves the time. It stops at every timer on the way (a message expires, a wait ends), and waits until the handlers have settled
   * their messages before it continues. So messages that the handlers publish meanwhile have the right time.
   * @param duration milliseconds, or a string such as `'30s'`
   * @throws UnsettledError as `settled`
   */
  async advance(duration: number | string, options?: SettledOptions): Promise<void> {
    const until = this.clock.now() + parseDuration(duration, 'DlxTesting.advance');
    do await this.settled(options);
    while (this.clock.step(until));
  }

  /**
   * Waits until the handlers have settled all their messages, except those that wait in hand for time to pass (`@Ordered`, `@Batch`, `@RateLimit`).
   * @throws UnsettledError naming the queues, when that takes longer than the timeout of the test
   */
  async settled({ except = [] }: SettledOptions = {}): Promise<void> {
    const start = performance.now();
    // Twice in a row, because a reply or a log line may follow the last settlement.
    for (let quiet = 0; quiet < 2;) {
      await new Promise<void>((resolve) => soon(resolve));
      const busy = this.#inHand(except);
      quiet = busy.length === 0 ? quiet + 1 : 0;
      if (busy.length > 0 && performance.now() - start > this.#timeout) {
        const queues = busy.map(([name, count]) => `${count} of '${name}'`).join(', ');
        throw new UnsettledError(
          `after ${this.#timeout} ms of real time messages are still unsettled: ${queues}; ` +
            `if the test keeps them on purpose, name the queues in 'except'`,
        );
      }
    }
  }

  /** Closes the application and the broker. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timeline.end();
    await this.#app?.close();
    this.#app = undefined;
    this.#brokers.clear();
    this.#watched = undefined;
    await this.backend.close();
  }

  #inHand(except: readonly string[]): (readonly [name: string, count: number])[] {
    const busy: (readonly [string, number])[] = [];
    for (const vhost of this.broker.virtualHosts.values()) {
      for (const [name, { unacked }] of vhost.queues) {
        const count = unacked - this.#waitingOf(name);
        if (count > 0 && !except.includes(name)) busy.push([name, count]);
      }
    }
    return busy;
  }

  /** The messages of a queue that wait in hand: for another attempt (`@Ordered`), for the rest of a batch. */
  #waitingOf(queue: string): number {
    let count = 0;
    for (const broker of this.#brokers) count += broker.waiting(queue);
    return count;
  }
}
