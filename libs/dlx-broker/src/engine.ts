/*
 * The entry point for use without Nest: the engine, the host that provides time, names and patterns, and a function
 * that connects both.
 */
import { Broker, type BrokerOptions } from './broker/index.js';
import { policyPatterns, randomNames, SystemClock } from './host/index.js';

// A broker
export {
  Broker,
  type BrokerOptions,
  type Channel,
  type Connection,
  type ConnectOptions,
  type Exchange,
  type ProfileName,
  type Queue,
  type VirtualHost,
} from './broker/index.js';

// What a broker gets from its host
export { type Clock, type Journal, type Names, type Pace, type Patterns } from './broker/index.js';
export { policyPatterns, randomNames, SystemClock } from './host/index.js';

// Commands of a channel, and what comes of them
export {
  type ChannelOutbox,
  type ConnectionOutbox,
  type ConsumeOptions,
  type Delivery,
  type ExchangeOptions,
  type Got,
  type PublishOptions,
  type QueueOk,
  type QueueOptions,
  type Returned,
  silentOutbox,
} from './broker/index.js';

// Policies, users and permissions
export type { Permissions, Policy, PolicyRequest, TopicPermissions, User } from './broker/index.js';

// Messages
export {
  type DeathEntry,
  type DeathReason,
  deathsOf,
  Message,
  noProperties,
  type Properties,
} from './message/index.js';

// Headers and arguments
export {
  type Decimal,
  emptyTable,
  type Field,
  type FieldTable,
  type FieldType,
  fromFieldTable,
  int32,
  longstr,
  type Plain,
  toFieldTable,
} from './message/index.js';

// Errors
export { AmqpError, PatternError, PolicyError } from './broker/index.js';
export { BackendError, NotAvailableError } from './backend/index.js';

// Backends, for customBackend()
export {
  type Backend,
  type BackendDelivery,
  type BackendState,
  type BrowsePage,
  type Consumption,
  type Done,
  EmbeddedBackend,
  need,
  type Publication,
  type QueueStatus,
  type ReplyChannel,
} from './backend/index.js';

// A broker
/**
 * A broker in this process, in real time by default.
 * @param options replacements of the defaults: a clock for tests, a journal, a pace, another version of RabbitMQ
 */
export function createBroker(options: Partial<BrokerOptions> = {}): Broker {
  return new Broker({ clock: new SystemClock(), names: randomNames, patterns: policyPatterns, ...options });
}
