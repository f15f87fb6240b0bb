import type { Backend } from '../../backends/index.js';
import type { WaitQueueType } from '../retry/index.js';
import type { SafeTracing } from '../tracing/index.js';
import type { LoggingOptions } from '../log/logging.js';
import type { OutboxScope } from '../features/outbox/scope.js';
import type { Envelope } from '../features/envelope/envelope.js';
import type { SharedReplies } from './shared-replies.js';
import type { StartGate } from './start-gate.js';

/** Where a client publishes. */
export interface DlxClientOptions {
  readonly backend: Backend;
  /** The exchange of events. Default `dlx.events`. */
  readonly events?: string;
  /** The exchange of requests. Default `dlx.requests`. */
  readonly requests?: string;
  /** The type of the wait queues for delayed events, on a broker without delayed exchanges. */
  readonly waitQueueType?: WaitQueueType;
  /** `nest`: writes packets of Nest's RabbitMQ transport, and reads its replies. Default `none`: the body is the data. */
  readonly envelope?: Envelope;
  /** The queue to which packets go, in place of exchanges. */
  readonly queue?: string;
  /** Spans of publishes. Default: none. */
  readonly tracing?: SafeTracing;
  /** Finds the outbox of the running handler. Default: none, and events are published at once. */
  readonly outboxes?: OutboxScope;
  /** @internal The replies of the client that made this one. Default: replies of its own. */
  readonly replies?: SharedReplies;
  /** @internal Holds back what is published before the start. Default: nothing is. */
  readonly gate?: StartGate;
  /** How lines are logged. Default: as sentences. */
  readonly logging?: LoggingOptions;
}
