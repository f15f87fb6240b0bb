import { badRequest } from '../reply.js';

/** The host's event loop, lent: long work asks it for a pause, so that nobody waits for it. */
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

/** Milliseconds in which nobody else gets a turn. */
export const longestTurn = 5;

/**
 * Runs work to its end with pauses.
 * @param work yields wherever it could pause; between two yields it should take well below a millisecond
 * @param signal ends it in a pause when nobody waits for the answer any more
 * @throws Problem 400 then
 */
export async function inTurns<T>(work: Iterator<void, T, void>, turns: Turns, signal?: AbortSignal): Promise<T> {
  let began = turns.now();
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
    if (turns.now() - began < longestTurn) continue;
    await turns.next();
    if (signal?.aborted === true) throw badRequest('the client did not wait for the answer');
    began = turns.now();
  }
}
