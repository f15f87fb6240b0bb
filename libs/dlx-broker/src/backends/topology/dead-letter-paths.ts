import { reservedPrefix } from '../../engine/message/index.js';
import { DlxConfigurationError } from '../../platform/options/index.js';
import type { BindingDeclaration, QueueDeclaration, Topology } from './topology.js';
import { type ExchangeKind, exchangeTypes, wordsOf } from '../../engine/broker/index.js';

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
const keysOfBindings = ({ name }: QueueDeclaration, topology: Topology): readonly string[] =>
  bindingsOf(name, topology).map(({ routingKey }) => routingKey.replaceAll(/[*#]/g, 'word'));

const bindingsOf = (queue: string, { bindings }: Topology): readonly BindingDeclaration[] =>
  bindings.filter(({ destination, destinationType }) => destinationType === 'queue' && destination === queue);

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
function keysOfNoQueue(queue: string, topology: Topology): readonly string[] {
  const { queues, exchanges } = topology;
  const keys = bindingsOf(queue, topology)
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

type Fits = (bindingKey: string, key: string) => boolean;

const fitting: Readonly<Record<ExchangeKind['keys'], Fits | undefined>> = {
  any: () => true,
  equal: (bindingKey, key) => bindingKey === key,
  pattern: matchesPattern,
  other: undefined,
};

/** A test whether a binding matches a routing key; undefined for exchange types that are unknown or do not use the key. */
function bindingFit(type: string): Fits | undefined {
  const keys = exchangeTypes.get(type)?.keys;
  return keys === undefined ? undefined : fitting[keys];
}

/**
 * Whether a routing key fits a binding key of a topic exchange: `*` is exactly one word, `#` any number of words, also
 * none, both anywhere (rule P7).
 */
export function matchesPattern(pattern: string, key: string): boolean {
  if (pattern === key) return true;
  if (!pattern.includes('*') && !pattern.includes('#')) return false;
  return matches(wordsOf(pattern), wordsOf(key));
}

/**
 * Compares word by word of the pattern. `reached[n]` is true if the pattern so far matches the first n words of the key. The time is
 * linear in the product of both lengths.
 */
function matches(pattern: readonly string[], words: readonly string[]): boolean {
  let reached: boolean[] = [true, ...words.map(() => false)];
  for (const part of pattern) {
    const next: boolean[] = [part === '#' && reached[0]!];
    words.forEach((word, index) => {
      if (part === '#') next.push(reached[index + 1]! || next[index]!);
      else next.push(reached[index]! && (part === '*' || part === word));
    });
    reached = next;
  }
  return reached[words.length]!;
}
