/*
 * The front door for users of Nest: the module, its decorators, the client, streams of dead letters, and the types they
 * speak. The broker without Nest is `dlx-broker/engine`, clocks for tests are `dlx-broker/testing`.
 */
export * from './nest/index.js';
export * from './streams/index.js';
export { type DeadLetter as Letter } from './streams/index.js';
/** The decorator; a letter of a stream is a `Letter`. */
export { DeadLetter } from './nest/index.js';
export {
  DlxConfigurationError,
  describeTopology,
  type Backoff,
  type BindingDeclaration,
  type ExchangeDeclaration,
  type ExchangeType,
  type Plain,
  type QueueDeclaration,
  type RetryPolicy,
  type Topology,
  type WaitQueueType,
} from './topology/index.js';
export * from './backend/index.js';
/** The options of the decorator; those of the port are told apart by its method. */
export type { ConsumeOptions } from './nest/index.js';
export {
  deathsOf,
  type DeathReason,
  type Decimal,
  type Field,
  type FieldTable,
  type FieldType,
  type FirstDeath,
  Message,
  type Properties,
  type XDeath,
} from './message/index.js';
