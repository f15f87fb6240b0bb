export { BatchCircuit } from './batch-circuit.js';
export { Batches } from './batches.js';
export { Pacing, defaultRate } from './pacing.js';
export { Redrive, type RedriveState } from './redrive.js';
export { type Left, type LeftAt, type NotEdited, RedriveCounts } from './redrive-counts.js';
export { type CircuitSettings, defaultCircuit, WindowCircuit } from './window-circuit.js';
