import type { Counters } from '../counters.js';
import type { QueueOwner, User } from '../declarations.js';
import type { AmqpError } from '../errors.js';
import type { ChannelOutbox } from '../ports.js';
import type { PendingOutputs } from '../scheduler/pending-outputs.js';
import type { Scheduler } from '../scheduler/scheduler.js';
import type { VirtualHostCore } from '../virtual-host/core.js';

/** A connection, as its channels know it. */
export interface ConnectionContext extends QueueOwner {
  readonly vhost: VirtualHostCore;
  /** Undefined is the host application itself, to which everything is allowed. */
  readonly user: User | undefined;
  readonly pendingOutputs: PendingOutputs;
  /** Closes the connection. @param closed called when all of that is done, now or in a later turn */
  close(closed?: () => void): void;
  /** Part of a command: a hard error in one of its channels. */
  closeWith(error: AmqpError): void;
  /** The channel is closed. */
  forget(channel: ChannelContext): void;
}

/** A channel, as its parts and the commands know it. */
export interface ChannelContext {
  readonly connection: ConnectionContext;
  readonly vhost: VirtualHostCore;
  readonly scheduler: Scheduler;
  readonly outbox: ChannelOutbox;
  /** As the client numbers it. */
  readonly number: number;
  readonly counters: Counters;
  readonly isClosed: boolean;
  /** An empty name is the queue last declared on this channel (rule O2). @throws 404 */
  queueName(name: string): string;
  /** Part of a command: the server closes the channel, and sends the error when everything is released. */
  closeWith(error: AmqpError): void;
  /** Closes the channel, or the connection, for an error in a later turn of a command. */
  closeLater(error: AmqpError, method: number): void;
}
