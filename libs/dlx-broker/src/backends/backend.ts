import type { Clock, ProfileName } from '../engine/broker/index.js';
import type { Address, DeathReason, FieldTable, Message, Properties, RecordedOrigin } from '../engine/message/index.js';
import type { Topology } from './topology/index.js';

/** The server of a backend, as the server describes itself. */
export interface ServerInfo {
  /** `embedded`, `dlx-broker` for a stand-alone one, `RabbitMQ`, or what another server calls itself. */
  readonly product: 'embedded' | 'dlx-broker' | 'RabbitMQ' | (string & {});
  readonly version: string;
  /** The version of RabbitMQ whose behaviour it has, such as `4.3.6`. Default: `version` of a RabbitMQ, otherwise unknown. */
  readonly behavesAs?: string;
}

/** The version of RabbitMQ whose behaviour a server has; empty if it is unknown. */
export const behaviourOf = ({ product, version, behavesAs }: ServerInfo): string =>
  behavesAs ?? (product === 'RabbitMQ' ? version : '');

/** The profile that is nearest to a server; undefined if the version of its behaviour is unknown. */
export function profileOf(server: ServerInfo): ProfileName | undefined {
  const major = Number.parseInt(behaviourOf(server));
  return Number.isNaN(major) ? undefined : major >= 4 ? '4' : '3.10';
}

/**
 * How a backend is connected.
 * - `connecting`: never connected yet; `attempt` 1 is the first, `failure` is that of the attempt before.
 * - `ready`: publishes and deliveries flow.
 * - `blocked`: connected, but the server takes no publishes at present (`connection.blocked`); deliveries flow.
 * - `reconnecting`: the connection was lost, and the backend tries to get another one, for ever.
 * - `closed`: not in use, by `close()`, or because the start failed (`failure`).
 */
export type BackendState =
  | { readonly kind: 'connecting'; readonly attempt: number; readonly failure?: Error }
  | { readonly kind: 'ready'; readonly server: ServerInfo }
  | { readonly kind: 'blocked'; readonly server: ServerInfo; readonly reason: string }
  | { readonly kind: 'reconnecting'; readonly attempt: number; readonly failure: Error }
  | { readonly kind: 'closed'; readonly failure?: Error };

/** @returns the server of a state, as text for an error */
export const serverOf = (state: BackendState): string =>
  state.kind === 'ready' || state.kind === 'blocked'
    ? `${state.server.product} ${state.server.version}`
    : `the broker (${state.kind})`;

/** Why there is no connection. */
export const whyNotConnected = (state: BackendState): string =>
  'failure' in state && state.failure !== undefined ? state.failure.message : state.kind;

/** A message to be published. */
export interface Publication {
  readonly exchange: string;
  readonly routingKey: string;
  readonly properties: Properties;
  readonly body: Uint8Array;
  /** True: if no queue gets the message, `done` gets an UnroutableError. */
  readonly mandatory?: boolean;
  /** Milliseconds after which it fails, if a server has not confirmed it by then. Default: the limit of the backend. */
  readonly timeout?: number;
  /** The recorded origin of the message that this publication replaces. Never the origin that headers claim. */
  readonly origin?: RecordedOrigin;
  /**
   * Called when no queue gets the message and it is not mandatory, if the backend can know that.
   * @param isDelayed true: the message waits for the end of its delay, and no queue would get it now
   */
  readonly dropped?: (publication: Publication, isDelayed?: boolean) => void;
}

/**
 * Called once: without a failure when the broker has taken responsibility (a publisher confirm); with a failure when the
 * message was refused or returned, or when the exchange does not exist.
 */
export type Done = (failure?: Error) => void;

/**
 * A delivered message that is not settled yet. Exactly one of the settling methods counts; the first wins, later calls
 * do nothing.
 */
export interface BackendDelivery {
  readonly message: Message;
  readonly queue: string;
  readonly redelivered: boolean;
  readonly settled: boolean;
  /** See {@link Backend.recordsOrigins}. */
  readonly recordsOrigins?: boolean;
  /** The headers cannot be decoded and are absent, also the header x-death: a reject would not count as an attempt. */
  readonly isUndecodable?: boolean;
  ack(): void;
  /**
   * basic.reject without requeue: dead-letters the message if its queue has a dead-letter exchange.
   * @param headers added to the dead letter, atomically, where the backend's `rejectsWithHeaders` says so
   */
  reject(headers?: FieldTable): void;
  /**
   * Returns the message to its original position in the queue, after a handler had it: basic.reject with requeue, which every server
   * counts for the delivery limit (rule W6). Otherwise a message that its handler returns would come again without an end.
   */
  requeue(): void;
  /**
   * The same for a message that no handler had, and for a dead letter that a stream returns: basic.nack, which RabbitMQ does not count
   * since 4.3. The delivery limit must not delete a message because a queue was paused, or because a letter was looked at.
   */
  giveBack(): void;
  /**
   * Publishes messages, and acks this delivery once the broker confirmed all of them. If one of them is refused or returned, this
   * delivery stays unsettled, and `done` gets the failure. On the embedded backend everything is one atomic step: all of it or
   * nothing, also when the power is cut. Elsewhere the messages that were confirmed before the failure are out, and so are all of them
   * when the connection is lost before the ack: they come again when the message is handled again.
   * @param publications in the order in which they are published; without any the delivery is acked
   */
  commit(publications: readonly Publication[], done?: Done): void;
  /** A {@link commit} of one message, which takes the place of this delivery. */
  replaceBy(publication: Publication, done?: Done): void;
}

export interface ConsumeOptions {
  /** Unsettled deliveries at most; 0 is unlimited. */
  readonly prefetch: number;
  readonly priority?: number;
  readonly exclusive?: boolean;
  /**
   * True: the listener gets messages that come between `cancel()` and the answer of the server, and settles them. Default: they return
   * to their queue, which a quorum queue counts.
   */
  readonly takesLate?: boolean;
  /** Called once when the consumer has ended for good. It does not end with a lost connection. */
  readonly onCancel?: (reason: CancelReason, failure?: Error) => void;
  /**
   * Called when the unsettled deliveries have returned to their queue although the consumer did not end: its connection or its
   * channel was lost, and it begins again. Other consumers may get them.
   */
  readonly onInterrupted?: (failure: Error | undefined) => void;
}

/**
 * Why a consumer ended. `deleted`: its queue was deleted. `refused`: the broker refused it after a reconnect, or ended it for an error.
 * `closed`: the connection was closed for good.
 */
export type CancelReason = 'deleted' | 'refused' | 'closed';

/** A message that died in a queue. */
export interface BackendDeath {
  readonly queue: string;
  readonly message: Message;
  readonly reason: DeathReason;
}

/** The end of a page of {@link Browsing.browse}. Opaque. */
export type BrowseCursor = object;

/** A page of the messages that wait in a queue. */
export interface BrowsePage {
  readonly messages: readonly Message[];
  /** Undefined after the last page. */
  readonly next: BrowseCursor | undefined;
}

/** A consumer. */
export interface Consumption {
  /**
   * Resolves when the consumer has started, or was cancelled before. Absent if it has started already. If it rejects, there is no
   * consumer, and `onCancel` is not called.
   */
  readonly started?: Promise<void>;
  /** True when it gets nothing more, and nothing of it is unsettled. Absent if that is not known. */
  readonly isOver?: boolean;
  /** Ends deliveries. Unsettled deliveries can still be settled. */
  cancel(): void;
  /**
   * Cancels, and returns unsettled messages to their positions in the queue. Commits that are under way go on, and settle their
   * deliveries; nothing else can be done with any of its deliveries.
   */
  close(): void;
}

/** The state of a queue, read without consuming. */
export interface QueueStatus {
  /** Messages that are ready to be delivered. */
  readonly messages: number;
  /** Undefined when the backend does not know it: a passive declare does not return it. */
  readonly unacknowledged: number | undefined;
  readonly consumers: number;
}

/** Looks at waiting messages. */
export interface Browsing {
  /** True if the queues are in this process, so that a long page costs no call to a server. */
  readonly isLocal?: boolean;
  /**
   * The messages that wait in a queue, in the order of delivery: none is delivered, counted or flagged.
   * @param limit messages at most
   * @param after where the page before ended; undefined: from the first
   * @throws TopologyError when there is no such queue
   */
  browse(queue: string, limit: number, after?: BrowseCursor): Promise<BrowsePage>;
  /**
   * When the next message of a queue died, in milliseconds since 1970; undefined without a dead letter. It is the oldest: dead letters
   * come in order.
   * @param since the time at which a message died. A server has a rule of its own
   * @throws TopologyError when there is no such queue
   */
  oldest(queue: string, since: (message: Message) => number | undefined): Promise<number | undefined>;
}

/** Lists the queues of the broker. */
export interface Listing {
  /** The names of all queues of the virtual host. */
  queueNames(): Promise<readonly string[]>;
}

/** Reports deaths. */
export interface Deaths {
  /**
   * Reports messages that die in a queue, for any reason.
   * @returns what ends it
   */
  onDeath(listener: (death: BackendDeath) => void): () => void;
}

/** Why a queue delivers nothing to its consumers. Times are milliseconds since 1970. */
export interface QueuePause {
  /** Empty for none. */
  readonly reason: string;
  /** The user who paused it; undefined is the application of the broker. */
  readonly by: string | undefined;
  readonly since: number;
  /** When the pause ends by itself; undefined while it lasts until it is ended. */
  readonly until: number | undefined;
}

/** Stops the deliveries of a queue to all its consumers, in all processes. */
export interface QueuePausing {
  /**
   * Pauses a queue; resolves when that is stored. A pause of a paused queue replaces its reason and its end.
   * @param request the reason, up to 500 characters, and the milliseconds after which the pause ends by itself, up to 365 days
   * @throws TopologyError when there is no such queue
   */
  pause(queue: string, request?: { readonly reason?: string; readonly for?: number }): Promise<void>;
  /** Ends the pause, if there is one. @throws TopologyError when there is no such queue */
  resume(queue: string): Promise<void>;
  /** The pause of a queue; undefined while it is not paused. @throws TopologyError when there is no such queue */
  pauseOf(queue: string): Promise<QueuePause | undefined>;
}

/** How long deliveries may be unacknowledged (rule Q8). After that the messages return to their queues. */
export interface ConsumerTimeout {
  /** Milliseconds; Infinity for no limit. */
  readonly limit: number;
  /** True if the argument `x-consumer-timeout` of a queue takes precedence. */
  readonly byQueue: boolean;
  /** True if only quorum queues have it, as since RabbitMQ 4.3. Default false. */
  readonly quorumOnly?: boolean;
}

/** What only some servers can do. Reach a member by `need(backend, 'browsing')`, which explains its absence. */
export interface Capabilities {
  readonly browsing?: Browsing | undefined;
  readonly listing?: Listing | undefined;
  /** Exact delays: the broker has exchanges of the type `x-delayed-message`. Absent where wait queues are used instead. */
  readonly delayed?: DelayedPublishing | undefined;
  readonly deaths?: Deaths | undefined;
  readonly pausing?: QueuePausing | undefined;
}

/**
 * The interface between Nest and a broker. The embedded backend answers in the same call stack wherever a
 * callback allows it and creates no promise per message; a RabbitMQ backend answers later.
 */
export interface Backend extends Capabilities {
  /** How it is connected now. The embedded backend is always ready. */
  readonly state: BackendState;
  /** Settles with the first `ready`; rejects when the start failed. */
  readonly ready: Promise<ServerInfo>;
  /**
   * Calls the listener with each new state, not with the present one.
   * @returns what ends it
   */
  onState(listener: (state: BackendState) => void): () => void;
  /** A better remedy for a capability that its server lacks, such as an option of this backend. */
  remedyFor?(capability: keyof Capabilities): string | undefined;
  /** True when `reject(headers)` adds its headers to the dead letter. AMQP's reject cannot (an extension of ours). */
  readonly rejectsWithHeaders: boolean;
  /**
   * True when its broker records where a message was published at first (`message.origin`). Without the record only headers name
   * the origin, and a publisher may have written them.
   */
  readonly recordsOrigins?: boolean;
  /** How long deliveries may be unacknowledged. Undefined while it is unknown: 30 minutes. */
  readonly consumerTimeout?: ConsumerTimeout | undefined;
  /** The clock of the backend: that of the host, or in tests a `ManualClock`. */
  readonly clock: Clock;
  /**
   * Milliseconds since 1970. Inside a delivery it is the time of the command that caused the delivery, which costs no reading of the
   * clock. Undefined: `clock.now()`.
   */
  readonly now?: () => number;
  /**
   * Settles when it is connected. Idempotent.
   * @throws ConnectError when the retries of the start are used up; after a first success it reconnects by itself
   */
  connect(): Promise<void>;
  /**
   * Declares everything, deletes nothing. What exists with other arguments is a TopologyError that shows, argument by
   * argument, what is there and what was asked.
   * @returns the names of queues that exist with other arguments than asked, where the declaration allows that (`mayDiffer`)
   */
  declare(topology: Topology): Promise<ReadonlySet<string>>;
  publish(publication: Publication, done?: Done): void;
  consume(queue: string, options: ConsumeOptions, onDelivery: (delivery: BackendDelivery) => void): Consumption;
  /**
   * Opens a request channel. Replies to its address (direct reply-to) go to `onReply`.
   * @param awaits true while the client waits for the answer to this request
   * @param lost called when the broker ended the channel: no reply comes any more, and the next request needs another channel. It is
   *   never called inside this call, whose result the caller does not have yet, and at most once
   */
  openReplies(
    onReply: (message: Message) => void,
    awaits?: (correlationId: string) => boolean,
    lost?: (reason: Error) => void,
  ): ReplyChannel;
  /**
   * Calls `gone` once, when no client waits for the answer to a request any more: its direct reply-to address is gone (rule S2),
   * its reply queue was deleted, or the client in this process gave up. If that is so already, `gone` is called at once. Absent
   * where a broker in another process would have to be asked.
   * @returns what ends it
   */
  onRequesterGone?(replyTo: string, correlationId: string | undefined, gone: () => void): () => void;
  status(queue: string): Promise<QueueStatus | undefined>;
  /** The dead-letter exchange of a queue by its arguments or a policy. Absent where the backend does not know it. */
  deadLetterExchange?(queue: string): string | undefined;
  /**
   * Sets a policy of its own for a queue whose arguments cannot change: how long it keeps messages, and where they go then. Absent
   * where the operators of a server set policies.
   * @param definition the definition of the policy; undefined removes the policy
   * @returns why the policy has no such effect; undefined if it has
   */
  retain?(queue: string, definition: Readonly<Record<string, string | number>> | undefined): string | undefined;
  /** Cancels consumers and returns what is unsettled. Idempotent. */
  close(): Promise<void>;
}

/** A message that waits in the broker before it goes to its queues. */
export interface DelayedPublication {
  /** What to publish. */
  readonly publication: Publication;
  /** To be called when the broker did not take it: what it needs is declared again for the next one. */
  readonly failed?: () => void;
}

/** Publishes that wait in the broker, to the millisecond. */
export interface DelayedPublishing {
  /**
   * Declares what a delayed message needs, so that it can be published together with others.
   * @param delay whole milliseconds, above 0
   * @throws when the exchange, or by the default exchange the queue, is not there; a promise rejects
   */
  prepare(publication: Publication, delay: number): DelayedPublication | Promise<DelayedPublication>;
  /** @param delay whole milliseconds, above 0 */
  publish(publication: Publication, delay: number, done?: Done): void;
  /**
   * Removes the delayed messages of an exchange that have this id.
   * @returns how many they were
   */
  cancel(exchange: string, messageId: string): number | Promise<number>;
  /**
   * Reports delayed messages that no queue got when they were due. Absent where the broker does not tell of them.
   * @param listener gets the exchange and the routing key of the publish
   * @returns what ends it
   */
  onUnrouted?(listener: (address: Address) => void): () => void;
}

/** Publishes requests whose replies come back without a queue of their own (rule S1). */
export interface ReplyChannel {
  /** The address at which it gets replies; undefined while it is unknown, or may change. */
  readonly address?: string;
  /** Sets the reply-to of the publication. One that has the {@link address} already costs no copy. */
  request(publication: Publication, done?: Done): void;
  /** The client waits for the answer to this request no longer. The handler that would answer may be informed. */
  giveUp?(correlationId: string): void;
  close(): void;
}
