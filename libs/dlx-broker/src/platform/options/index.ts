export * from './accepts.js';
export { bytesIn } from './bytes.js';
export { DlxConfigurationError } from './configuration-error.js';
export * from './duration.js';
export * from './known-options.js';
export { notAPromise } from './not-a-promise.js';
export * from './refused.js';
export * from './time-limit.js';
