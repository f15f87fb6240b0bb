export { Broker, type BrokerOptions, type ConnectOptions, type GlobalParameters, VirtualHost } from './broker.js';
export { Channel } from './channel/channel.js';
export type { Got } from './channel/receiver.js';
export type { Commit, CommitPublication, CommitResult } from './channel/all-or-nothing.js';
export { Connection } from './channel/connection.js';
export type { ChannelContext, ConnectionContext } from './channel/context.js';
export type { ConsumeOptions } from './commands/consume.js';
export type { PublishOptions } from './channel/publisher.js';
export type { ExchangeOptions, QueueOk, QueueOptions } from './commands/declare.js';
export { erlangJson } from './erlang-terms.js';
export * from './errors.js';
export {
  type BindingDetails,
  type ClientDetails,
  type ClientState,
  type ExchangeDeclared,
  type LimitName,
  limitNames,
  type Pause,
  type Permissions,
  type Policy,
  type QueueDeclared,
  type QueueOwner,
  type TlsDetails,
  type TopicPermissions,
  type TopologyChange,
  type Traffic,
  type User,
  type UserLimitName,
  type UserLimits,
  type VirtualHostMetadata,
} from './declarations.js';
export * from './ports.js';
export { defaultProfile, product, type ProfileName, profiles, versionOf } from './profile.js';
export { minDeadLetterRetryAfter } from './queue/retained.js';
export { defaultConsumerTimeout, minConsumerTimeout } from './channel/unacked.js';
export { Queue } from './queue/queue.js';
export { type GivenSetting, type SettingSource, settingSources } from './queue/settings.js';
export type { QueueArgument, Written } from './queue/argument-row.js';
export { type argumentRows, queueArguments, type QueueSettings } from './queue/arguments.js';
export { maxPause, maxReasonLength, type PauseRequest } from './queue/pausing.js';
export { type Overflow, overflowPolicies, refusesWhenFull } from './queue/overflow.js';
export { Outcome } from './ports.js';
export { checkEdited, openExchange, tooLarge } from './commands/checks.js';
export type { VirtualHostCore } from './virtual-host/core.js';
export { isUserLimit, type VirtualHostLimits } from './access/limits.js';
export { isReplyAddress, replyQueue } from './virtual-host/reply-addresses.js';
export type { RedriveResult, RedriveTo } from './virtual-host/redrive.js';
export { type Added, inRestoreOrder, isPersistent, outlives, restoringTopology } from './restore.js';
export type { Browse, Browsed, Cursor } from './queue/ready-list.js';
export type { Entry, RetainedDeath } from './queue/entry.js';
export { type Binding, bindingIdentity } from './exchange/router.js';
export {
  type DelayedMessages,
  delayedName,
  delayedType,
  exchangeOfDelayed,
  maxDelay,
} from './exchange/delayed-messages.js';
export {
  type ExchangeKind,
  exchangeTypeDescriptions,
  exchangeTypes,
  isExchangeType,
  type RoutingType,
} from './exchange/types.js';
export { wordsOf } from './exchange/topic.js';
export { Exchange, type Destination } from './exchange/exchange.js';
export type { Stalled, Stalls } from './queue/stall.js';
export type { DeathListener } from './queue/dead-lettering.js';
export { Consumer } from './channel/consumer.js';
export type { TopicAccess, UserTopicPermissions } from './access/topic-access.js';
export type { Access, AccessKind, Right, UserPermissions } from './access/access.js';
export {
  deathsIn,
  Counters,
  deadLetterStrategies,
  type DeadLetterStrategy,
  DeliveryCounters,
  ExchangeCounters,
  GlobalCounters,
  Histogram,
  QueueCounters,
  TotalCounters,
} from './counters.js';
export { Deque } from './deque.js';
export {
  type MatchCost,
  type Matcher,
  PatternError,
  type Patterns,
  type RefusedPattern,
  type StoredPatterns,
} from './patterns.js';
export { policyKeyNames } from './policy/policy.js';
export { PolicyError, type PolicyRequest } from './policy/policy.js';
