export * from './answer.js';
export { Health } from './health.js';
export { deadLetterQueues } from './oldest.js';
