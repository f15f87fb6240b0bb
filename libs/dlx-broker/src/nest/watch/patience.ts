import type { Clock } from '../../broker/index.js';
import { OwnTimers } from '../../host/index.js';

/** The longest wait for an answer, in milliseconds. */
const maxWait = 5_000;
/** The most unanswered requests. While there are this many, no further one is sent. */
const maxDue = 4;

/** An answer did not come in time. */
export class LateAnswerError extends Error {
  override readonly name = 'LateAnswerError';

  /** @param isOwn false if no request was sent: too many are unanswered, or the watch has ended */
  constructor(readonly isOwn: boolean) {
    super(`the server did not answer within ${maxWait / 1_000} s`);
  }
}

/** Sends requests to a server that may be slow: each waits for a limited time, and few are unanswered at a time. */
export class Patience {
  /** The subjects of unanswered requests. */
  readonly #due = new Set<string>();
  readonly #timers: OwnTimers;
  #hasEnded = false;

  constructor(clock: Clock) {
    this.#timers = new OwnTimers(clock);
  }

  /**
   * @param subject there is at most one unanswered request for each subject
   * @throws LateAnswerError when there is no answer in time; else what the call throws
   */
  ask<T>(subject: string, call: () => Promise<T>): Promise<T> {
    const isDue = this.#due.has(subject);
    if (this.#hasEnded || isDue || this.#due.size >= maxDue) return Promise.reject(new LateAnswerError(isDue));
    return new Promise((resolve, reject) => {
      const cancel = this.#timers.after(maxWait, () => reject(new LateAnswerError(true)));
      this.#due.add(subject);
      const ended = (): void => {
        cancel();
        this.#due.delete(subject);
      };
      new Promise<T>((answer) => answer(call())).finally(ended).then(resolve, reject);
    });
  }

  /** Ends all timers, and refuses further requests. A look that is still running ends with its next request. */
  end(): void {
    this.#hasEnded = true;
    this.#timers.close();
  }
}
