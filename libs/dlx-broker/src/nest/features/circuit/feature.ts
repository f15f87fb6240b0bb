import { DlxConfigurationError } from '../../../platform/options/index.js';
import type { Feature, FeatureMetric } from '../../core/feature.js';
import { settingOf } from '../../core/handler-settings.js';
import type { Handler } from '../../core/handler.js';
import type { CircuitState } from './circuit.js';
import type { Circuits } from './circuits.js';
import { circuitDecorator } from './decorator.js';

interface CircuitFeature extends Feature {
  readonly circuits: Circuits;
}

const states: readonly CircuitState[] = ['closed', 'open', 'probing'];

export const circuitMetrics: readonly FeatureMetric<CircuitFeature>[] = [
  {
    name: 'dlx_circuit_state',
    type: 'gauge',
    labels: ['broker', 'circuit', 'state'],
    help: '1 for the present state of a circuit',
    *read({ broker, feature: { circuits } }) {
      for (const { name, state } of circuits.all) {
        for (const each of states) yield { labels: [broker, name, each], value: each === state ? 1 : 0 };
      }
    },
  },
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
  warnings: ({ handler }) => circuitWarnings(handler).map((text) => ({ event: 'topologyDoubtful', text }) as const),
});

/**
 * Refuses circuits that cannot work on a queue. Its consumer is cancelled while the circuit is open.
 * @throws DlxConfigurationError naming the handlers, the reason and a remedy
 */
function refuseCircuits(queue: string, handlers: readonly Handler[]): void {
  const [first] = handlers;
  const guarded = handlers.find((handler) => settingOf(handler, circuitDecorator) !== undefined);
  if (first === undefined || guarded === undefined) return;
  const other = handlers.find(
    (handler) => settingOf(handler, circuitDecorator) !== settingOf(guarded, circuitDecorator),
  );
  if (other !== undefined) {
    throw new DlxConfigurationError(
      `queue '${queue}': ${guarded.origin} and ${other.origin} share it, so an open circuit stops both; give them the same ` +
        "@Circuit('name'), or a queue for each",
    );
  }
  const { settings, origin } = guarded;
  const reason =
    settings.queue.autoDelete === true ? 'is deleted' : settings.queueArguments.has('x-expires') ? 'expires' : '';
  if (reason === '') return;
  const remedy = reason === 'expires' ? 'leave @Expires out' : 'leave autoDelete out';
  throw new DlxConfigurationError(
    `@Circuit on ${origin}: queue '${queue}' ${reason}, with its messages, while an open circuit has no consumer; ${remedy}`,
  );
}

/** Why messages of a handler may die, or its clients give up, while its circuit is open. */
function circuitWarnings(handler: Handler): readonly string[] {
  if (settingOf(handler, circuitDecorator) === undefined) return [];
  const { settings, origin, kind } = handler;
  const while_ = `while the circuit of ${origin} is open`;
  const { queueArguments } = settings;
  return [
    ...(queueArguments.has('x-message-ttl') ? [`messages expire ${while_} (@Ttl); leave @Ttl out to keep them`] : []),
    ...(queueArguments.has('x-max-length') || queueArguments.has('x-max-length-bytes')
      ? [`its queue may become full ${while_} (@MaxLength), and then messages are dropped or refused`]
      : []),
    ...(kind === 'request' ? [`requests wait ${while_}, and their clients may give up before an answer comes`] : []),
  ];
}
