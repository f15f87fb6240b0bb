export { BatchCircuit } from './batch-circuit.js';
export { Batches } from './batches.js';
export { Pacing, usualRate } from './pacing.js';
export { Redrive, type RedriveState } from './redrive.js';
export { type Left, RedriveCounts } from './redrive-counts.js';
export { type CircuitSettings, usualCircuit, WindowCircuit } from './window-circuit.js';
