export type { DlxHealth, HealthProblem, OldestDeadLetter, StuckHandler } from './answer.js';
export { Health } from './health.js';
export { deadLetterQueues } from './oldest.js';
export { liveness, readiness, type HealthResult } from './terminus.js';
