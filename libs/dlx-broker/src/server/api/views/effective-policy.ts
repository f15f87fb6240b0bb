import type { Queue, VirtualHost } from '../../../engine/broker/index.js';

/** The policy and the operator policy of a queue in one: of two numbers the smaller counts (rule F12). */
export function effectivePolicy({ policies }: VirtualHost, queue: Queue): object {
  const effective = Object.create(null) as Record<string, unknown>;
  const definitions = [
    definitionOf(policies.user, queue.inForce.policy?.name),
    definitionOf(policies.operator, queue.inForce.operatorPolicy?.name),
  ];
  for (const definition of definitions) {
    for (const [key, value] of definition) {
      const known = effective[key];
      effective[key] = typeof known === 'number' && typeof value === 'number' ? Math.min(known, value) : value;
    }
  }
  return effective;
}

type Definition = ReadonlyMap<string, unknown>;
type Policies = VirtualHost['policies']['user'];

const definitionOf = (policies: Policies, name: string | undefined): Definition =>
  (name === undefined ? undefined : policies.get(name)?.definition) ?? new Map<string, unknown>();
