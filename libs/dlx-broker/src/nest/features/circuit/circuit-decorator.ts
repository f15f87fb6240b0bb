import type { FeatureDecorator } from '../../core/handler-settings.js';
import { isText } from '../../decorators/free-options.js';
import { readLater } from '../../module/check-options.js';
import { type CircuitOptions, resolveCircuit, type ResolvedCircuit } from './options.js';

/** Reads the name of a circuit of the module, or the options of a circuit for this handler alone. */
export const circuitDecorator: FeatureDecorator<string | ResolvedCircuit> = {
  name: 'Circuit',
  options: {
    circuit: isText,
    on: readLater,
    share: readLater,
    atLeast: readLater,
    within: readLater,
    pause: readLater,
    probes: readLater,
    probe: readLater,
    holds: readLater,
  },
  parameters: ['circuit'],
  remedy: "write 'bank', a name in the option 'circuits', or { on: [BankDown], pause: '10s' }",
  read(given, origin) {
    const { circuit } = given;
    return typeof circuit === 'string' ? circuit : resolveCircuit(given as CircuitOptions, origin);
  },
};
