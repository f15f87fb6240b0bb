import type { INestMicroservice, LoggerService, ModuleMetadata } from '@nestjs/common';
import type { TestingModuleBuilder } from '@nestjs/testing';
import type { Address } from '../message/index.js';

import type { Properties } from '../message/index.js';
import {
  DlxBrokerModule,
  type DlxBroker,
  encodePayload,
  getDlxBrokerToken,
  getDlxConnectedToken,
  getDlxServerToken,
  givenBackend,
  type DlxServer,
  type TransportOptions,
} from '../nest/index.js';
import type { Letter } from '../streams/index.js';
import { optionsOf, parseDuration, refuseUnknown, whole } from '../options/index.js';
import { QueueExpectation } from './expectations.js';
import { harness, harnessOptions, type Harness, type HarnessOptions } from './harness.js';
import type { QueueView } from './queue-view.js';
import { Timeline } from './timeline.js';

/** Taken at once: a test may replace the global one by a fake that stands still. */
const { setImmediate: soon } = globalThis;

const silent: LoggerService = { log() {}, warn() {}, error() {}, fatal() {} };

/** The broker of a test, how long it waits for handlers, and its log. */
export interface DlxTestingOptions extends HarnessOptions {
  /**
   * How long `settled` and `advance` wait for handlers before they fail, in real milliseconds. Default 2000, so that
   * the test learns why before it runs into its own timeout.
   */
  readonly patience?: number;
  /** False for silence, where failures of handlers are what is tested. Default: as `@nestjs/testing` does it. */
  readonly logger?: LoggerService | false;
}

/** Which unsettled messages a test does not wait for. */
export interface SettledOptions {
  /** Queues in which the test itself keeps messages unsettled. */
  readonly except?: readonly string[];
}

/** What {@link DlxTesting.create} takes beside the application. */
export interface DlxTestingCreateOptions extends DlxTestingOptions {
  /** Options of the transport, as for `DlxBrokerModule.forRoot`: retry policies, topology, prefetch ... */
  readonly transport?: TransportOptions;
}

const testingOptions = { ...harnessOptions, patience: true, logger: true } satisfies Record<
  keyof DlxTestingOptions,
  true
>;
const createOptions = { ...testingOptions, transport: true } satisfies Record<keyof DlxTestingCreateOptions, true>;

/** Handlers did not settle their messages within the patience of the test. */
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
  readonly #patience: number;
  readonly #logger: LoggerService | undefined;
  readonly #timeline: Timeline;
  #app: INestMicroservice | undefined;

  /** Builds and starts an application; see {@link start}. */
  static async create(metadata: ModuleMetadata, options: DlxTestingCreateOptions = {}): Promise<DlxTesting> {
    refuseUnknown(options, Object.keys(createOptions), 'DlxTesting.create');
    const { transport, ...arranged } = options;
    const dlx = new DlxTesting(arranged);
    await dlx.start(metadata, transport);
    return dlx;
  }

  constructor(options: DlxTestingOptions = {}) {
    const { patience = 2_000, logger, ...arranged } = optionsOf(options, 'DlxTesting', 'write { start: new Date() }');
    refuseUnknown(options, Object.keys(testingOptions), 'DlxTesting');
    whole(1, 2_147_483_647).read(patience, 'patience of DlxTesting');
    this.#harness = harness(arranged);
    this.#patience = patience as number;
    this.#logger = logger === false ? silent : (logger as LoggerService | undefined);
    this.#timeline = new Timeline(this.#harness.clock.now());
  }

  get clock(): Harness['clock'] {
    return this.#harness.clock;
  }

  get broker(): Harness['broker'] {
    return this.#harness.broker;
  }

  /** What the application is connected to. */
  get backend(): Harness['backend'] {
    return this.#harness.backend;
  }

  /**
   * Builds and starts an application of `DlxBrokerModule` on this broker and what is given. Needs `@nestjs/testing`.
   * @param metadata as for `Test.createTestingModule`
   * @param options as for `DlxBrokerModule.forRoot`, but for the broker, which is this one
   */
  async start(metadata: ModuleMetadata, options: TransportOptions = {}): Promise<INestMicroservice> {
    const { Test } = await import('@nestjs/testing');
    const root = DlxBrokerModule.forRoot({ drainTimeout: this.#patience, ...options });
    const imports = [root, ...(metadata.imports ?? [])];
    return this.startModule(Test.createTestingModule({ ...metadata, imports }));
  }

  /**
   * The same for a module that imports `DlxBrokerModule` itself, such as the root module of an application.
   * @param builder of `Test.createTestingModule`, with whatever providers the test overrides
   */
  async startModule(builder: TestingModuleBuilder): Promise<INestMicroservice> {
    if (this.#app !== undefined) throw new Error('the application is running already');
    if (this.#logger !== undefined) builder.setLogger(this.#logger);
    const module = await this.override(builder).compile();
    const app = module.createNestMicroservice({ strategy: module.get<DlxServer>(getDlxServerToken()) });
    this.#app = app;
    this.watch(module);
    await app.listen();
    return app;
  }

  /**
   * Puts this broker in the place of the one a module brings along, and leaves the rest to the test.
   * @param name of the broker, if the application has several
   */
  override(builder: TestingModuleBuilder, name = 'default'): TestingModuleBuilder {
    return builder.overrideProvider(getDlxConnectedToken(name)).useValue(givenBackend(this.backend));
  }

  /**
   * Notes what becomes of messages, for {@link timeline} and expectations. `start` and `startModule` do that themselves.
   * @param name of the broker, if the application has several
   */
  watch(app: Pick<INestMicroservice, 'get'>, name = 'default'): void {
    this.#timeline.watch(app.get<DlxBroker>(getDlxBrokerToken(name), { strict: false }).events);
  }

  /** What happened so far, a line each. */
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
   * @throws UnroutableError when no queue gets it, and what the broker refuses
   */
  publish(to: string | Address, data: unknown, properties: Properties = {}): Promise<void> {
    const address = typeof to === 'string' ? { exchange: '', routingKey: to } : to;
    const { contentType, body } = encodePayload(data);
    const all = { deliveryMode: 2, contentType, ...properties };
    const about = `${address.exchange || '(default)'} ${address.routingKey}`;
    this.#timeline.published(this.clock.now(), typeof to === 'string' ? to : '', about);
    return new Promise((resolve, reject) => {
      this.backend.publish({ ...address, properties: all, body, mandatory: true }, (failure) =>
        failure === undefined ? resolve() : reject(failure),
      );
    });
  }

  /** The letters that wait in a queue, as a stream of dead letters would show them; nothing is touched. */
  deadLetters<T = unknown>(name: string): readonly Letter<T>[] {
    return this.queue(name).letters<T>();
  }

  /** Says what is expected of a queue; what is not so shows what happened. */
  expectQueue(name: string): QueueExpectation {
    return new QueueExpectation(this.queue(name), this.#timeline);
  }

  /** A look at a queue that changes nothing. */
  queue(name: string): QueueView {
    return this.#harness.queue(name);
  }

  /**
   * Moves the time on. Stops at every wake-up on the way (messages expire, waits are over), and before it goes on waits
   * until the handlers have settled what they got: so what they publish meanwhile happens at its right time.
   * @param duration milliseconds, or a text such as `'30s'`
   * @throws UnsettledError as `settled`
   */
  async advance(duration: number | string, options?: SettledOptions): Promise<void> {
    const until = this.clock.now() + parseDuration(duration, 'DlxTesting.advance');
    do await this.settled(options);
    while (this.clock.step(until));
  }

  /**
   * Waits until no handler has a message in hand any more.
   * @throws UnsettledError naming the queues, when that takes longer than the patience of the test
   */
  async settled({ except = [] }: SettledOptions = {}): Promise<void> {
    const start = performance.now();
    // Twice in a row: what follows the last settlement (a reply, a log line) has its turn as well.
    for (let quiet = 0; quiet < 2;) {
      await new Promise<void>((resolve) => soon(resolve));
      const busy = this.#inHand(except);
      quiet = busy.length === 0 ? quiet + 1 : 0;
      if (busy.length > 0 && performance.now() - start > this.#patience) {
        const queues = busy.map(([name, count]) => `${count} of '${name}'`).join(', ');
        throw new UnsettledError(
          `after ${this.#patience} ms of real time messages are still unsettled: ${queues}; ` +
            `if the test keeps them on purpose, name the queues in 'except'`,
        );
      }
    }
  }

  /** Closes the application and the broker. */
  async close(): Promise<void> {
    this.#timeline.end();
    await this.#app?.close();
    this.#app = undefined;
    await this.backend.close();
  }

  #inHand(except: readonly string[]): (readonly [name: string, count: number])[] {
    const busy: (readonly [string, number])[] = [];
    for (const vhost of this.broker.virtualHosts.values()) {
      for (const [name, { unacked }] of vhost.queues)
        if (unacked > 0 && !except.includes(name)) busy.push([name, unacked]);
    }
    return busy;
  }
}
