import type { Feature } from '../../core/feature.js';
import { circuitWarnings, refuseCircuits } from './check-circuits.js';
import type { Circuits } from './circuits.js';

/** Stops deliveries while a service is away (`@Circuit`), and while a caller pauses a handler. */
export const circuit = (circuits: Circuits): Feature => ({
  name: 'circuit',
  check: (queue, handlers) => refuseCircuits(queue, handlers),
  gate: (queue, { handler }) => circuits.gate(queue, circuits.ofHandler(handler)),
  waits: ({ handler }) => {
    const circuit = circuits.ofHandler(handler);
    return circuit && { by: `@Circuit on ${handler.origin}`, delays: circuit.options.pauses.exact };
  },
  warnings: ({ handler }) => circuitWarnings([handler]).map((text) => ({ event: 'topologyDoubtful', text }) as const),
});
