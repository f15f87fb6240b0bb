/*
 * The entry point for use without Nest: the engine, the host that provides time, names and patterns, and a function
 * that connects both.
 */
import { Broker, type BrokerOptions } from './engine/broker/index.js';
import { policyPatterns, randomNames, SystemClock } from './platform/index.js';

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
} from './engine/broker/index.js';

// What a broker gets from its host
export { type Clock, type Journal, type Names, type Pace, type Patterns } from './engine/broker/index.js';
export { policyPatterns, randomNames, SystemClock } from './platform/index.js';

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
} from './engine/broker/index.js';

// Policies, users and permissions
export type { Permissions, Policy, PolicyRequest, TopicPermissions, User } from './engine/broker/index.js';

// Messages
export {
  type DeathEntry,
  type DeathReason,
  deathsOf,
  Message,
  noProperties,
  type Properties,
} from './engine/message/index.js';

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
} from './engine/message/index.js';

// Errors
export { AmqpError, PatternError, PolicyError } from './engine/broker/index.js';
export { BackendError, NotAvailableError } from './backends/index.js';

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
} from './backends/index.js';

// A broker
/**
 * A broker in this process, in real time by default.
 * @param options replacements of the defaults: a clock for tests, a journal, a pace, another version of RabbitMQ
 */
export function createBroker(options: Partial<BrokerOptions> = {}): Broker {
  return new Broker({ clock: new SystemClock(), names: randomNames, patterns: policyPatterns, ...options });
}
