import { bindingFit } from './binding-fit.js';
import type { Topology } from './topology.js';

/** A queue whose dead letters no queue of the topology gets. */
export interface UnreceivedDeadLetters {
  readonly queue: string;
  readonly exchange: string;
  /** The routing key of the dead letters; undefined: each keeps its own. */
  readonly routingKey: string | undefined;
  /** True if the exchange has bindings, but none for this routing key. */
  readonly hasBindings: boolean;
}

/**
 * Finds the queues whose dead letters no queue of the topology gets: the broker drops these dead letters (rule A7), unless another
 * application binds a queue. Exchanges that are declared elsewhere, exchanges of other types than fanout, direct and topic, and
 * exchanges with an alternate exchange are skipped.
 */
export function unreceivedDeadLetters(topology: Topology): readonly UnreceivedDeadLetters[] {
  const exchanges = new Map(topology.exchanges.map((exchange) => [exchange.name, exchange]));
  const queues = new Set(topology.queues.map(({ name }) => name));
  const unreceived: UnreceivedDeadLetters[] = [];
  for (const { name: queue, arguments: args } of topology.queues) {
    const exchange = textOf(args.get('x-dead-letter-exchange'));
    const routingKey = textOf(args.get('x-dead-letter-routing-key'));
    if (exchange === undefined) continue;
    if (exchange === '') {
      if (routingKey === undefined || queues.has(routingKey)) continue;
      unreceived.push({ queue, exchange, routingKey, hasBindings: false });
      continue;
    }
    const declared = exchanges.get(exchange);
    if (declared === undefined) continue;
    const bindings = topology.bindings.filter(({ source }) => source === exchange);
    const fits = bindingFit(declared.type);
    if (bindings.length === 0) unreceived.push({ queue, exchange, routingKey, hasBindings: false });
    else if (fits !== undefined && routingKey !== undefined && !declared.arguments.has('alternate-exchange')) {
      if (!bindings.some((binding) => fits(binding.routingKey, routingKey)))
        unreceived.push({ queue, exchange, routingKey, hasBindings: true });
    }
  }
  return unreceived;
}

const textOf = (field: { readonly type: string; readonly value?: unknown } | undefined): string | undefined =>
  field?.type === 'S' ? String(field.value) : undefined;
