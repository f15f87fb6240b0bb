import { minConsumerTimeout } from '../../engine/broker/index.js';
import {
  checkManagementUrl,
  parseAddresses,
  type PublishBuffer,
  type RabbitMqOptions,
  type RabbitMqPolicy,
} from '../../backends/index.js';
import {
  DlxConfigurationError,
  optionsOf,
  parseDuration,
  parseTimeLimit,
  refused,
  text,
} from '../../platform/options/index.js';
import {
  areBytes,
  type Check,
  checkAll,
  type Checks,
  isFlag,
  isOneOf,
  isText,
  isWhole,
  optionIn,
} from '../module/check-options.js';
import { type BrokerChoice, type Made, make, read } from './made.js';

/** A RabbitMQ, a cluster of them, or a stand-alone dlx-broker, as {@link rabbitmq} returns it. */
export interface RabbitMqBroker extends Made<'rabbitmq'> {
  readonly options: Readonly<RabbitMqBrokerOptions>;
}

/** Options of {@link rabbitmq}. */
export type RabbitMqBrokerOptions = RabbitMqOptions;

const isDuration: Check = (value, origin) => parseDuration(value as string, origin);

/** A promise or a function. Its result is checked at each attempt to connect. */
function isLater(value: unknown): boolean {
  if (!(value instanceof Promise)) return typeof value === 'function';
  value.catch(() => undefined); // reported by the attempt to connect, which begins later
  return true;
}

const areUrls: Check = (value, origin) => {
  if (!isLater(value)) parseAddresses(value, origin);
};

/** The values are never shown. */
const areCredentials: Check = (value, origin) => {
  if (isLater(value)) return;
  const remedy = "write { user: 'shop', password: '...' }, or a function that returns it";
  if (typeof value !== 'object' || value === null) throw refused(typeof value, origin, `is no user; ${remedy}`);
  const given = value as Readonly<Record<string, unknown>>;
  if (given['mechanism'] !== undefined) {
    isOneOf('EXTERNAL')(given['mechanism'], optionIn(origin, 'mechanism'));
    return;
  }
  for (const name of ['user', 'password'] as const) {
    const place = optionIn(origin, name);
    if (given[name] === undefined) {
      throw new DlxConfigurationError(`${place} is missing; ${remedy}`);
    }
    if (typeof given[name] !== 'string') throw refused(typeof given[name], place, `is not a string; ${remedy}`);
  }
};

const isTls: Check = (value, origin) => optionsOf(value, origin, 'write { ca }, or leave it out');

/** Every option of `publishBuffer`, and what it accepts. */
export const publishBufferChecks = {
  messages: isWhole(1, 10_000_000),
  bytes: areBytes,
} satisfies Checks<PublishBuffer>;

/** Every option of a policy, and what it accepts. */
const policyChecks = {
  name: isText,
  pattern: (value, origin) => text.read(value, origin),
  applyTo: isOneOf('queues', 'exchanges', 'all'),
  definition: (value, origin) => optionsOf(value, origin, "write { 'max-length': 10000 }"),
  priority: isWhole(-2_147_483_648, 2_147_483_647),
} satisfies Checks<RabbitMqPolicy>;

const arePolicies: Check = (value, origin) => {
  const example = "write [{ name: 'limits', pattern: '^orders', definition: { 'max-length': 10000 } }]";
  if (!Array.isArray(value)) throw refused(typeof value, origin, `is no list; ${example}`);
  for (const [index, policy] of value.entries()) {
    const place = `policy ${index + 1} of ${origin}`;
    const given = optionsOf(policy, place, example);
    checkAll(given, policyChecks, place);
    for (const name of ['name', 'pattern', 'definition']) {
      if (given[name] === undefined) throw refused(undefined, `${name} of ${place}`, `is missing; ${example}`);
    }
  }
};

/** Every option of {@link rabbitmq}, and what it accepts. */
export const rabbitmqChecks = {
  urls: areUrls,
  credentials: areCredentials,
  tls: isTls,
  connectionName: isText,
  heartbeat: isWhole(0, 65_535),
  startAttempts: isWhole(1, 1_000_000),
  connectTimeout: isDuration,
  longestPause: isDuration,
  publishTimeout: isDuration,
  refusedFor: isDuration,
  unconfirmed: isWhole(1, 1_000_000),
  publishBuffer: (value, origin) =>
    checkAll(optionsOf(value, origin, 'write { messages: 10000 }'), publishBufferChecks, origin),
  declareTimeout: isDuration,
  closeTimeout: isDuration,
  consumerTimeout: (value, origin) => parseTimeLimit(value, origin, minConsumerTimeout),
  management: checkManagementUrl,
  policies: arePolicies,
  strictPolicies: isFlag,
} satisfies Checks<RabbitMqBrokerOptions>;

const remedy = "write rabbitmq({ urls: 'amqp://localhost' })";

/**
 * A RabbitMQ, a cluster of them, or a stand-alone dlx-broker: `forRoot({ broker: rabbitmq({ urls: ['amqp://rabbit-1',
 * 'amqp://rabbit-2'] }) })`. Nothing is opened before the application starts.
 * @throws DlxConfigurationError naming the option and a remedy, never a password
 */
export function rabbitmq(options: RabbitMqBrokerOptions): BrokerChoice {
  const checked = read(options, rabbitmqChecks, 'rabbitmq()', remedy);
  if (checked.urls === undefined) throw refused(undefined, "option 'urls' of rabbitmq()", `names no server; ${remedy}`);
  for (const option of ['policies', 'strictPolicies'] as const) {
    if (checked[option] === undefined || checked[option] === false || checked.management !== undefined) continue;
    const needs = "needs option 'management', the URL of the management API: AMQP 0-9-1 knows no policies";
    throw new DlxConfigurationError(`option '${option}' of rabbitmq() ${needs}`);
  }
  return make('rabbitmq', { options: checked });
}
