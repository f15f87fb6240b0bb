import type { Queue, User, VirtualHost } from '../../../engine/broker/index.js';
import type { Address } from '../../../engine/message/index.js';
import type { BreakerSettings } from '../../redrive/index.js';
import type { MessageFilter } from '../filter.js';

/** Messages of one queue: those that match a filter, or that have certain positions. */
export interface RedriveGroup {
  readonly vhost: VirtualHost;
  readonly queue: Queue;
  /** Selects messages by a filter, or by positions. */
  readonly filter?: MessageFilter;
  readonly ids?: readonly number[];
  /** The most messages of this group that are moved. */
  readonly limit?: number;
}

/** The messages of a redrive, their destination and the rate. A redrive of several groups has its first one here. */
export interface RedriveOrder extends RedriveGroup {
  /**
   * The user whose rights apply, see {@link VirtualHost.check}; undefined for the host application, which needs none.
   */
  readonly user: User | undefined;
  /** The value of the header `dlx-redriven-by`. */
  readonly by: string;
  /** All groups, if there are several. They follow one another, and a message belongs to the first one that it fits. */
  readonly groups?: readonly RedriveGroup[];
  /** Default: the origin of each message. */
  readonly to?: Address;
  /** Messages a second; Infinity is no limit. */
  readonly rate: number;
  /** The most messages, of all groups together. */
  readonly limit?: number;
  /** Undefined: the redrive continues, however many messages come back. */
  readonly circuit?: BreakerSettings;
  /** Keeps deaths, attempts and errors on the message: it is put aside, and not tried again. */
  readonly keepsHistory?: boolean;
  /** Only counts the destinations, and moves nothing. */
  readonly dryRun: boolean;
}

/** The groups of a redrive. One without a list of groups is one group, whose limit is that of the redrive. */
export const groupsOf = (order: RedriveOrder): readonly RedriveGroup[] =>
  order.groups ?? [
    {
      vhost: order.vhost,
      queue: order.queue,
      ...(order.filter && { filter: order.filter }),
      ...(order.ids && { ids: order.ids }),
    },
  ];

/** The names of the virtual host and of the queue that all groups share; each is undefined if they differ. */
export function sharedNames(order: RedriveOrder): { readonly vhost?: string; readonly queue?: string } {
  const { vhost, queue } = order;
  const groups = groupsOf(order);
  return {
    ...(groups.every((group) => group.vhost === vhost) && { vhost: vhost.name }),
    ...(groups.every((group) => group.queue === queue) && { queue: queue.name }),
  };
}
