export type { Overflow } from '../../engine/broker/index.js';
export * from './cluster-topology.js';
export * from './collect.js';
export * from './dead-letter-paths.js';
export { checkedArguments, fieldTableOf, routingKeysOf } from './declared-parts.js';
export * from './queue-arguments.js';
export * from './queue-option.js';
export * from './topology-option.js';
export * from './topology.js';
