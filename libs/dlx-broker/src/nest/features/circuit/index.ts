export { Circuit, type CircuitState } from './circuit.js';
export { Circuits } from './circuits.js';
export { DlxHandler, type HandlerPauseOptions } from './dlx-handler.js';
export type { HandlerStatus } from '../../../server/index.js';
export { type CircuitOptions, type HealthProbe, resolveCircuit, type ResolvedCircuit } from './options.js';
