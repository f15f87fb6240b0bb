import {
  type Broker,
  type Channel,
  type Clock,
  type Connection,
  Outcome,
  profiles,
  versionOf,
  replyQueue,
  silentOutbox,
} from '../../engine/broker/index.js';
import type { Message } from '../../engine/message/index.js';
import { HomeContext, keepAlive } from '../../platform/index.js';
import type {
  Backend,
  BackendDelivery,
  BackendState,
  Browsing,
  CancelReason,
  ConsumeOptions,
  ConsumerTimeout,
  Consumption,
  Deaths,
  DelayedPublishing,
  Done,
  Listing,
  Publication,
  QueuePausing,
  QueueStatus,
  ReplyChannel,
  ServerInfo,
} from '../backend.js';
import { RefusedError, TopologyError, UnroutableError } from '../errors.js';
import type { Topology } from '../topology/index.js';
import { browsingOn, deathsOn, listingOn, pausingOn, retainOn, withHint } from './capabilities.js';
import { EmbeddedDelayed } from './delayed.js';
import { type EmbeddedConsumer, EmbeddedDelivery } from './delivery.js';
import { declareEmbedded } from './topology.js';

const ignored: Done = () => undefined;

type Lost = (reason: CancelReason, failure?: Error) => void;

interface EmbeddedOptions {
  /** Default `/`. */
  readonly vhost?: string;
  /** Default none: everything is allowed. */
  readonly user?: string;
}

const notStored = (cause: Error): TopologyError =>
  new TopologyError(`what was declared is not kept: ${cause.message}`, [], { cause });

/** The publication with its reply-to. Nearly all have it already. */
function repliedAt(replyTo: string, publication: Publication): Publication {
  const { properties } = publication;
  return properties.replyTo === replyTo ? publication : { ...publication, properties: { ...properties, replyTo } };
}

/** The version of RabbitMQ that a broker behaves like, as option `rabbitmq` names it. */
const profileName = ({ profile }: Broker): string =>
  Object.entries(profiles).find(([, each]) => each === profile)?.[0] ?? 'of unknown version';

/** The backend on a broker in the same process. It is synchronous: the promises of the interface are already resolved. */
export class EmbeddedBackend implements Backend {
  readonly rejectsWithHeaders = true;
  readonly recordsOrigins = true;
  readonly delayed: DelayedPublishing = new EmbeddedDelayed(this, () => this.#connected());
  readonly browsing: Browsing = browsingOn(() => this.#connected());
  readonly listing: Listing = listingOn(() => this.#connected());
  readonly pausing: QueuePausing;
  readonly deaths: Deaths = deathsOn(() => this.#connected());
  readonly state: BackendState;
  readonly consumerTimeout: ConsumerTimeout;
  readonly #options: EmbeddedOptions;
  /** The open consumers, each with the function to call when the broker ends it. */
  readonly #consumptions = new Map<Channel, Lost>();
  readonly #replies = new Map<Channel, (reason: Error) => void>();
  #connection: Connection | undefined;
  #publishing: Channel | undefined;
  /** The process stays alive while there are consumers. */
  #endKeepAlive: (() => void) | undefined;
  readonly #home = new HomeContext();

  constructor(
    readonly broker: Broker,
    options: EmbeddedOptions = {},
  ) {
    this.#options = options;
    const { consumerTimeout: limit, profile } = broker;
    this.consumerTimeout = { limit, byQueue: profile.queueConsumerTimeouts, quorumOnly: profile.queueConsumerTimeouts };
    this.pausing = pausingOn(broker, () => this.#connected());
    this.state = {
      kind: 'ready',
      server: { product: 'embedded', version: profileName(broker), behavesAs: versionOf(broker) },
    };
  }

  get ready(): Promise<ServerInfo> {
    return Promise.resolve((this.state as BackendState & { readonly kind: 'ready' }).server);
  }

  /** The state never changes. */
  onState(): () => void {
    return () => undefined;
  }

  get clock(): Clock {
    return this.broker.clock;
  }

  readonly now = (): number => this.#connection?.vhost.scheduler.time ?? this.clock.now();

  /** The number of unsettled deliveries. */
  get unsettled(): number {
    let count = 0;
    for (const channel of this.#consumptions.keys()) count += channel.unackedCount;
    return count;
  }

  async connect(): Promise<void> {
    this.#connected();
  }

  async declare(topology: Topology): Promise<ReadonlySet<string>> {
    const connection = this.#connected();
    const { sequence } = this.broker;
    const different = declareEmbedded(topology, connection.vhost, () => connection.openChannel(silentOutbox));
    await new Promise<void>((resolve, reject) => {
      this.broker.onStored(sequence, (failure) => (failure === undefined ? resolve() : reject(notStored(failure))));
    });
    return different;
  }

  publish(publication: Publication, done?: Done): void {
    const failure = this.#publishOne(publication, done ?? ignored);
    if (failure !== undefined) done?.(failure);
  }

  consume(queue: string, options: ConsumeOptions, onDelivery: (delivery: BackendDelivery) => void): Consumption {
    const lost: Lost = (reason, failure) => options.onCancel?.(reason, failure);
    const consumer: EmbeddedConsumer = {
      isCancelled: false,
      closeIfIdle: () => {
        if (channel.unackedCount === 0) this.#end(channel);
      },
    };
    const channel = this.#connected().openChannel({
      ...silentOutbox,
      deliver: (delivery) => {
        try {
          onDelivery(new EmbeddedDelivery(channel, delivery, consumer));
        } catch (error) {
          this.#end(channel); // a listener that throws cannot consume: all messages return to the queue
          lost('closed', error as Error);
          throw error;
        }
      },
      cancelled: () => {
        consumer.isCancelled = true; // unsettled deliveries can still be settled, and then the channel ends
        consumer.closeIfIdle();
        lost('deleted');
      },
      closed: (error) => {
        this.#consumptions.delete(channel);
        lost('closed', error);
      },
    });
    this.#consumptions.set(channel, lost);
    this.#endKeepAlive ??= this.#home.runInAsyncScope(keepAlive);
    channel.qos(options.prefetch);
    const { priority, exclusive = false } = options;
    const args =
      priority === undefined ? undefined : new Map([['x-priority', { type: 'I', value: priority } as const]]);
    let tag: string;
    try {
      tag = channel.consume(queue, { exclusive, ...(args === undefined ? {} : { arguments: args }) });
    } catch (error) {
      this.#end(channel);
      throw withHint(error, queue, this.#connected().vhost);
    }
    return {
      get isOver() {
        return channel.isClosed;
      },
      cancel: () => {
        if (channel.isClosed || consumer.isCancelled) return;
        channel.cancel(tag);
        consumer.isCancelled = true;
        consumer.closeIfIdle();
      },
      close: () => this.#end(channel),
    };
  }

  openReplies(
    onReply: (message: Message) => void,
    awaits?: (correlationId: string) => boolean,
    lost: (reason: Error) => void = () => undefined,
  ): ReplyChannel {
    const channel = this.#connected().openChannel({
      ...silentOutbox,
      awaits: (correlationId) => correlationId === undefined || awaits?.(correlationId) !== false,
      deliver: (delivery) => onReply(delivery.message),
    });
    this.#replies.set(channel, lost);
    channel.consume(replyQueue, { noAck: true });
    const address = channel.replyAddress as string;
    return {
      address,
      // By another channel: a publish that fails must not end the reply-to address at which other requests wait.
      request: (publication, done) => this.publish(repliedAt(address, publication), done),
      giveUp: (correlationId) => {
        const { scheduler, replies } = channel.vhost;
        scheduler.batch(() => replies.givenUp(address, correlationId));
      },
      close: () => {
        this.#replies.delete(channel);
        channel.close();
      },
    };
  }

  onRequesterGone(replyTo: string, correlationId: string | undefined, gone: () => void): () => void {
    const connection = this.#connected();
    const { replies, queues, scheduler } = connection.vhost;
    if (!queues.has(replyTo) && !replies.awaits(replyTo, correlationId)) {
      gone();
      return () => undefined;
    }
    // After the command: the handler may start new ones.
    const sendGone = (): void => scheduler.output({ connection, send: gone });
    return replies.watch(replyTo, { correlationId, gone: sendGone });
  }

  async status(queue: string): Promise<QueueStatus | undefined> {
    const found = this.#connected().vhost.queues.get(queue);
    if (found === undefined) return undefined;
    const { length: messages, unacked: unacknowledged, consumers } = found;
    return { messages, unacknowledged, consumers: consumers.count };
  }

  deadLetterExchange(queue: string): string | undefined {
    return this.#connected().vhost.queues.get(queue)?.settings.deadLetterExchange;
  }

  retain(queue: string, definition: Readonly<Record<string, string | number>> | undefined): string | undefined {
    return retainOn(this.#connected(), queue, definition);
  }

  async close(): Promise<void> {
    this.#endKeepAlive?.();
    this.#endKeepAlive = undefined;
    this.#connection?.close();
    this.#connection = undefined;
    this.#publishing = undefined;
    this.#consumptions.clear();
    this.#replies.clear();
  }

  #connected(): Connection {
    if (this.#connection === undefined || this.#connection.isClosed) {
      this.#connection = this.broker.connect({
        ...this.#options,
        outbox: { closed: (reason) => this.#forced(reason) },
      });
      this.#publishing = undefined;
    }
    return this.#connection;
  }

  /**
   * An operator closed the connection, or deleted its user or its virtual host: its channels ended without a notice. After the
   * end of the broker there is nothing to reconnect to.
   */
  #forced(reason: Error): void {
    if (this.broker.isClosed) return;
    const ended = <T>(channels: Map<Channel, T>) => [...channels].filter(([channel]) => channel.isClosed);
    const [consumptions, replies] = [ended(this.#consumptions), ended(this.#replies)];
    for (const [channel] of consumptions) this.#end(channel);
    for (const [channel] of replies) this.#replies.delete(channel);
    for (const [, lost] of consumptions) lost('closed', reason);
    for (const [, lost] of replies) lost(reason);
  }

  #end(channel: Channel): void {
    this.#consumptions.delete(channel);
    channel.close();
    if (this.#consumptions.size > 0) return;
    this.#endKeepAlive?.();
    this.#endKeepAlive = undefined;
  }

  readonly #publishOne = (publication: Publication, settled: Done): Error | undefined => {
    const { exchange, routingKey, properties, body, mandatory = false, origin } = publication;
    const connection = this.#connected();
    if (this.#publishing === undefined || this.#publishing.isClosed)
      this.#publishing = connection.openChannel(silentOutbox);
    let failure: Error | undefined;
    let isOver = false;
    let isStored = false;
    let early: Error | undefined;
    const stored = (lost?: Error): void => {
      const reason = lost && new RefusedError(exchange, routingKey, lost.message);
      if (!isOver) {
        isStored = true;
        early = reason;
      } else if (failure === undefined) settled(reason);
    };
    try {
      const outcome = this.#publishing.publishNow(exchange, routingKey, properties, body, stored, origin);
      if ((outcome & Outcome.Refused) !== 0) {
        failure = new RefusedError(exchange, routingKey, connection.vhost.journal?.trouble);
      } else if ((outcome & Outcome.Routed) === 0) {
        if (mandatory) failure = new UnroutableError(exchange, routingKey);
        else publication.dropped?.(publication);
      }
    } catch (error) {
      failure = error as Error;
    }
    isOver = true;
    if (failure === undefined && isStored) settled(early);
    return failure;
  };
}
