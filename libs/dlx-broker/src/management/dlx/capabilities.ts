import { product } from '../../broker/index.js';
import { isOf } from '../http/auth.js';
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
  /** This user may edit messages before they are redriven. */
  readonly edits: boolean;
  /** Counters come as a stream of events. */
  readonly events: boolean;
  /** Deaths are counted by their reason, and the time of a death is known. */
  readonly deaths: boolean;
  /** Queues can be paused. */
  readonly pause: boolean;
}

/** All of it, besides edits. */
const ownCapabilities: Omit<Capabilities, 'edits'> = {
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
  {
    path: '/dlx/capabilities',
    allows: 'management',
    GET: ({ user }, { edits }) => ok({ ...ownCapabilities, edits: edits && isOf('editor', user) }),
  },
];
