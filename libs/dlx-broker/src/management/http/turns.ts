import { clientGone } from './reply.js';

/** Pauses of long work, in which the event loop serves other clients. */
export interface Turns {
  /** Milliseconds, monotonic, with fractions. */
  now(): number;
  /** After other work of the host. */
  next(): Promise<void>;
}

/** Real ones. */
export const eventLoop: Turns = {
  now: () => performance.now(),
  next: () => new Promise((resolve) => setImmediate(resolve)),
};

/**
 * Real ones for all long work of one API: one piece of it in each turn of the event loop, so that many requests at a time
 * hold it up no longer than one.
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

/** Milliseconds after which other work of the host gets a turn. */
export const longestTurn = 5;

/**
 * Runs work to its end with pauses.
 * @param work yields wherever it could pause; between two yields it should take well below a millisecond
 * @param signal ends it in a pause when its client has gone
 * @throws Problem 400 then
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
