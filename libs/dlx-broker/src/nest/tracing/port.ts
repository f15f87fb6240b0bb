import type { Publication } from '../../backends/index.js';
import type { Message } from '../../engine/message/index.js';

/** An error as spans show it: what was thrown may be any value. */
export interface TracedError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
}

/** A publish under way. */
export interface PublishSpan {
  /** The publication to send: with the trace context in its headers. */
  readonly publication: Publication;
  /** The broker has the message, or refused it. */
  end(failure?: TracedError): void;
}

/** A message that a handler gets. */
export interface TracedAttempt {
  readonly message: Message;
  /** The queue that delivered it. */
  readonly queue: string;
  /** Class and method. */
  readonly handler: string;
  /** 1 the first time. */
  readonly attempt: number;
  /** The texts that a dispatch hook of the client attached. */
  readonly metadata: Readonly<Record<string, string>> | undefined;
}

/**
 * What became of a message: `handled` and `failed` are those of one of several handlers, of which another one decided. `by hand`: the
 * handler settled it itself. `held`: a service was away, and the same attempt comes later. `requeued`: an internal error.
 */
export type ProcessOutcome =
  'acked' | 'rejected' | 'retried' | 'parked' | 'dropped' | 'held' | 'requeued' | 'by hand' | 'handled' | 'failed';

/** One attempt of one handler. */
export interface ProcessSpan {
  /** The text for the header of the next attempt, which links to this one. */
  readonly header: string | undefined;
  /** Calls a function, and everything that it begins, with this span as the active one. */
  run(handle: () => void): void;
  /** The handler has ended. Its message is settled later. */
  handled(): void;
  /** @param error what the handler threw, unless it threw it to decide about the message (`RetryLater`, `Drop` ...) */
  end(outcome: ProcessOutcome, error?: TracedError): void;
}

/** A message that was taken from a queue, and has another place now. */
export interface Move {
  readonly kind: 'retry' | 'park' | 'redrive' | 'reject';
  readonly message: Message;
  /** The queue that had it. */
  readonly queue: string;
  /**
   * The queue of the next attempt, the parking lot, the exchange and routing key of a redrive, or the dead-letter exchange. Undefined
   * when it is not known.
   */
  readonly to: string | undefined;
  /** True if it became a dead letter: it was parked, or its queue has a dead-letter exchange, or may have one. */
  readonly isDeadLetter: boolean;
  /** Milliseconds until the next attempt. */
  readonly delay?: number;
  /** The number of the attempt that failed. */
  readonly attempt?: number;
  /** When it began: milliseconds since 1970, of the machine and not of the broker. */
  readonly since: number;
  /** Why no handler got the message. */
  readonly refusal?: TracedError | undefined;
  /** Why the move failed: then the message still has its old place. */
  readonly failure?: TracedError;
}

/** A redrive under way. */
export interface RedriveSpan {
  moved(message: Message): void;
  end(redriven: number, state: string, failure?: TracedError): void;
}

/**
 * What a tracing library is given to do. `dlxTracing` of `dlx-broker/otel` makes one for OpenTelemetry. A method that throws has no
 * effect on the message, and one that returns undefined makes no span.
 */
export interface DlxTracing {
  /** An application publishes a message. */
  published(publication: Publication): PublishSpan | undefined;
  /** A handler is about to get a message. */
  startProcess(attempt: TracedAttempt): ProcessSpan | undefined;
  /** A message was moved. @param process the attempt that caused it; undefined if no handler had the message */
  moved(move: Move, process: ProcessSpan | undefined): void;
  /** A redrive begins. @param queues from which it takes messages */
  redrive(queues: readonly string[]): RedriveSpan | undefined;
}

/** The methods of {@link DlxTracing}. */
export const tracingMethods = [
  'published',
  'startProcess',
  'moved',
  'redrive',
] as const satisfies readonly (keyof DlxTracing)[];

/** The present time of the machine, for {@link Move.since}. */
export const timeOfMove = (): number => performance.timeOrigin + performance.now();
