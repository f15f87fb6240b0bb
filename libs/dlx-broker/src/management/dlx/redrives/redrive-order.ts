import type { Queue, User, VirtualHost } from '../../../broker/index.js';
import type { Address } from '../../../message/index.js';
import type { CircuitSettings } from '../../../redrive/index.js';
import type { MessageFilter } from '../filter.js';

/** What is to be redriven, where to, and how fast. */
export interface RedriveOrder {
  readonly vhost: VirtualHost;
  readonly queue: Queue;
  /** With whose rights, see {@link VirtualHost.check}; undefined for the host application, which may do everything. */
  readonly user: User | undefined;
  /** What is written on the messages as `dlx-redriven-by`. */
  readonly by: string;
  /** Which messages: those that fit, or those of these positions. */
  readonly filter?: MessageFilter;
  readonly ids?: readonly number[];
  /** Default: the origin of each message. */
  readonly to?: Address;
  /** Messages a second; Infinity is as many as the host can. */
  readonly rate: number;
  /** So many at most. */
  readonly limit?: number;
  /** Undefined: it goes on whatever comes back. */
  readonly circuit?: CircuitSettings;
  /** Deaths, attempts and errors stay on the message: it is put aside, not tried again. */
  readonly keepsHistory?: boolean;
  /** Looks where everything would go, and moves nothing. */
  readonly dryRun: boolean;
}
