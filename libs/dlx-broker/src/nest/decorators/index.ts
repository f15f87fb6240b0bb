export * from './bind.js';
export * from './consume.js';
export * from './dead-letter.js';
export * from './exchange.js';
export { type DeathKind, OnDeadLetter, type OnDeadLetterOptions } from './on-dead-letter.js';
export * from './queue.js';
export * from './queue-arguments.js';
export * from './retry.js';
export * from './table.js';
