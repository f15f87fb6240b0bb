import { mergeMap, type MonoTypeOperatorFunction } from 'rxjs';
import type { Address } from '../../engine/message/index.js';

import { notAPromise } from '../../platform/options/index.js';
import type { ConsumedLetter } from './consumed-letter.js';
import { targetOf } from './given.js';

/** Where to redrive a letter: a queue, an exchange and a routing key, or undefined for its origin. */
export type RedriveTarget = Address | string | undefined;

/**
 * Redrives every letter, and emits each when the broker has it. A letter that cannot be redriven fails the stream, and all
 * unsettled letters return to the queue.
 * @param to the target, or a function that chooses one for each letter. Default: the origin. The stream fails when the function
 *   throws, or returns a promise or a value that is no target
 * @throws DlxConfigurationError at once for a value that is neither a target nor a function
 */
export function redriveTo<L extends ConsumedLetter>(
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
