import { mergeMap } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';
import type { Address } from '../backend/index.js';
import type { DeadLetter } from './dead-letter.js';

/** Where to redrive a letter: a queue, an exchange and a routing key, or undefined for where it came from. */
export type RedriveTarget = Address | string | undefined;

/**
 * Redrives every letter, and emits each once the broker has it. A letter that cannot be redriven fails the stream: it
 * and everything unsettled goes back to the queue.
 * @param to the target, or a function that chooses one for each letter; default: where it was published at first
 */
export const redriveTo = <L extends DeadLetter>(
  to?: RedriveTarget | ((letter: L) => RedriveTarget),
): MonoTypeOperatorFunction<L> =>
  mergeMap(async (letter) => {
    await letter.redrive(typeof to === 'function' ? to(letter) : to);
    return letter;
  });
