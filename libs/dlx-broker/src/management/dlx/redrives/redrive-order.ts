import type { Queue, User, VirtualHost } from '../../../broker/index.js';
import type { Address } from '../../../message/index.js';
import type { CircuitSettings } from '../../../redrive/index.js';
import type { MessageFilter } from '../filter.js';

/** The messages of a redrive, their destination and the rate. */
export interface RedriveOrder {
  readonly vhost: VirtualHost;
  readonly queue: Queue;
  /**
   * The user whose rights apply, see {@link VirtualHost.check}; undefined for the host application, which needs none.
   */
  readonly user: User | undefined;
  /** The value of the header `dlx-redriven-by`. */
  readonly by: string;
  /** Selects messages by a filter, or by positions. */
  readonly filter?: MessageFilter;
  readonly ids?: readonly number[];
  /** Default: the origin of each message. */
  readonly to?: Address;
  /** Messages a second; Infinity is no limit. */
  readonly rate: number;
  /** The most messages. */
  readonly limit?: number;
  /** Undefined: the redrive continues, however many messages come back. */
  readonly circuit?: CircuitSettings;
  /** Keeps deaths, attempts and errors on the message: it is put aside, and not tried again. */
  readonly keepsHistory?: boolean;
  /** Only counts the destinations, and moves nothing. */
  readonly dryRun: boolean;
}
