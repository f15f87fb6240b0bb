import type { FeatureDecorator } from '../../core/handler-settings.js';
import { contribute } from '../../decorators/contribution.js';
import { text } from '../../../platform/options/index.js';
import { readLater } from '../../module/check-options.js';
import { type CircuitOptions, circuitOptions, resolveCircuit, type ResolvedCircuit } from './options.js';

/**
 * Stops deliveries to the handler while a service that it needs is away. Messages wait in their queue, and no attempt is used up.
 * Handlers that share a queue have the same circuit.
 * @param circuit its name in the module's option `circuits`, or the options of a circuit for this handler alone
 */
export const Circuit = (circuit: string | CircuitOptions): MethodDecorator =>
  typeof circuit === 'string' ? contribute('Circuit', { circuit }) : contribute('Circuit', {}, { given: circuit });

/** Reads the name of a circuit of the module, or the options of a circuit for this handler alone. */
export const circuitDecorator: FeatureDecorator<string | ResolvedCircuit> = {
  names: ['Circuit'],
  options: { circuit: text.read, ...Object.fromEntries(circuitOptions.map((name) => [name, readLater])) },
  parameters: ['circuit'],
  remedy: "write 'bank', a name in the option 'circuits', or { on: [BankDown], pause: '10s' }",
  read(given, origin) {
    const { circuit } = given;
    return typeof circuit === 'string' ? circuit : resolveCircuit(given as CircuitOptions, origin);
  },
};
