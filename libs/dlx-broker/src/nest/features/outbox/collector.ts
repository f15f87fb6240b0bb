import { createHash } from 'node:crypto';
import type { DelayedPublication, Done, Publication } from '../../../backends/index.js';
import type { Attempt } from '../../core/handler.js';
import type { OutboxLimits } from './decorator.js';
import type { Outbox } from './outbox.js';

/** An event was emitted in an attempt that has ended: it timed out, it was settled by hand, or the call was not awaited. */
export class OutboxClosedError extends Error {
  override readonly name = 'OutboxClosedError';

  constructor(handler: string) {
    super(
      `the outbox of ${handler} is closed: the attempt that emitted this event has ended; await what emits, ` +
        'or emit with { outbox: false }, which publishes at once',
    );
  }
}

/** A handler emitted more than its outbox holds. */
class OutboxFullError extends Error {
  override readonly name = 'OutboxFullError';

  constructor(handler: string, { messages, bytes }: { readonly messages: number; readonly bytes: number }) {
    super(
      `the outbox of ${handler} is full: it holds at most ${messages} messages of ${bytes} bytes in all; ` +
        'write @Outbox({ messages, bytes }), or emit with { outbox: false }, which publishes at once',
    );
  }
}

/** What the outboxes of a handler have in common. */
export interface OutboxPlan extends OutboxLimits {
  /** Stands in the ids of the events, see {@link derivedId}. */
  readonly tag: string;
}

/** The way of one attempt into the outbox of its message. */
export class Collector {
  #count = 0;
  #bytes = 0;
  /** Class and method, for errors. */
  readonly #handler: string;
  /** The id of the message that is handled. */
  readonly #cause: string | undefined;

  constructor(
    readonly outbox: Outbox,
    private readonly plan: OutboxPlan,
    private readonly attempt: Pick<Attempt, 'planned' | 'context' | 'isOver'>,
  ) {
    this.#handler = attempt.planned.handler.origin;
    this.#cause = attempt.context.message.own.messageId;
  }

  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The id of the next event; undefined if the handled message has none. */
  nextId(): string | undefined {
    return this.#cause === undefined ? undefined : derivedId(this.#cause, this.plan.tag, this.#count + 1);
  }

  /** False after the attempt. */
  get isOpen(): boolean {
    return !this.attempt.isOver && this.outbox.isOpen;
  }

  /** The error of an event that comes too late. */
  closedError(): OutboxClosedError {
    return new OutboxClosedError(this.#handler);
  }

  /** @throws OutboxFullError */
  checkRoom({ body }: Publication): void {
    const { messages, bytes } = this.plan;
    if (this.#count >= messages || this.#bytes + body.length > bytes)
      throw new OutboxFullError(this.#handler, this.plan);
  }

  /** Keeps an event. @param size of its body, in bytes */
  hold(prepared: DelayedPublication | Promise<DelayedPublication>, size: number, ended: Done | undefined): void {
    this.#count++;
    this.#bytes += size;
    if (prepared instanceof Promise) this.outbox.holdLater(prepared, ended);
    else this.outbox.hold(prepared, ended);
  }
}

/** Longer ids of causes are replaced by their hash: a chain of events, each caused by the one before, has no end. */
const longestCause = 128;

const hashOf = (text: string, characters: number): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, characters);

/** A short name of a handler for the ids of its events: several handlers may get the same message, each in its own queue. */
export const tagOf = (queue: string, origin: string): string => hashOf(`${queue}\n${origin}`, 6);

/** The message id of the nth event that a handler emits for a message. It is the same each time the handler gets the message. */
function derivedId(cause: string, tag: string, n: number): string {
  const start = Buffer.byteLength(cause) <= longestCause ? cause : hashOf(cause, 22);
  return `${start}.${tag}.${n}`;
}
