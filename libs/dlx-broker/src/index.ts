/*
 * The front door for users of Nest: the module, its decorators, the client, streams of dead letters, and the types they
 * speak. The broker without Nest is `dlx-broker/engine`, clocks for tests are `dlx-broker/testing`.
 */
import { DeadLetter as decorate } from './nest/index.js';
import type { DeadLetter as Letter } from './streams/index.js';

export * from './nest/index.js';
export * from './streams/index.js';
export {
  DlxConfigurationError,
  binding,
  describeTopology,
  NotedFailure,
  queue,
  type Backoff,
  type BindingDeclaration,
  type BindingOption,
  type DeadLetterWords,
  type ExchangeDeclaration,
  type ExchangeOption,
  type ExchangeType,
  type Plain,
  type QueueDeclaration,
  type QueueOption,
  type QueueWords,
  type RetryPolicy,
  type Topology,
  type TopologyOption,
  type WaitQueueType,
} from './topology/index.js';
export * from './backend/index.js';
/** The options of the decorator; those of the port are told apart by its method. */
export type { ConsumeOptions } from './nest/index.js';
export {
  type DeathReason,
  type Decimal,
  type Field,
  type FieldTable,
  type FieldType,
  type FirstDeath,
  Message,
  type Properties,
} from './message/index.js';

/** As a decorator: where a handler's queue sends what dies in it. As a type: a dead letter of a stream. */
export const DeadLetter = decorate;
export type DeadLetter<T = unknown> = Letter<T>;
