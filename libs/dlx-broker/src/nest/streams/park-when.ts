import { concatMap, EMPTY, from, mergeMap, type MonoTypeOperatorFunction, of } from 'rxjs';
import { notAPromise } from '../../platform/options/index.js';
import type { ConsumedLetter } from './consumed-letter.js';
import { checkFunction, queueOf } from './given.js';

/**
 * Parks letters for which a test returns true, and passes the others on.
 * @param queue where to; default: the name of the work queue and `.parked`
 * @throws DlxConfigurationError at once for a test that is no function, and for what names no queue
 */
export function parkWhen<L extends ConsumedLetter>(
  test: (letter: L) => boolean,
  queue?: string,
): MonoTypeOperatorFunction<L> {
  checkFunction(test, 'parkWhen: the test', '(letter) => letter.redrives > 3');
  if (queue !== undefined) queueOf(queue, 'parkWhen: queue');
  return mergeMap((letter) =>
    notAPromise(test(letter), 'parkWhen: the test')
      ? from(letter.park(queue)).pipe(concatMap(() => EMPTY))
      : of(letter),
  );
}
