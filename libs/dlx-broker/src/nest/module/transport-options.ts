import type { RetryPolicy, WaitQueueType } from '../retry/index.js';
import type { ClusterOptions, TopologyOption } from '../../backends/topology/index.js';
import type { DlxTracing } from '../tracing/index.js';
import type { LogFailures } from '../core/failure-log.js';
import type { HealthOptions } from '../health/options.js';
import type { LoggingOptions } from '../log/logging.js';
import type { FeatureOptions } from '../features/options.js';
import type { NamedExchange } from '../core/handler-settings.js';

/** Options of {@link DlxServer} and {@link DlxClient}. */
export interface TransportOptions extends FeatureOptions {
  /** The topic exchange to which `emit` publishes and `@EventPattern` binds. Default `dlx.events`. */
  readonly events?: string | NamedExchange;
  /** The direct exchange to which `send` publishes and `@MessagePattern` binds. Default `dlx.requests`. */
  readonly requests?: string | NamedExchange;
  /** The most unacknowledged messages of a handler without `@Prefetch`; 0 is unlimited. Default 100. */
  readonly prefetch?: number;
  /** How long a shutdown waits for running handlers: milliseconds or `'10s'`, which is the default. */
  readonly drainTimeout?: number | string;
  /**
   * A handler without a time limit that is at work on a message for longer is warned of, and health shows it as stuck: milliseconds or
   * `'1m'`, which is the default; false for never.
   */
  readonly stuckAfter?: number | string | false;
  /**
   * Which failures of handlers are logged: `all` (the default) is a warning for each attempt that is followed by another
   * one, and an error with its stack for the last; `last` leaves the warnings out, `none` both.
   */
  readonly logFailures?: LogFailures;
  /**
   * A durable topic exchange, to which each parked message publishes a notice with the routing key `parked.` and its queue: facts, and
   * nothing of its body. Default: none.
   */
  readonly notices?: string;
  /** The retry policy of handlers without `@Retry`. Default: no retries. */
  readonly retry?: RetryPolicy;
  /** The retry policy of the handlers of a queue, by its name; false switches retries off. */
  readonly queueRetry?: Readonly<Record<string, RetryPolicy | false>>;
  /** Spans of messages: `dlxTracing()` of `dlx-broker/otel` makes them with OpenTelemetry. Default: none. */
  readonly tracing?: DlxTracing;
  /** Returns the random numbers for the jitter of retries: 0 up to but not including 1. Default `Math.random`. */
  readonly random?: () => number;
  /** The type of the wait queues of `@Retry`. Default `classic`, with `clusterTopology` `quorum`. */
  readonly waitQueueType?: WaitQueueType;
  /**
   * Declares durable queues as quorum queues whose dead letters are not lost: at-least-once, reject-publish and a delivery limit. A
   * queue that names its type keeps it. Default false.
   */
  readonly clusterTopology?: boolean | ClusterOptions;
  /** Further declarations besides those of the handlers: names, plain objects with defaults, or full declarations. */
  readonly topology?: TopologyOption;
  /** False: declares nothing, because everything exists. Default true. */
  readonly declare?: boolean;
  /** How lines are logged: levels by event, and fields for loggers that write JSON. */
  readonly logging?: LoggingOptions;
  /** Limits of {@link DlxBroker.health}. Default: none. */
  readonly health?: HealthOptions;
  /**
   * Measures the handlers and, in this process, the broker: for the option `listen.metrics`, which implies it, and for
   * `registerDlxMetrics`. Default false: then nothing is measured.
   */
  readonly metrics?: boolean;
  /** Whether the log shows each handler at start, with its queue, bindings, dead-letter exchange and retries. Default true. */
  readonly logHandlers?: boolean;
}
