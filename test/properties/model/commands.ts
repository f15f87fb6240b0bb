import fc from 'fast-check';
import type { QueueSetup } from './world.js';

/** What clients do, as data; numbers without meaning here pick one of what there is then. */
export type Command =
  | {
      readonly do: 'publish';
      readonly to: string;
      readonly size: number;
      readonly priority: number;
      readonly ttl?: number | undefined;
      /** Its `x-delay`, wherever it is sent: a delayed exchange may be on its way later. */
      readonly delay?: number | undefined;
    }
  | { readonly do: 'get'; readonly channel: number; readonly queue: string; readonly noAck: boolean }
  | {
      readonly do: 'settle';
      readonly channel: number;
      readonly pick: number;
      readonly multiple: boolean;
      readonly how: 'ack' | 'requeue' | 'reject';
    }
  | { readonly do: 'recover' | 'close'; readonly channel: number }
  | {
      readonly do: 'consume';
      readonly channel: number;
      readonly queue: string;
      readonly prefetch: number;
      readonly noAck: boolean;
      readonly priority: number;
    }
  | { readonly do: 'cancel' | 'withdraw'; readonly pick: number }
  | { readonly do: 'advance' | 'late'; readonly time: number }
  | { readonly do: 'purge' | 'delete' | 'declare'; readonly queue: string };

export const queueNames = ['a', 'b', 'c', 'd'] as const;
export const channelCount = 3;

const queue = fc.constantFrom(...queueNames);
const channel = fc.nat(channelCount - 1);
const sometimes = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 2 });
const time = fc.constantFrom(0, 1, 5, 10, 11, 20, 50);

const weighted: readonly (readonly [number, fc.Arbitrary<Command>])[] = [
  [
    10,
    fc.record({
      do: fc.constant('publish' as const),
      to: fc.oneof({ weight: 4, arbitrary: queue }, { weight: 3, arbitrary: fc.constantFrom('fan', 'later', 'later') }),
      size: fc.nat(4),
      priority: fc.nat(4),
      ttl: sometimes(time),
      delay: fc.oneof(fc.constant(undefined), fc.constantFrom(-1, 0, 1, 5, 5, 10, 11, 20)),
    }),
  ],
  [3, fc.record({ do: fc.constant('get' as const), channel, queue, noAck: fc.boolean() })],
  [
    8,
    fc.record({
      do: fc.constant('settle' as const),
      channel,
      pick: fc.nat(20),
      multiple: fc.boolean(),
      how: fc.constantFrom('ack' as const, 'requeue' as const, 'reject' as const, 'reject' as const),
    }),
  ],
  [1, fc.record({ do: fc.constantFrom('recover' as const, 'close' as const), channel })],
  [
    3,
    fc.record({
      do: fc.constant('consume' as const),
      channel,
      queue,
      prefetch: fc.nat(3),
      noAck: fc.constantFrom(false, false, false, true),
      priority: fc.nat(1),
    }),
  ],
  [1, fc.record({ do: fc.constant('cancel' as const), pick: fc.nat(9) })],
  [1, fc.record({ do: fc.constant('withdraw' as const), pick: fc.nat(40) })],
  [4, fc.record({ do: fc.constantFrom('advance' as const, 'advance' as const, 'late' as const), time })],
  [
    1,
    fc.record({
      do: fc.constantFrom('purge' as const, 'delete' as const, 'declare' as const, 'declare' as const),
      queue,
    }),
  ],
];

export const commands = (maxLength: number): fc.Arbitrary<Command[]> =>
  fc.array(fc.oneof(...weighted.map(([weight, arbitrary]) => ({ weight, arbitrary }))), {
    minLength: 5,
    maxLength,
    size: 'max',
  });

const deadLetters = fc.option(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ exchange: fc.constant(''), key: sometimes(queue) }) },
    { weight: 2, arbitrary: fc.record({ exchange: fc.constant('fan'), key: sometimes(queue) }) },
    { weight: 2, arbitrary: fc.record({ exchange: fc.constant('later'), key: sometimes(queue) }) },
    { weight: 1, arbitrary: fc.constant({ exchange: 'missing', key: undefined }) },
  ),
  { nil: undefined, freq: 5 },
);

const setup = (name: string): fc.Arbitrary<QueueSetup> =>
  fc
    .record({
      type: fc.constantFrom('classic' as const, 'classic' as const, 'quorum' as const),
      ttl: sometimes(time),
      maxLength: sometimes(fc.nat(4)),
      maxBytes: sometimes(fc.nat(8)),
      overflow: fc.constantFrom(
        undefined,
        'drop-head' as const,
        'reject-publish' as const,
        'reject-publish-dlx' as const,
      ),
      maxPriority: sometimes(fc.nat(3)),
      deliveryLimit: sometimes(fc.nat(2)),
      deadLetters,
      bound: fc.boolean(),
    })
    .map((parts) => ({
      ...parts,
      name,
      maxPriority: parts.type === 'classic' ? parts.maxPriority : undefined,
      deliveryLimit: parts.type === 'quorum' ? parts.deliveryLimit : undefined,
    }));

export const setups: fc.Arbitrary<QueueSetup[]> = fc.tuple(...queueNames.map(setup));
