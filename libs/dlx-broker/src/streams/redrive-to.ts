import { mergeMap } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';
import type { Address } from '../message/index.js';

import { notAPromise } from '../options/index.js';
import type { DeadLetter } from './dead-letter.js';
import { targetOf } from './given.js';

/** Where to redrive a letter: a queue, an exchange and a routing key, or undefined for where it came from. */
export type RedriveTarget = Address | string | undefined;

/**
 * Redrives every letter, and emits each once the broker has it. A letter that cannot be redriven fails the stream: it
 * and everything unsettled goes back to the queue.
 * @param to the target, or a function that chooses one for each letter; default: where it was published at first. What
 *   the function throws, a promise, and an answer that is no target fail the stream
 * @throws DlxConfigurationError at once for what is neither a target nor a function
 */
export function redriveTo<L extends DeadLetter>(
  to?: RedriveTarget | ((letter: L) => RedriveTarget),
): MonoTypeOperatorFunction<L> {
  if (typeof to !== 'function') targetOf(to, 'redriveTo: to');
  return mergeMap(async (letter) => {
    const target = typeof to === 'function' ? targetOf(notAPromise(to(letter), origin), origin) : to;
    await letter.redrive(target);
    return letter;
  });
}

const origin = 'redriveTo: to';
