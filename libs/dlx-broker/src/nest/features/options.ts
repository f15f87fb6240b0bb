import { anEnvelope, type Envelope } from '../decorators/envelope.js';
import { asGiven, isFunction, type Checks, type ReadBy } from '../module/check-options.js';
import { type CircuitOptions, readCircuits } from './circuit/options.js';
import {
  type ErrorHeaderOptions,
  type FingerprintFunction,
  readErrorHeaders,
  readErrorHistory,
} from './error-history/options.js';
import { checkStore, type IdempotencyStore } from './idempotent/store.js';
import { type OutboxLimits, type OutboxOptions, readOutbox } from './outbox/decorator.js';

/** The options of the module that belong to one feature each. */
export interface FeatureOptions {
  /** Circuits by name, for handlers with `@Circuit('name')`: when such handlers get no messages, because a service is away. */
  readonly circuits?: Readonly<Record<string, CircuitOptions>>;
  /**
   * What bodies are: `nest` for packets of Nest's RabbitMQ transport, on the queues of handlers that do not say it themselves and
   * for the client. Default: the data itself.
   */
  readonly envelope?: Envelope;
  /** Which of the headers `dlx-error-class`, `-message` and `-stack` dead letters have. Default true: all of them. */
  readonly errorHeaders?: boolean | ErrorHeaderOptions;
  /**
   * How many errors of earlier attempts a message keeps in its header `dlx-errors`: the first, and the last ones. 2 to 100; 0 keeps
   * none. On a RabbitMQ, handlers with a fixed delay then republish in place of rejecting. Default 10; with `errorHeaders: false` 0.
   */
  readonly errorHistory?: number;
  /**
   * Returns the fingerprint of a failure, by which dead letters are grouped: 1 to 128 characters. Default: calculated from the handler,
   * the class of the error, and its message without numbers.
   */
  readonly fingerprint?: FingerprintFunction;
  /** The store of keys for `@Idempotent`. Default: in the memory of this process. */
  readonly idempotencyStore?: IdempotencyStore;
  /**
   * Handlers without `@Outbox` collect what they emit, and publish it with the ack of their message: true, or the limits of an outbox.
   * Default false: they publish at once.
   */
  readonly outbox?: boolean | OutboxOptions;
}

/** The readers of {@link FeatureOptions}. */
export const featureOptions = {
  circuits: readCircuits,
  envelope: asGiven<Envelope | undefined>(anEnvelope.read, undefined),
  errorHeaders: readErrorHeaders,
  errorHistory: readErrorHistory,
  fingerprint: asGiven<FingerprintFunction | undefined>(isFunction, undefined),
  idempotencyStore: asGiven<IdempotencyStore | undefined>(checkStore, undefined),
  outbox: (value: unknown, origin: string): OutboxLimits | undefined => readOutbox(value, origin) || undefined,
} satisfies Checks<FeatureOptions>;

/** {@link FeatureOptions}, checked and complete. */
export type ResolvedFeatures = ReadBy<typeof featureOptions>;
