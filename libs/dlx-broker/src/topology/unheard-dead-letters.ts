import { bindingFit } from './binding-fit.js';
import type { Topology } from './topology.js';

/** Dead letters of a queue that no queue gets, as far as a topology knows. */
export interface UnheardDeadLetters {
  readonly queue: string;
  readonly exchange: string;
  /** The key they get; undefined: each keeps its own. */
  readonly routingKey: string | undefined;
  /** Whether queues are bound to the exchange, by other keys. */
  readonly hasBindings: boolean;
}

/**
 * The dead letters that lead nowhere as far as this topology knows: what dies there is dropped (rule A7), unless another
 * application binds a queue. Of exchanges that are declared elsewhere, of other types than fanout, direct and topic, or with
 * an alternate exchange, it knows too little.
 */
export function unheardDeadLetters(topology: Topology): readonly UnheardDeadLetters[] {
  const exchanges = new Map(topology.exchanges.map((exchange) => [exchange.name, exchange]));
  const queues = new Set(topology.queues.map(({ name }) => name));
  const unheard: UnheardDeadLetters[] = [];
  for (const { name: queue, arguments: args } of topology.queues) {
    const exchange = textOf(args.get('x-dead-letter-exchange'));
    const routingKey = textOf(args.get('x-dead-letter-routing-key'));
    if (exchange === undefined) continue;
    if (exchange === '') {
      if (routingKey === undefined || queues.has(routingKey)) continue;
      unheard.push({ queue, exchange, routingKey, hasBindings: false });
      continue;
    }
    const declared = exchanges.get(exchange);
    if (declared === undefined) continue;
    const bindings = topology.bindings.filter(({ source }) => source === exchange);
    const fits = bindingFit(declared.type);
    if (bindings.length === 0) unheard.push({ queue, exchange, routingKey, hasBindings: false });
    else if (fits !== undefined && routingKey !== undefined && !declared.arguments.has('alternate-exchange')) {
      if (!bindings.some((binding) => fits(binding.routingKey, routingKey)))
        unheard.push({ queue, exchange, routingKey, hasBindings: true });
    }
  }
  return unheard;
}

const textOf = (field: { readonly type: string; readonly value?: unknown } | undefined): string | undefined =>
  field?.type === 'S' ? String(field.value) : undefined;
