import type { CircuitOptions } from '../features/circuit/options.js';
import { contribute } from './contribution.js';

/**
 * Stops deliveries to the handler while a service that it needs is away. Messages wait in their queue, and no attempt is used up.
 * Handlers that share a queue have the same circuit.
 * @param circuit its name in the module's option `circuits`, or the options of a circuit for this handler alone
 */
export const Circuit = (circuit: string | CircuitOptions): MethodDecorator =>
  typeof circuit === 'string' ? contribute('Circuit', { circuit }) : contribute('Circuit', {}, { given: circuit });
