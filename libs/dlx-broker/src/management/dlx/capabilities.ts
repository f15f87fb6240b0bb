import { product } from '../../broker/index.js';
import { ok } from '../http/reply.js';
import type { Resource } from '../http/resource.js';

/** What the console can show and do with a server. */
export interface Capabilities {
  /** `dlx-broker`, or `RabbitMQ`. */
  readonly product: string;
  readonly version: string;
  /** The management API of the server, if an application shows the broker of another process; null for the own broker. */
  readonly server: string | null;
  /** Messages can be looked at, filtered, grouped, edited, exported and deleted one by one, because nothing is taken. */
  readonly look: boolean;
  /** `chosen`: any messages. `first`: those at the head of a queue. */
  readonly redrive: 'chosen' | 'first';
  /** Counters come as a stream of events. */
  readonly events: boolean;
  /** Deaths are counted by their reason, and the time of a death is known. */
  readonly deaths: boolean;
  /** Queues can be paused. */
  readonly pause: boolean;
}

/** All of it. */
export const ownCapabilities: Capabilities = {
  product: product.name,
  version: product.version,
  server: null,
  look: true,
  redrive: 'chosen',
  events: true,
  deaths: true,
  pause: true,
};

export const capabilities: readonly Resource[] = [
  { path: '/dlx/capabilities', allows: 'management', GET: () => ok(ownCapabilities) },
];
