export { Broker, type BrokerOptions, type ConnectOptions } from './broker.js';
export { Channel } from './channel/channel.js';
export type { Got } from './channel/receiver.js';
export type { Commit, CommitPublication, CommitResult } from './channel/all-or-nothing.js';
export { Connection } from './channel/connection.js';
export type { ChannelContext, ConnectionContext } from './channel/context.js';
export type { ConsumeOptions } from './commands/consume.js';
export type { PublishOptions } from './channel/publisher.js';
export type { ExchangeOptions } from './commands/declare-exchange.js';
export type { QueueOk, QueueOptions } from './commands/declare-queue.js';
export { erlangJson } from './erlang-terms.js';
export * from './errors.js';
export type { ClientDetails, ClientState, TlsDetails, Traffic } from './client-details.js';
export type {
  BindingDetails,
  ExchangeDeclared,
  LimitName,
  Pause,
  Permissions,
  Policy,
  QueueDeclared,
  QueueOwner,
} from './declarations.js';
export type { TopicPermissions, User, UserLimitName, UserLimits, VirtualHostMetadata } from './declarations.js';
export { limitNames } from './declarations.js';
export * from './ports.js';
export { product, versionOf } from './product.js';
export type { TopologyChange } from './topology-change.js';
export { minDeadLetterRetryAfter } from './queue/retained.js';
export { defaultConsumerTimeout, minConsumerTimeout } from './channel/ack-timeout.js';
export { type ProfileName, profiles } from './profile.js';
export { Queue } from './queue/queue.js';
export { type GivenSetting, type SettingSource, settingSources } from './queue/setting-sources.js';
export type { QueueArgument, Written } from './queue/argument-row.js';
export { type argumentRows, queueArguments, type QueueSettings } from './queue/arguments.js';
export { maxPause, maxReasonLength, type PauseRequest } from './queue/pausing.js';
export { type Overflow, overflowPolicies } from './queue/overflow.js';
export { Outcome } from './outcome.js';
export { checkEdited, openExchange, tooLarge } from './commands/publication-checks.js';
export { VirtualHost } from './virtual-host/virtual-host.js';
export type { VirtualHostCore } from './virtual-host/core.js';
export type { GlobalParameters } from './broker.js';
export type { VirtualHostLimits } from './virtual-host/limits.js';
export { isUserLimit } from './access/user-limits.js';
export { isReplyAddress, replyQueue } from './virtual-host/reply-addresses.js';
export type { RedriveResult, RedriveTo } from './virtual-host/redrive.js';
export { type Added, inRestoreOrder, isPersistent, outlives, restoreTopology, restoringTopology } from './restore.js';
export type { Browse, Browsed } from './queue/browse.js';
export type { Cursor } from './queue/ready-list.js';
export type { Entry, RetainedDeath } from './queue/entry.js';
export { bindingIdentity } from './exchange/binding-identity.js';
export type { Binding } from './exchange/router.js';
export { delayedType, maxDelay } from './exchange/delay.js';
export {
  type ExchangeKind,
  exchangeTypeDescriptions,
  exchangeTypes,
  isExchangeType,
  type RoutingType,
} from './exchange/types.js';
export { wordsOf } from './exchange/topic-trie.js';
export { exchangeOfDelayed, type DelayedMessages, delayedName } from './exchange/delayed-messages.js';
export { Exchange, type Destination } from './exchange/exchange.js';
export type { Stalled, Stalls } from './queue/stall.js';
export type { DeathListener } from './queue/dead-lettering.js';
export { Consumer } from './channel/consumer.js';
export type { TopicAccess, UserTopicPermissions } from './access/topic-access.js';
export type { Access, AccessKind, Right, UserPermissions } from './access/access.js';
export { Counters, DeliveryCounters, ExchangeCounters, QueueCounters, TotalCounters } from './counters.js';
export { countedReasons, type DeadLetterStrategy, deadLetterStrategies, GlobalCounters } from './global-counters.js';
export { Deque } from './deque.js';
export { Histogram } from './global-counters.js';
export { type MatchCost, type Matcher, PatternError, type Patterns } from './patterns.js';
export type { RefusedPattern, StoredPatterns } from './stored-patterns.js';
export { policyKeyNames } from './policy/policy.js';
export { PolicyError, type PolicyRequest } from './policy/policy.js';
