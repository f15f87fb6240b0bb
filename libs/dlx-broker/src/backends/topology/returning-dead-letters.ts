import { reservedPrefix } from '../../engine/message/index.js';
import { DlxConfigurationError } from '../../platform/options/index.js';
import { bindingFit } from './binding-fit.js';
import type { Topology, QueueDeclaration } from './topology.js';
import { textOf } from './unreceived-dead-letters.js';

/** A message that reached a queue with a routing key, and the queues it died in before. */
interface Traveller {
  readonly queue: QueueDeclaration;
  readonly key: string;
  readonly path: readonly string[];
}

/**
 * Refuses cycles of queues through which a message goes by expiring alone. The broker drops such a message when it returns to a
 * queue of the cycle, because no consumer rejected it on the way (rule I2). A cycle with a queue that has no time to live is
 * allowed: there a message goes on only by a reject.
 * @param consumed the queues with which a cycle may begin
 * @throws DlxConfigurationError naming the queues, the origin of the first, and a remedy
 */
export function refuseDroppingCycles(topology: Topology, consumed: ReadonlySet<string>): void {
  for (const queue of topology.queues) {
    const cycle = consumed.has(queue.name) && deadLettersExpired(queue) ? cycleFrom(queue, topology) : undefined;
    if (cycle === undefined) continue;
    throw new DlxConfigurationError(
      `${queue.origin ?? 'the topology'}: messages expire from ${cycle.map((name) => `'${name}'`).join(' to ')} in a cycle, ` +
        'and the broker drops what comes back without a rejection (rule I2); take the time to live from a queue whose ' +
        'consumer rejects, or lead its dead letters elsewhere',
    );
  }
}

/** True if messages of the queue expire and are dead-lettered. */
const deadLettersExpired = ({ arguments: args }: QueueDeclaration): boolean =>
  args.has('x-message-ttl') && args.get('x-dead-letter-exchange')?.type === 'S';

/** @returns the names of the queues, the first of them again at the end */
function cycleFrom(start: QueueDeclaration, topology: Topology): readonly string[] | undefined {
  const begin = (key: string): Traveller => ({ queue: start, key, path: [start.name] });
  const travellers = keysInto(start, topology).map(begin);
  const seen = new Set<string>();
  for (const { queue, key, path } of travellers) {
    const args = queue.arguments;
    const next = args.get('x-dead-letter-routing-key');
    const leaving = next?.type === 'S' ? next.value : key;
    for (const name of route(args.get('x-dead-letter-exchange')?.value as string, leaving, topology)) {
      if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
      const reached = topology.queues.find((each) => each.name === name);
      const state = JSON.stringify([name, leaving]);
      if (reached === undefined || !deadLettersExpired(reached) || seen.has(state)) continue;
      seen.add(state);
      travellers.push({ queue: reached, key: leaving, path: [...path, name] });
    }
  }
  return undefined;
}

/** Routing keys of messages for a queue: its name, and the key of each binding. */
const keysInto = (queue: QueueDeclaration, topology: Topology): readonly string[] => [
  queue.name,
  ...keysOfBindings(queue, topology),
];

/** The keys by which a queue is bound, with a word in place of each wildcard. */
function keysOfBindings({ name }: QueueDeclaration, { bindings }: Topology): readonly string[] {
  return bindings
    .filter(({ destination, destinationType }) => destinationType === 'queue' && destination === name)
    .map(({ routingKey }) => routingKey.replaceAll(/[*#]/g, 'word'));
}

/** The queues of the topology that get a routing key. Headers exchanges and exchanges of unknown types are ignored. */
function route(exchange: string, key: string, topology: Topology): ReadonlySet<string> {
  const queues = new Set<string>(exchange === '' ? [key] : []);
  const exchanges = new Set([exchange]);
  for (const source of exchanges) {
    const fits = bindingFit(typeOf(source, topology));
    for (const binding of topology.bindings) {
      if (binding.source !== source || fits?.(binding.routingKey, key) !== true) continue;
      (binding.destinationType === 'queue' ? queues : exchanges).add(binding.destination);
    }
  }
  return queues;
}

/** The type of an exchange. The name of a predeclared one ends with its type: `amq.topic`. */
const typeOf = (exchange: string, { exchanges }: Topology): string =>
  exchanges.find(({ name }) => name === exchange)?.type ?? exchange.slice(reservedPrefix.length);

/** A queue whose dead letters its dead-letter exchange routes back to it. */
export interface ReturningDeadLetters {
  readonly queue: string;
  readonly exchange: string;
  /** The routing key of the dead letters; undefined: each keeps its own. */
  readonly routingKey: string | undefined;
}

/**
 * Finds the queues whose dead letters return to them at once: no queue with a time to live is between. The broker allows such a cycle
 * without an end, because a consumer rejects the message each time (rule I2). Dead letters that keep their routing key are judged by
 * the bindings of the queue, or by its name if it has none.
 */
export function returningDeadLetters(topology: Topology): readonly ReturningDeadLetters[] {
  return topology.queues.flatMap((queue) => {
    const exchange = textOf(queue.arguments.get('x-dead-letter-exchange'));
    if (exchange === undefined) return [];
    const routingKey = textOf(queue.arguments.get('x-dead-letter-routing-key'));
    const bound = keysOfBindings(queue, topology);
    const own = bound.length === 0 ? [queue.name] : bound;
    const keys = routingKey === undefined ? own : [routingKey];
    const returns = keys.some((key) => route(exchange, key, topology).has(queue.name));
    return returns ? [{ queue: queue.name, exchange, routingKey }] : [];
  });
}
