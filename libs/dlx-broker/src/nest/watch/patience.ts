import type { Clock } from '../../broker/index.js';
import { after } from '../../host/index.js';

/** How long a look waits for one answer, in milliseconds. */
const longest = 5_000;
/** The most answers that are due at a time. While so many are due, nothing more is asked. */
const mostDue = 4;

/** An answer did not come in time. */
export class LateAnswerError extends Error {
  override readonly name = 'LateAnswerError';

  /** @param isOwn false if it was not asked for: other answers are due, or nothing is asked any more */
  constructor(readonly isOwn: boolean) {
    super(`the server did not answer within ${longest / 1_000} s`);
  }
}

/** Asks a server. A slow server holds up no look for long, and questions to it do not pile up. */
export class Patience {
  /** What is asked, with the function that ends its timer. */
  readonly #due = new Map<string, () => void>();
  #hasEnded = false;

  constructor(private readonly clock: Clock) {}

  /**
   * @param subject while an answer about it is due, it is not asked about again
   * @throws LateAnswerError when there is no answer in time; else what the call throws
   */
  ask<T>(subject: string, call: () => Promise<T>): Promise<T> {
    const isDue = this.#due.has(subject);
    if (this.#hasEnded || isDue || this.#due.size >= mostDue) return Promise.reject(new LateAnswerError(isDue));
    return new Promise((resolve, reject) => {
      const callOff = after(this.clock, longest, () => reject(new LateAnswerError(true)));
      this.#due.set(subject, callOff);
      const ended = (): void => {
        callOff();
        this.#due.delete(subject);
      };
      new Promise<T>((answer) => answer(call())).finally(ended).then(resolve, reject);
    });
  }

  /** Nothing is waited for any more, and nothing more is asked. A look that still runs ends with its next question. */
  end(): void {
    this.#hasEnded = true;
    for (const callOff of this.#due.values()) callOff();
  }
}
