export { BatchBreaker } from './batch-breaker.js';
export { Batches } from './batches.js';
export { Pacing, defaultRate } from './redrive.js';
export { Redrive, type RedriveState } from './redrive.js';
export { type Left, type LeftAt, type NotEdited, RedriveCounts } from './redrive-counts.js';
export { type BreakerSettings, defaultBreaker, WindowBreaker } from './window-breaker.js';
