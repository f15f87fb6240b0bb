import { queueArguments } from '../../engine/broker/index.js';
import { nearestWord } from '../../platform/options/index.js';
import type { Topology } from './topology.js';

/** An argument that no broker knows, and the known argument that it resembles. */
export interface MisspeltArgument {
  readonly kind: 'queue' | 'exchange';
  readonly name: string;
  readonly argument: string;
  readonly meant: string;
  readonly origin: string | undefined;
}

/** The arguments that have a meaning for RabbitMQ, its plugins or this broker. All others are ignored (rule F9). */
export const knownArguments = {
  queue: [
    ...queueArguments.map(({ name }) => name),
    'x-quorum-target-group-size',
    'x-consumer-disconnected-timeout',
    'x-stream-filter-size-bytes',
    'x-message-deduplication',
    'x-cache-size',
    'x-cache-ttl',
    'x-cache-persistence',
  ],
  exchange: [
    'alternate-exchange',
    'x-delayed-type',
    'x-message-deduplication',
    'x-cache-size',
    'x-cache-ttl',
    'x-cache-persistence',
    'hash-header',
    'hash-property',
  ],
} satisfies Readonly<Record<MisspeltArgument['kind'], readonly string[]>>;

/** The arguments of queues and exchanges that no broker knows and that are spelt nearly like one it knows. */
export function misspeltArguments({ queues, exchanges }: Topology): readonly MisspeltArgument[] {
  const found: MisspeltArgument[] = [];
  for (const [kind, declarations] of [
    ['queue', queues],
    ['exchange', exchanges],
  ] as const) {
    const known: readonly string[] = knownArguments[kind];
    for (const { name, origin, arguments: args } of declarations) {
      for (const argument of args.keys()) {
        const meant = known.includes(argument) ? undefined : nearestWord(argument, known);
        if (meant !== undefined) found.push({ kind, name, argument, meant, origin });
      }
    }
  }
  return found;
}
