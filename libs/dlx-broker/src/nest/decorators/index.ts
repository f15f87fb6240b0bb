export * from './handler.js';
export { type DeathKind, OnDeadLetter, type OnDeadLetterOptions } from './on-dead-letter.js';
export * from './table.js';
