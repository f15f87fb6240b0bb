export * from './backoff.js';
export * from './configuration-error.js';
export * from './duration.js';
export * from './retry.js';
export * from './topology.js';
export * from './wait-queues.js';
