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
  /** The keys by which the queue is bound, if these dead letters go to the default exchange with the routing keys of their messages. */
  readonly boundBy?: readonly string[];
}

/**
 * Finds the queues whose dead letters no queue of the topology gets: the broker drops these dead letters (rule A7), unless another
 * application binds a queue. Exchanges that are declared elsewhere, exchanges of other types than fanout, direct and topic, and
 * exchanges with an alternate exchange are skipped. The same holds for bindings whose messages have unknown routing keys (`#`).
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
      const boundBy = routingKey === undefined ? keysOfNoQueue(queue, topology) : [];
      const isLost = routingKey === undefined ? boundBy.length > 0 : !queues.has(routingKey);
      if (isLost) unreceived.push({ queue, exchange, routingKey, hasBindings: false, boundBy });
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

/** The keys by which a queue is bound, without those that fit the name of a queue: a queue may get dead letters by its name. */
function keysOfNoQueue(queue: string, { queues, bindings, exchanges }: Topology): readonly string[] {
  const keys = bindings
    .filter(({ destination, destinationType }) => destinationType === 'queue' && destination === queue)
    .filter(({ source, routingKey }) => {
      const type = exchanges.find(({ name }) => name === source)?.type ?? typeOfPredeclared.get(source);
      const fits = type === undefined ? undefined : bindingFit(type);
      return fits !== undefined && !queues.some(({ name }) => fits(routingKey, name));
    })
    .map(({ routingKey }) => routingKey);
  return [...new Set(keys)];
}

/** The exchanges of each broker that select by routing keys. */
const typeOfPredeclared: ReadonlyMap<string | undefined, string> = new Map([
  ['amq.topic', 'topic'],
  ['amq.direct', 'direct'],
]);

/** The text of an argument; undefined without it. */
export const textOf = (field: { readonly type: string; readonly value?: unknown } | undefined): string | undefined =>
  field?.type === 'S' ? String(field.value) : undefined;
