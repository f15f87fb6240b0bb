import type { Command } from '../world/command.js';
import type {
  BindingDefinition,
  ExchangeDefinition,
  JsonObject,
  QueueDefinition,
  Topology,
} from '../world/topology.js';

/** What is left at the end: by queue, the messages from the head on, each as `lineOf` writes it. Other queues are empty. */
export type Ends = Readonly<Record<string, readonly string[]>>;

/** A rule of dead-lettering as a small topology that runs, with a question. */
export interface Lesson {
  readonly id: string;
  readonly title: string;
  /** Of docs/internals/rules.md. */
  readonly rules: readonly string[];
  /** Three sentences. Names are in `backticks` here, in the question, the answers and the reasons. */
  readonly text: string;
  readonly topology: Topology;
  readonly question: string;
  /** The first one is right in 3.10; a page shows them in an order of its own. */
  readonly answers: readonly [string, string, ...string[]];
  readonly steps: readonly Command[];
  /** Why it ends so. */
  readonly why: string;
  /** Headers and properties that the lines of messages show besides. */
  readonly shows?: readonly string[];
  readonly ends: Ends;
  /** Where RabbitMQ 4 ends otherwise: its end, a sentence, and the place of the answer that is right there; default 0. */
  readonly on4?: { readonly ends: Ends; readonly why: string; readonly answer?: number };
  /** The end on a real RabbitMQ 3.10, where a bug of it is not reproduced here. */
  readonly endsOnReal310?: Ends;
  /** Why a real RabbitMQ is not asked. */
  readonly virtualOnly?: string;
}

// Short forms, so that a lesson fits on a screen. All of them return plain data.

export const queue = (name: string, table?: JsonObject): QueueDefinition =>
  table === undefined ? { name } : { name, arguments: table };

export const exchange = (name: string, type = 'fanout'): ExchangeDefinition => ({ name, type });

export const bind = (source: string, destination: string, key?: string): BindingDefinition =>
  key === undefined ? { source, destination } : { source, destination, routing_key: key };

/** The arguments of dead-lettering to an exchange, perhaps with another key. */
export const dlx = (name: string, key?: string): JsonObject =>
  key === undefined
    ? { 'x-dead-letter-exchange': name }
    : { 'x-dead-letter-exchange': name, 'x-dead-letter-routing-key': key };

/** The queue `work`, which dead-letters to the queue `dead` through the fanout exchange `dlx`. */
export const workAndDead = (table: JsonObject = {}): Topology => ({
  exchanges: [exchange('dlx')],
  queues: [queue('work', { ...dlx('dlx'), ...table }), queue('dead')],
  bindings: [bind('dlx', 'dead')],
});

type Options<Name extends Command['do']> = Partial<Omit<Extract<Command, { readonly do: Name }>, 'do'>>;

/** Publishes to a queue by the default exchange, unless the options name another one. */
export const publish = (key: string, body: string, options: Options<'publish'> = {}): Command => ({
  do: 'publish',
  key,
  body,
  ...options,
});

/** @param from of which queue; the consumer is called `c` unless it is named */
export const consume = (from: string, consumer = 'c', prefetch = 1): Command => ({
  do: 'consume',
  queue: from,
  consumer,
  prefetch,
});

export const reject = (requeue = false, consumer = 'c'): Command => ({ do: 'reject', consumer, requeue });
export const nack = (requeue = false, consumer = 'c'): Command => ({ do: 'nack', consumer, requeue });
export const ack = (consumer = 'c'): Command => ({ do: 'ack', consumer });
export const cancel = (consumer = 'c'): Command => ({ do: 'cancel', consumer });
export const wait = (seconds: number): Command => ({ do: 'wait', ms: 1_000 * seconds });

export const policy = (name: string, pattern: string, definition: JsonObject, priority = 0): Command => ({
  do: 'policy',
  policy: { name, pattern, definition, priority, 'apply-to': 'queues' },
});
