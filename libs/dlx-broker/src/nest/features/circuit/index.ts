export { Circuit, type CircuitState } from './circuit.js';
export { Circuits } from './circuits.js';
export { circuitWarnings, refuseCircuits } from './check-circuits.js';
export { DlxHandler, type HandlerPauseOptions } from './dlx-handler.js';
export type { Gate } from './gate.js';
export type { HandlerStatus } from './handler-status.js';
export { areCircuits, type CircuitOptions, type HealthProbe, resolveCircuit, type ResolvedCircuit } from './options.js';
