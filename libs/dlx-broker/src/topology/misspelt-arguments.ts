import { nearestWord } from './known-options.js';
import type { Topology } from './topology.js';

/** An argument that no broker knows, and which one is probably meant. */
export interface MisspeltArgument {
  readonly kind: 'queue' | 'exchange';
  readonly name: string;
  readonly argument: string;
  readonly meant: string;
  readonly origin: string | undefined;
}

/** The arguments that RabbitMQ, its plugins or this broker give a meaning; every other name has none (rule F9). */
export const knownArguments = {
  queue: [
    'x-message-ttl',
    'x-expires',
    'x-max-length',
    'x-max-length-bytes',
    'x-max-in-memory-length',
    'x-max-in-memory-bytes',
    'x-overflow',
    'x-dead-letter-exchange',
    'x-dead-letter-routing-key',
    'x-dead-letter-strategy',
    'x-queue-type',
    'x-queue-mode',
    'x-queue-version',
    'x-queue-leader-locator',
    'x-queue-master-locator',
    'x-quorum-initial-group-size',
    'x-quorum-target-group-size',
    'x-delivery-limit',
    'x-delayed-retry-type',
    'x-delayed-retry-min',
    'x-delayed-retry-max',
    'x-max-priority',
    'x-single-active-consumer',
    'x-consumer-timeout',
    'x-consumer-disconnected-timeout',
    'x-max-age',
    'x-stream-max-segment-size-bytes',
    'x-stream-filter-size-bytes',
    'x-initial-cluster-size',
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
} as const satisfies Readonly<Record<MisspeltArgument['kind'], readonly string[]>>;

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
