export { BatchBreaker, type BreakerSettings, defaultBreaker, WindowBreaker } from './breakers.js';
export { type Left, type LeftAt, RedriveCounts } from './counts.js';
export { Batches, defaultRate, Pacing } from './pacing.js';
export { Redrive, type RedriveState } from './redrive.js';
