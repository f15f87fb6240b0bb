import { labelled } from '../../../server/metrics/index.js';
import type { Feature, FeatureMetric } from '../../core/feature.js';
import type { CircuitState } from './circuit.js';
import { circuitWarnings, refuseCircuits } from './check-circuits.js';
import type { Circuits } from './circuits.js';

interface CircuitFeature extends Feature {
  readonly circuits: Circuits;
}

const states: readonly CircuitState[] = ['closed', 'open', 'probing'];

export const circuitMetrics: readonly FeatureMetric<CircuitFeature>[] = [
  labelled(
    'dlx_circuit_state',
    'gauge',
    ['broker', 'circuit', 'state'],
    '1 for the present state of a circuit',
    function* ({ broker, feature: { circuits } }) {
      for (const { name, state } of circuits.all) {
        for (const each of states) yield { labels: [broker, name, each], value: each === state ? 1 : 0 };
      }
    },
  ),
];

/** Stops deliveries while a service is away (`@Circuit`), and while a caller pauses a handler. */
export const circuit = (circuits: Circuits): CircuitFeature => ({
  name: 'circuit',
  circuits,
  check: (queue, handlers) => refuseCircuits(queue, handlers),
  gate: (queue, { handler }) => circuits.gate(queue, circuits.ofHandler(handler)),
  waits: ({ handler }) => {
    const circuit = circuits.ofHandler(handler);
    return circuit && { by: `@Circuit on ${handler.origin}`, delays: circuit.options.pauses.exact };
  },
  warnings: ({ handler }) => circuitWarnings([handler]).map((text) => ({ event: 'topologyDoubtful', text }) as const),
});
