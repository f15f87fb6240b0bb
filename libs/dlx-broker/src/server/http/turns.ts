import { clientGone } from './reply.js';

/** Pauses of long work, in which the event loop serves other clients. */
export interface Turns {
  /** A monotonic time in milliseconds, with fractions. */
  now(): number;
  /** Resolves after other work of the host. */
  next(): Promise<void>;
}

/** The turns of the event loop. */
export const eventLoop: Turns = {
  now: () => performance.now(),
  next: () => new Promise((resolve) => setImmediate(resolve)),
};

/**
 * The turns of all long work of one API: one piece of work in each turn of the event loop, so that many requests at a
 * time delay other clients no longer than one.
 */
export class SharedTurns implements Turns {
  readonly #waiting: (() => void)[] = [];

  now(): number {
    return performance.now();
  }

  next(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(this.#go);
    });
  }

  readonly #go = (): void => {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(this.#go);
  };
}

/** The longest turn in milliseconds; then other work of the host runs. */
export const longestTurn = 5;

/**
 * Runs work to its end with pauses.
 * @param work yields wherever it may pause; between two yields it should take well below a millisecond
 * @param signal aborted when the client has gone: the work ends in the next pause
 * @throws Problem 400 if the signal was aborted
 */
export async function inTurns<T>(work: Iterator<void, T, void>, turns: Turns, signal?: AbortSignal): Promise<T> {
  let began = turns.now();
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    if (turns.now() - began < longestTurn) continue;
    await turns.next();
    if (signal?.aborted === true) throw clientGone();
    began = turns.now();
  }
}
