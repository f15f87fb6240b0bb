import { type Accepts, whole } from '../../platform/options/index.js';
import { type Overflow, queueArguments, queueOptions, type WrittenArgument } from '../../backends/topology/index.js';
import { contribute } from './contribution.js';

/** One setting of a decorator, and the argument or option that it sets. */
export interface DecoratorRow {
  /** Without the `@`. */
  readonly decorator: string;
  /** `value` is the decorator's own parameter; any other text is a name in its options. */
  readonly setting: string;
  /** An argument of the handler's queue, or an option of its consumer. */
  readonly of: 'queue' | 'consumer';
  /** `x-...` for a queue; `prefetch` or `priority` for a consumer. */
  readonly becomes: string;
  readonly accepts: Accepts;
}

const any = Number.MAX_SAFE_INTEGER;

const ofQueue = (decorator: string, setting: string, becomes: WrittenArgument): DecoratorRow => {
  return { decorator, setting, of: 'queue', becomes, accepts: queueArguments[becomes] };
};

/**
 * Every decorator that sets arguments of a queue or options of a consumer. A new one needs its row, here or in {@link queueOptions}, its
 * function below, and its name in the index.ts of the library. docs/reference/decorators.md shows this table.
 */
export const decoratorTable: readonly DecoratorRow[] = [
  ...queueOptions
    .filter(([option]) => option !== 'overflow')
    .map(([[first = '', ...rest], argument, member = 'value']) =>
      ofQueue([first.toUpperCase(), ...rest].join(''), member, argument),
    ),
  ofQueue('MaxLength', 'overflow', 'x-overflow'),
  ofQueue('MaxLengthBytes', 'overflow', 'x-overflow'),
  ofQueue('Quorum', 'type', 'x-queue-type'),
  { decorator: 'Prefetch', setting: 'value', of: 'consumer', becomes: 'prefetch', accepts: whole(0, 65_535) },
  { decorator: 'ConsumerPriority', setting: 'value', of: 'consumer', becomes: 'priority', accepts: whole(-any, any) },
];

/** Limits how long a message waits in the handler's queue: milliseconds, or a string such as `'30s'` or `'5 minutes'`. */
export const Ttl = (duration: number | string): MethodDecorator => contribute('Ttl', { value: duration });

/** Deletes the handler's queue, with its messages, after this time without a consumer: milliseconds or `'1h'`. */
export const Expires = (duration: number | string): MethodDecorator => contribute('Expires', { value: duration });

/** What a full queue does with a further message. */
export interface LengthOptions {
  readonly overflow?: Overflow;
}

/** Limits the ready messages of the handler's queue. */
export const MaxLength = (messages: number, options: LengthOptions = {}): MethodDecorator =>
  contribute('MaxLength', { value: messages }, { given: options });

/** Limits the bytes of the ready messages' bodies in the handler's queue. */
export const MaxLengthBytes = (bytes: number, options: LengthOptions = {}): MethodDecorator =>
  contribute('MaxLengthBytes', { value: bytes }, { given: options });

/** Sets the highest priority of the handler's queue, 1 to 255. */
export const MaxPriority = (priority: number): MethodDecorator => contribute('MaxPriority', { value: priority });

/** Limits the unacknowledged messages of the handler; 0 is unlimited. */
export const Prefetch = (messages: number): MethodDecorator => contribute('Prefetch', { value: messages });

/**
 * Sets the priority of the consumer: consumers of higher priority are served first, while their prefetch allows.
 * Default 0.
 */
export const ConsumerPriority = (priority: number): MethodDecorator =>
  contribute('ConsumerPriority', { value: priority });

/** One consumer of the handler's queue is active at a time; the next one takes over when it ends. */
export function SingleActiveConsumer(): MethodDecorator;
export function SingleActiveConsumer(...given: readonly unknown[]): MethodDecorator {
  return contribute('SingleActiveConsumer', { value: given.length === 0 ? true : given[0] });
}

export interface QuorumOptions {
  /** How often a message may come back to the queue before it is dead-lettered. */
  readonly deliveryLimit?: number;
}

/** The handler's queue is a quorum queue: replicated on a cluster, and it counts deliveries. */
export const Quorum = (options: QuorumOptions = {}): MethodDecorator =>
  contribute('Quorum', { type: 'quorum' }, { given: options });
