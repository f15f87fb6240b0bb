import type { UserPresence } from '../access/limits.js';
import type { ClientDetails, User } from '../declarations.js';
import type { AmqpError } from '../errors.js';
import type { ChannelOutbox, ConnectionOutbox } from '../ports.js';
import { PendingOutputs } from '../scheduler/pending-outputs.js';
import type { Output } from '../scheduler/scheduler.js';
import type { VirtualHostCore } from '../virtual-host/core.js';
import { Channel } from './channel.js';
import type { ConnectionContext } from './context.js';
import { Closing } from './long-commands.js';

/** A client's connection to one virtual host: its channels, its exclusive queues, its user. */
export class Connection implements ConnectionContext {
  /** Outputs that are not sent yet: a listener may have to answer behind them. */
  readonly pendingOutputs = new PendingOutputs();
  readonly outbox: ConnectionOutbox | undefined;
  /** Who is at the other end; undefined is the host application itself. */
  readonly client: ClientDetails | undefined;
  readonly #channels = new Set<Channel>();
  /** Few connections have one. */
  #exclusiveQueues: Set<string> | undefined;
  #closed = false;
  #closing: Closing | undefined;

  constructor(
    readonly vhost: VirtualHostCore,
    /** Undefined is the host application itself, to which everything is allowed. */
    readonly user: User | undefined,
    /** Unique among all connections of the broker, closed ones included. */
    readonly number: number,
    { outbox, client }: { readonly outbox?: ConnectionOutbox; readonly client?: ClientDetails },
    /** The open connections of the virtual host: it is one of them until it is closed. */
    readonly open: Set<Connection>,
    /** Counts the connections and channels of users; undefined for a connection that is not counted. */
    readonly presence?: UserPresence,
  ) {
    this.outbox = outbox;
    this.client = client;
    if (user !== undefined) presence?.connected(user.name);
    open.add(this);
    vhost.counters.connectionCreated++;
  }

  /** Names of the queues that are deleted with it (rule O4). */
  get exclusiveQueues(): Set<string> {
    return (this.#exclusiveQueues ??= new Set());
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  get channels(): ReadonlySet<Channel> {
    return this.#channels;
  }

  /**
   * @param number as the client numbers it; it appears in error texts only
   * @throws 530 when the user has as many channels as it may have (rule N7)
   */
  openChannel(outbox: ChannelOutbox, number = this.#channels.size + 1): Channel {
    if (this.user !== undefined) this.presence?.checkChannel(this.user.name);
    const channel = new Channel(this, outbox, number);
    this.#channels.add(channel);
    if (this.user !== undefined) this.presence?.opened(this.user.name);
    this.vhost.counters.channelCreated++;
    return channel;
  }

  /**
   * Closes the connection: removes its consumers, returns unsettled deliveries, and deletes its exclusive queues.
   * Idempotent.
   * @param closed called when all of that is done, now or in a later turn
   */
  close(closed?: () => void): void {
    const { scheduler } = this.vhost;
    scheduler.batch(() => this.#close());
    if (closed !== undefined) this.#closing?.after(closed);
  }

  /** The server closes the connection; its outbox gets the error. */
  force(error: AmqpError): void {
    const { scheduler } = this.vhost;
    if (this.#closed) return;
    scheduler.batch(() => this.closeWith(error));
  }

  /** Part of a command: a hard error in one of its channels, or {@link force}. */
  closeWith(error: AmqpError): void {
    if (this.#closed) return;
    this.#close();
    const { outbox } = this;
    const { scheduler } = this.vhost;
    if (outbox === undefined) return;
    this.#closing?.after(() => scheduler.batch(() => scheduler.output(new Closed(this, outbox, error))));
  }

  /** Part of a command: ends all output, and releases what the connection has in turns. */
  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const channels = [...this.#channels];
    const closing = new Closing(channels, this.vhost, this.exclusiveQueues);
    this.#closing = closing;
    for (const channel of channels) channel.stop(closing);
    closing.start();
    this.open.delete(this);
    if (this.user !== undefined) this.presence?.disconnected(this.user.name);
    this.vhost.counters.connectionClosed++;
  }

  forget(channel: Channel): void {
    if (!this.#channels.delete(channel)) return;
    if (this.user !== undefined) this.presence?.closed(this.user.name);
    this.vhost.counters.channelClosed++;
  }
}

class Closed implements Output {
  constructor(
    readonly connection: Connection,
    readonly outbox: ConnectionOutbox,
    readonly error: AmqpError,
  ) {}

  send(): void {
    this.outbox.closed(this.error);
  }
}
