import type { Letter, XDeath } from '../streams/index.js';
import type { DeathKind } from '../decorators/on-dead-letter.js';

/** A message that was parked or rejected, or that expired. */
export interface Death {
  readonly kind: DeathKind;
  /** The queue in which it failed or expired. */
  readonly queue: string;
  /** Milliseconds since 1970, by the broker's clock. */
  readonly at: number;
  /** Class and method of the handler, if the message had one. */
  readonly handler?: string;
  readonly messageId?: string;
  /** The number of the attempt: 1 is the first. */
  readonly attempt?: number;
  /** Of a parked message: its parking lot. */
  readonly to?: string;
  /** The error of the handler. */
  readonly error?: unknown;
  /** Groups failures of the same cause, if there was an error. */
  readonly fingerprint?: string;
  /** All deaths of the message since it was published or redriven, with this one, the latest first. */
  readonly deaths: readonly XDeath[];
  /** The message as it was when it failed: its payload, headers and earlier errors. It is no longer to be settled. */
  readonly letter: Letter;
}

/** A method that is called for deaths. */
export interface DeathHook {
  /** Class and method. */
  readonly origin: string;
  readonly kinds: ReadonlySet<DeathKind>;
  matches(queue: string): boolean;
  call(death: Death): unknown;
}
