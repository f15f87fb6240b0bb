export type { Overflow } from '../broker/index.js';
export * from './accepts.js';
export { refuseDroppingCycles } from './cycles.js';
export * from './collect.js';
export * from './configuration-error.js';
export * from './declare-words.js';
export { checkedArguments, fieldTableOf, routingKeysOf } from './declared-parts.js';
export * from './describe.js';
export * from './duration.js';

export * from './misspelt-arguments.js';
export { notAPromise } from './not-a-promise.js';

export * from './known-options.js';

export * from './queue-arguments.js';
export * from './queue-words.js';
export * from './quorum-form.js';
export * from './refused.js';
export * from './topic-pattern.js';
export * from './topology.js';
export * from './unheard-dead-letters.js';
