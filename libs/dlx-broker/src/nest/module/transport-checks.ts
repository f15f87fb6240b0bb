import {
  optionsOf,
  parseDuration,
  parseTimeLimit,
  refused,
  refuseUnknown,
  whole,
} from '../../platform/options/index.js';
import { type Check, type Checks, has, isFlag, isFunction, isOneOf, isText, readLater } from './check-options.js';
import { areCircuits } from '../features/circuit/options.js';
import { tracingMethods } from '../tracing/index.js';
import { isErrorHistory } from '../features/error-history/options.js';
import { readOutbox } from '../features/outbox/decorator.js';
import { anEnvelope } from '../decorators/envelope.js';
import { areHealthOptions } from '../health/options.js';
import { areLoggingOptions } from '../log/logging.js';
import { checkExchange } from '../core/handler-settings.js';
import { checkStore } from '../features/idempotent/store.js';
import { planRetry, type RetryPolicy } from '../retry/index.js';
import type { TransportOptions } from './transport-options.js';

/** The shortest `stuckAfter`, in milliseconds. */
export const leastStuckAfter = 1_000;

const isDuration: Check = (value, origin) => parseDuration(value as string, origin);

const isExchange: Check = (value, origin) => {
  if (typeof value === 'string') {
    isText(value, origin);
    return;
  }
  const given = optionsOf(value, origin, "write a name, or { name: 'shop', type: 'topic' }");
  checkExchange({ name: 'as it is', ...given }, origin);
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

const areErrorHeaders: Check = (value, origin) => {
  if (typeof value === 'boolean') return;
  refuseUnknown(optionsOf(value, origin, 'write true, false or { stack: 0 }'), ['stack', 'message'], origin);
};

const isClusterTopology: Check = (value, origin) => {
  if (typeof value === 'boolean') return;
  const given = optionsOf(value, origin, 'write true, false or { deliveryLimit: 20 }');
  refuseUnknown(given, ['deliveryLimit'], origin);
  const { deliveryLimit } = given as { readonly deliveryLimit?: unknown };
  if (deliveryLimit !== undefined) whole(0, Number.MAX_SAFE_INTEGER).read(deliveryLimit, `${origin}, deliveryLimit`);
};

const isExchangeName: Check = (value, origin) => {
  if (typeof value !== 'string' || value === '') {
    throw refused(value, origin, "is not the name of an exchange; write 'dlx.notices'");
  }
  checkExchange({ name: value }, origin);
};

/** Every option of the transport, and what it accepts. */
export const transportChecks = {
  events: isExchange,
  requests: isExchange,
  envelope: (value, origin) => anEnvelope.read(value, origin),
  prefetch: (value, origin) => whole(0, 65_535).read(value, origin),
  drainTimeout: isDuration,
  stuckAfter: (value, origin) => void parseTimeLimit(value, origin, leastStuckAfter),
  errorHeaders: areErrorHeaders,
  errorHistory: isErrorHistory,
  fingerprint: isFunction,
  notices: isExchangeName,
  retry: isPolicy,
  queueRetry: arePolicies,
  circuits: areCircuits,
  random: isFunction,
  tracing: has('tracing, such as dlxTracing() of dlx-broker/otel', ...tracingMethods),
  idempotencyStore: checkStore,
  outbox: (value, origin) => void readOutbox(value, origin),
  waitQueueType: isOneOf('classic', 'quorum'),
  clusterTopology: isClusterTopology,
  topology: readLater,
  declare: isFlag,
  health: areHealthOptions,
  metrics: isFlag,
  logging: areLoggingOptions,
  logHandlers: isFlag,
  logFailures: isOneOf('all', 'last', 'none'),
} satisfies Checks<TransportOptions>;
