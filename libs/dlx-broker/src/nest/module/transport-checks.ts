import { optionsOf, parseDuration, parseTimeLimit, refused, whole } from '../../platform/options/index.js';
import { type ClusterOptions, readTopology } from '../../backends/topology/index.js';
import type { LogFailures } from '../core/failure-log.js';
import { checkExchange, type NamedExchange } from '../core/handler-settings.js';
import { featureOptions } from '../features/options.js';
import { resolveHealth } from '../health/options.js';
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
import type { TransportOptions } from './transport-options.js';

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

const isExchangeName: Check = (value, origin) => {
  if (typeof value !== 'string' || value === '') {
    throw refused(value, origin, "is not the name of an exchange; write 'dlx.notices'");
  }
  checkExchange({ name: value }, origin);
};

/** The type of the wait queues: classic on one broker, quorum on a cluster. */
const readWaitQueueType: Reader<WaitQueueType> = (value, origin, { clusterTopology = false } = {}) =>
  asGiven<WaitQueueType>(isOneOf('classic', 'quorum'), clusterTopology === false ? 'classic' : 'quorum')(value, origin);

/** Every option of the transport: what it accepts, its default, and what the library makes of it. */
export const transportChecks = {
  ...featureOptions,
  events: readExchange({ name: 'dlx.events', type: 'topic' }),
  requests: readExchange({ name: 'dlx.requests', type: 'direct' }),
  prefetch: asGiven(isWhole(0, 65_535), 100),
  drainTimeout: (value: unknown = '10s', origin: string) => parseDuration(value as string, origin),
  stuckAfter: (value: unknown = '1m', origin: string) => parseTimeLimit(value, origin, leastStuckAfter),
  notices: asGiven<string | undefined>(isExchangeName, undefined),
  retry: asGiven<RetryPolicy | undefined>(isPolicy, undefined),
  queueRetry: asGiven<Readonly<Record<string, RetryPolicy | false | undefined>>>(arePolicies, {}),
  random: asGiven<() => number>(isFunction, Math.random),
  tracing: asGiven<DlxTracing | undefined>(isTracing, undefined),
  waitQueueType: readWaitQueueType,
  clusterTopology: readClusterTopology,
  topology: (value: unknown = {}) => readTopology(value, "option 'topology' of DlxBrokerModule"),
  declare: asGiven(isFlag, true),
  health: resolveHealth,
  metrics: asGiven(isFlag, false),
  logging: asGiven<LoggingOptions>(areLoggingOptions, {}),
  logHandlers: asGiven(isFlag, true),
  logFailures: asGiven<LogFailures>(isOneOf('all', 'last', 'none'), 'all'),
} satisfies Checks<TransportOptions>;
