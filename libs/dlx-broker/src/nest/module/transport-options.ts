import { optionsOf, parseDuration, parseTimeLimit, refused, whole } from '../../platform/options/index.js';
import { type ClusterOptions, readTopology, type TopologyOption } from '../../backends/topology/index.js';
import type { LogFailures } from '../core/failure-log.js';
import { checkExchange, type NamedExchange } from '../core/handler-settings.js';
import { featureOptions, type FeatureOptions } from '../features/options.js';
import { type HealthOptions, resolveHealth } from '../health/options.js';
import { areLoggingOptions, type LoggingOptions } from '../log/logging.js';
import { planRetry, type RetryPolicy, type WaitQueueType } from '../retry/index.js';
import { type DlxTracing, tracingMethods } from '../tracing/index.js';
import {
  asGiven,
  type Check,
  type Checks,
  has,
  isFlag,
  isFunction,
  isOneOf,
  isText,
  isWhole,
  type Reader,
} from './check-options.js';

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
  /**
   * False: this process only publishes. Its handlers get no messages, methods with `@OnDeadLetter` are not called, and what handlers need is
   * declared nevertheless, but for queues that end with their consumers. Default true.
   */
  readonly registerHandlers?: boolean;
  /** How lines are logged: levels by event, and fields for loggers that write JSON. */
  readonly logging?: LoggingOptions;
  /** Limits of {@link DlxBroker.health}. Default: none. */
  readonly health?: HealthOptions;
  /**
   * Measures the handlers and, in this process, the broker: for the option `listen.metrics`, which implies it, and for
   * `registerDlxMetrics`. Default false: then nothing is measured.
   */
  readonly metrics?: boolean;
  /** Whether the log shows each handler at start: its queue, its bindings, and what happens to failed messages. Default true. */
  readonly logHandlers?: boolean;
}

/** The shortest `stuckAfter`, in milliseconds. */
const leastStuckAfter = 1_000;

const isTracing = has('tracing, such as dlxTracing() of dlx-broker/otel', ...tracingMethods);

const readExchange =
  (preset: NamedExchange): Reader<NamedExchange> =>
  (value, origin) => {
    if (typeof value === 'string') isText(value, origin);
    const given = typeof value === 'string' ? { name: value } : (value ?? {});
    const exchange = { ...preset, ...optionsOf(given, origin, "write a name, or { name: 'shop', type: 'topic' }") };
    checkExchange(exchange, origin);
    return exchange;
  };

/** A policy is planned once for its errors, because none may arise later: perhaps each handler has a policy of its own. */
const isPolicy: Check = (value, origin) => {
  const policy = optionsOf(value, origin, 'write { attempts: 5 }, or leave it out for none');
  planRetry(policy as unknown as RetryPolicy, { queue: '', origin });
};

const arePolicies: Check = (value, origin) => {
  const policies = optionsOf(value, origin, "write { 'the queue': { attempts: 5 } }");
  for (const [queue, policy] of Object.entries(policies)) {
    if (policy !== undefined && policy !== false) isPolicy(policy, `${origin}, queue '${queue}'`);
  }
};

const readClusterTopology: Reader<ClusterOptions | undefined> = (value = false, origin) => {
  if (typeof value === 'boolean') return value ? {} : undefined;
  const remedy = 'write true, false or { deliveryLimit: 20 }';
  const given = optionsOf<ClusterOptions>(value, origin, remedy, ['deliveryLimit']);
  const { deliveryLimit } = given;
  if (deliveryLimit !== undefined) whole(0, Number.MAX_SAFE_INTEGER).read(deliveryLimit, `${origin}, deliveryLimit`);
  return given;
};

const exchanges = {
  events: readExchange({ name: 'dlx.events', type: 'topic' }),
  requests: readExchange({ name: 'dlx.requests', type: 'direct' }),
};

/** Refuses the exchange of another option: handlers of all events would get notices as events. */
const readNotices: Reader<string | undefined> = (value, origin, beside = {}) => {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value === '') {
    throw refused(value, origin, "is not the name of an exchange; write 'dlx.notices'");
  }
  checkExchange({ name: value }, origin);
  for (const [option, read] of Object.entries(exchanges)) {
    if (read(beside[option], origin.replace('notices', option)).name !== value) continue;
    const why = "its handlers would get notices; give notices an exchange of their own, such as 'dlx.notices'";
    throw refused(value, origin, `is the exchange of option '${option}', and ${why}`);
  }
  return value;
};

/** The type of the wait queues: classic on one broker, quorum on a cluster. */
const readWaitQueueType: Reader<WaitQueueType> = (value, origin, { clusterTopology = false } = {}) =>
  asGiven<WaitQueueType>(isOneOf('classic', 'quorum'), clusterTopology === false ? 'classic' : 'quorum')(value, origin);

/** Every option of the transport: what it accepts, its default, and what the library makes of it. */
export const transportChecks = {
  ...featureOptions,
  ...exchanges,
  prefetch: asGiven(isWhole(0, 65_535), 100),
  drainTimeout: (value: unknown = '10s', origin: string) => parseDuration(value as string, origin),
  stuckAfter: (value: unknown = '1m', origin: string) => parseTimeLimit(value, origin, leastStuckAfter),
  notices: readNotices,
  retry: asGiven<RetryPolicy | undefined>(isPolicy, undefined),
  queueRetry: asGiven<Readonly<Record<string, RetryPolicy | false | undefined>>>(arePolicies, {}),
  random: asGiven<() => number>(isFunction, Math.random),
  tracing: asGiven<DlxTracing | undefined>(isTracing, undefined),
  waitQueueType: readWaitQueueType,
  clusterTopology: readClusterTopology,
  topology: (value: unknown = {}) => readTopology(value, "option 'topology' of DlxBrokerModule"),
  declare: asGiven(isFlag, true),
  registerHandlers: asGiven(isFlag, true),
  health: resolveHealth,
  metrics: asGiven(isFlag, false),
  logging: asGiven<LoggingOptions>(areLoggingOptions, {}),
  logHandlers: asGiven(isFlag, true),
  logFailures: asGiven<LogFailures>(isOneOf('all', 'last', 'none'), 'all'),
} satisfies Checks<TransportOptions>;
