import type { Logger } from '@nestjs/common';
import type { DlxContext } from '../context.js';
import type { PlannedHandler } from '../handler.js';
import type { Outcome } from '../run.js';
import type { Claim, IdempotencyStore } from './store.js';

/** What {@link Idempotent} asks for, worked out. */
export interface Idempotence {
  /** What makes two messages the same; undefined: nothing does, and it is handled. */
  readonly key: (data: unknown, context: DlxContext) => string | undefined;
  /** Milliseconds. */
  readonly ttl: number;
  readonly lease: number;
  readonly store: IdempotencyStore | undefined;
}

/** Milliseconds before a message whose twin is being handled comes again. */
export const pauseWhileBusy = 1_000;

/** Lets each message through to its handler once. */
export class IdempotencyGuard {
  #warned = false;

  constructor(
    private readonly usual: IdempotencyStore,
    private readonly logger: Logger,
  ) {}

  /**
   * @param run handles the message, and is told what to call with the outcome
   * @param skip called instead when it was handled already, or its twin is being handled
   * @param end called with the outcome once it is remembered
   */
  pass(
    planned: PlannedHandler,
    data: unknown,
    context: DlxContext,
    run: (end: (outcome: Outcome) => void) => void,
    skip: (claim: 'busy' | 'done') => void,
    end: (outcome: Outcome) => void,
  ): void {
    const { idempotence } = planned.handler.settings;
    const own = idempotence?.key(data, context);
    if (idempotence === undefined || own === undefined) {
      if (idempotence !== undefined) this.#warn(planned);
      return run(end);
    }
    const { ttl, lease, store = this.usual } = idempotence;
    const key = `${planned.queue}:${own}`;
    const fail = (failure: unknown): void => {
      context.capture(failure);
      end({ failed: true, failure });
    };
    then(
      () => store.claim(key, lease),
      (claim: Claim) => {
        if (claim !== 'claimed') return skip(claim);
        run((outcome) => {
          // Remembered before it is settled: a crash in between makes a duplicate, which is then known.
          const remember = () => (outcome.failed ? store.release(key) : store.done(key, ttl));
          then(remember, () => end(outcome), outcome.failed ? () => end(outcome) : fail);
        });
      },
      fail,
    );
  }

  #warn({ handler }: PlannedHandler): void {
    if (this.#warned) return;
    this.#warned = true;
    this.logger.warn(
      `@Idempotent on ${handler.origin}: a message without a key (by default its message id) is handled`,
    );
  }
}

/** In the same call stack where the answer is there at once. */
function then<T>(ask: () => T | Promise<T>, next: (answer: T) => void, failed: (error: unknown) => void): void {
  let answer: T | Promise<T>;
  try {
    answer = ask();
  } catch (error) {
    return failed(error);
  }
  if (answer instanceof Promise) answer.then(next, failed);
  else next(answer);
}
