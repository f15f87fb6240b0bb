import type { openPublisher, QueueDeclared } from '../../amqp/client/index.js';
import type { Clock } from '../../engine/broker/index.js';
import type { Message } from '../../engine/message/index.js';
import { after, HomeContext, policyPatterns } from '../../platform/index.js';
import {
  type Backend,
  type BackendDelivery,
  type BackendState,
  type Browsing,
  type Capabilities,
  type ConsumeOptions,
  type ConsumerTimeout,
  type Consumption,
  type DelayedPublishing,
  type Done,
  type Listing,
  type Publication,
  type QueuePausing,
  type QueueStatus,
  type ReplyChannel,
  type ServerInfo,
  serverOf,
  whyNotConnected,
} from '../backend.js';
import { ConnectionLostError, ServerError, TopologyError } from '../errors.js';
import type { Topology } from '../topology/index.js';
import { placeOf } from './address.js';
import { RabbitMqConsumer } from './consumer/consumer.js';
import { Calls, mayPass, textOf, triedAgain } from './declarations/calls.js';
import { declareOn } from './declarations/declare.js';
import { DesiredTopology, Restoring } from './declarations/desired.js';
import { existingIn } from './declarations/existing.js';
import { Policies } from './declarations/policies.js';
import { RabbitMqDelayed } from './delayed.js';
import { asBackendError, consumerTimeoutOf, remedyOn } from './known-server.js';
import { Link, type LinkHost, type OpenLink } from './link.js';
import { HttpAccess } from './management-url.js';
import { browsingOver, listingOver, pausingOver } from './management.js';
import type { ResolvedRabbitMq, Warn } from './options.js';
import { Pauses } from './pauses.js';
import { Publisher, type PublisherHost } from './publisher/publisher.js';
import { RabbitMqReplies } from './replies.js';

/** What the backend gets from its host: clock, random numbers, sockets and a log. */
export interface RabbitMqHost extends LinkHost {
  readonly openPublisher: typeof openPublisher;
  /** Gets warnings for operators. */
  readonly warn: Warn;
  /** Keeps the process alive, also while the backend reconnects. @returns ends this */
  readonly keepAlive: () => () => void;
}

/** Pauses before a command is tried again, in milliseconds. */
const pauses = { first: 100, longest: 5_000 } as const;

/** The backend on a RabbitMQ, a cluster of them, or a stand-alone dlx-broker. */
export class RabbitMqBackend implements Backend {
  readonly rejectsWithHeaders = false;
  readonly #link: Link;
  readonly #publisher: Publisher;
  readonly #desired: DesiredTopology;
  readonly #delayed: RabbitMqDelayed;
  readonly #policies: Policies;
  /** Declares the topology again when an exchange of it is missing. */
  readonly #restore: NonNullable<PublisherHost['restore']>;
  readonly #consumers = new Set<RabbitMqConsumer>();
  readonly #replies = new Set<RabbitMqReplies>();
  /** Callbacks that wait for a connection. */
  readonly #waiting = new Set<(link: OpenLink | undefined) => void>();
  readonly #home = new HomeContext();
  readonly #http: HttpAccess;
  #endKeepAlive: (() => void) | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    private readonly options: ResolvedRabbitMq,
    private readonly host: RabbitMqHost,
  ) {
    const { clock, random, fault } = host;
    this.#http = new HttpAccess(options.management);
    this.#desired = new DesiredTopology(clock, () => this.#pauses(), host.warn);
    const restoring = new Restoring(clock, () => this.#pauses(), this.#desired);
    this.#restore = (exchange, then) => restoring.restore(exchange, this.#link.current?.connection, then);
    const isDeclared = (exchange: string): boolean => this.#desired.hasExchange(exchange);
    this.#publisher = new Publisher(
      { clock, random, fault, open: host.openPublisher, isDeclared, restore: this.#restore },
      {
        window: options.unconfirmed,
        messages: options.publishBuffer.messages,
        bytes: options.publishBuffer.bytes,
        timeout: options.publishTimeout,
        refusedFor: options.refusedFor,
      },
    );
    this.#policies = new Policies({
      own: options.policies,
      patterns: policyPatterns,
      isStrict: options.strictPolicies,
      warn: host.warn,
    });
    this.#delayed = new RabbitMqDelayed({
      publish: this.#publish,
      declare: (topology) => this.declare(topology),
      server: () => serverOf(this.state),
      api: () => this.#http.over(this.#link.current, 'any', (api, virtualHost) => ({ ...api, virtualHost })),
    });
    this.#link = new Link(options, host, {
      opened: async (link) => {
        await this.#desired.restore(link.connection);
        if (link.connection.isOpen) this.#publisher.attach(link.connection);
      },
      ready: (link) => this.#begin(link),
      lost: (failure) => this.#publisher.detach(failure.message),
      blocked: (reason) => this.#publisher.blocked(reason),
      drained: () => this.#publisher.pump(),
    });
  }

  get clock(): Clock {
    return this.host.clock;
  }

  get state(): BackendState {
    return this.#link.state;
  }

  get ready(): Promise<ServerInfo> {
    return this.#link.ready;
  }

  /** The virtual host of the connection in use; undefined while there is none. */
  get virtualHost(): string | undefined {
    return this.#link.current?.address.virtualHost;
  }

  /** Host and port of the server in use. */
  get place(): string {
    const link = this.#link.current;
    return link === undefined ? 'an unknown address' : placeOf(link.address);
  }

  onState(listener: (state: BackendState) => void): () => void {
    return this.#link.onState(listener);
  }

  get consumerTimeout(): ConsumerTimeout | undefined {
    const link = this.#link.current;
    return link && consumerTimeoutOf(link.server, this.options.consumerTimeout);
  }

  /** Available on a dlx-broker. */
  get delayed(): DelayedPublishing | undefined {
    return this.#link.current?.server.isExact === true ? this.#delayed : undefined;
  }

  /** Available on a dlx-broker with an HTTP API. */
  get browsing(): Browsing | undefined {
    return this.#http.over(this.#link.current, 'own', browsingOver);
  }

  /** Available with option `management`, and on a dlx-broker with an HTTP API. */
  get listing(): Listing | undefined {
    return this.#http.over(this.#link.current, 'any', listingOver);
  }

  /** Available on a dlx-broker with an HTTP API. */
  get pausing(): QueuePausing | undefined {
    return this.#http.over(this.#link.current, 'own', pausingOver);
  }

  remedyFor(capability: keyof Capabilities): string | undefined {
    return remedyOn(this.#link.current?.server, capability);
  }

  async connect(): Promise<void> {
    this.#endKeepAlive ??= this.#home.runInAsyncScope(this.host.keepAlive);
    try {
      await this.#home.runInAsyncScope(() => this.#link.start());
    } catch (error) {
      this.#endKeepAlive?.();
      this.#endKeepAlive = undefined;
      throw error;
    }
  }

  async declare(topology: Topology): Promise<ReadonlySet<string>> {
    const { different, ...declared } = await this.#insist(this.options.declareTimeout, async (calls, link) => {
      const place = this.#http.managed(link);
      if (place !== undefined) await this.#policies.put(place);
      const management = place && existingIn(place, this.host.warn);
      const knows = (type: string): boolean => type === 'x-delayed-message' && link.server.isExact;
      return declareOn(calls, topology, { knows, ...management });
    });
    this.#desired.add(declared);
    const link = this.#link.current;
    const place = link && this.#http.managed(link);
    if (place !== undefined) await this.#policies.look(place, topology.queues);
    return different;
  }

  publish(publication: Publication, done?: Done): void {
    this.#publisher.publish(publication, done);
  }

  consume(queue: string, options: ConsumeOptions, onDelivery: (delivery: BackendDelivery) => void): Consumption {
    const consumer = new RabbitMqConsumer(
      {
        clock: this.clock,
        pauses: () => this.#pauses(),
        publish: this.#publish,
        restore: this.#restore,
        connection: () => this.#link.connection,
        openReplacing: () => (this.#link.current?.server.canReplace === true ? this.host.openPublisher : undefined),
        isLate: (name) => this.#desired.isLate(name),
        closeTimeout: this.options.closeTimeout,
        warn: this.host.warn,
        left: (left) => this.#consumers.delete(left),
        fault: this.host.fault,
      },
      queue,
      options,
      onDelivery,
    );
    this.#consumers.add(consumer);
    consumer.begin();
    return consumer;
  }

  openReplies(
    onReply: (message: Message) => void,
    _awaits?: (correlationId: string) => boolean,
    lost: (reason: Error) => void = () => undefined,
  ): ReplyChannel {
    const { clock, fault } = this.host;
    const left = (replies: RabbitMqReplies): boolean => this.#replies.delete(replies);
    const host = { clock, fault, publish: this.#publish, timeout: this.options.publishTimeout, left };
    const replies = new RabbitMqReplies(host, onReply, lost);
    this.#replies.add(replies);
    const { connection } = this.#link;
    if (connection !== undefined) replies.begin(connection);
    return replies;
  }

  /**
   * Uses a passive declare, which does not return the number of unacknowledged messages. It also finds a direct reply-to address
   * (rule S2).
   */
  async status(queue: string): Promise<QueueStatus | undefined> {
    try {
      const found = await this.#insist(this.options.publishTimeout, (calls) =>
        calls.call<QueueDeclared>((channel, answer) => channel.checkQueue(queue, answer)),
      );
      return { messages: found.messageCount, unacknowledged: undefined, consumers: found.consumerCount };
    } catch (error) {
      if (error instanceof ServerError && error.code === 404) return undefined;
      throw error;
    }
  }

  /**
   * Waits for the confirms of what was published, and for the acks that follow them, no longer than option `closeTimeout`; then ends the
   * connection.
   */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    const consumers = Promise.all([...this.#consumers].map((consumer) => consumer.close()));
    const isUp = this.#link.current !== undefined;
    await this.#publisher.close(isUp ? this.options.closeTimeout : 0);
    await consumers;
    this.#http.end();
    for (const replies of this.#replies) replies.close();
    const closed = this.#link.close();
    for (const waiting of this.#waiting) waiting(undefined);
    await closed;
    this.#endKeepAlive?.();
    this.#endKeepAlive = undefined;
  }

  get #isClosed(): boolean {
    return this.state.kind === 'closed';
  }

  readonly #publish = (publication: Publication, done: Done): void => this.#publisher.publish(publication, done);

  #begin(link: OpenLink): void {
    for (const consumer of this.#consumers) consumer.begin();
    for (const replies of this.#replies) replies.begin(link.connection);
    for (const waiting of this.#waiting) waiting(link);
  }

  /**
   * Runs commands when there is a connection, and again after failures that may pass and after a lost connection.
   * @param milliseconds for which this is tried, and which one answer may take: many commands may take longer together
   * @throws TopologyError, ServerError; ConnectionLostError when the time is over
   */
  async #insist<T>(milliseconds: number, work: (calls: Calls, link: OpenLink) => Promise<T>): Promise<T> {
    const limit = this.clock.now() + milliseconds;
    const pauses = this.#pauses();
    for (let round = 1; ; round++) {
      const link = await this.#connected(limit);
      const calls = new Calls(link.connection, { clock: this.clock, milliseconds });
      try {
        return await work(calls, link);
      } catch (error) {
        if (error instanceof TopologyError || error instanceof ServerError) throw error;
        const mayRetry = !this.#isClosed && (!link.connection.isOpen || mayPass(error));
        if (!mayRetry || this.clock.now() >= limit) throw asBackendError(error, calls.subject);
        if (calls.subject !== undefined && round === 1) {
          const reason = textOf(error);
          this.host.warn(triedAgain(calls.subject, limit - this.clock.now(), reason), 'declarationWaits', reason);
        }
        await this.#pause(pauses.next());
      } finally {
        calls.end();
      }
    }
  }

  /** Ends after this many milliseconds; with a new connection and with {@link close} earlier. */
  #pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        this.#waiting.delete(end);
        cancel();
        resolve();
      };
      const cancel = after(this.clock, milliseconds, end);
      this.#waiting.add(end);
    });
  }

  /** @param limit milliseconds since 1970 */
  #connected(limit: number): Promise<OpenLink> {
    const { current } = this.#link;
    if (current !== undefined && !this.#isClosed) return Promise.resolve(current);
    return new Promise((resolve, reject) => {
      const closed = (): void =>
        reject(new ConnectionLostError('the connection was closed by this application', false));
      if (this.#isClosed) return closed();
      const give = (link: OpenLink | undefined): void => {
        this.#waiting.delete(give);
        cancel();
        if (link === undefined) closed();
        else resolve(link);
      };
      const cancel = after(this.clock, Math.max(0, limit - this.clock.now()), () => {
        this.#waiting.delete(give);
        reject(new ConnectionLostError(`not connected in time: ${whyNotConnected(this.state)}`, false));
      });
      this.#waiting.add(give);
    });
  }

  #pauses(): Pauses {
    return new Pauses(pauses.first, pauses.longest, this.host.random);
  }
}
