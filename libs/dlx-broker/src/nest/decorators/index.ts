export * from './handler.js';
export { HandlerAsync, type HandlerAsyncOptions } from './handler-async.js';
export { type DeathKind, OnDeadLetter, type OnDeadLetterOptions } from './on-dead-letter.js';
export * from './table.js';
