import { concatMap, EMPTY, from, mergeMap, of } from 'rxjs';
import type { MonoTypeOperatorFunction } from 'rxjs';
import { notAPromise } from '../topology/index.js';
import type { DeadLetter } from './dead-letter.js';

/**
 * Parks the letters of which a test says so, and lets the others through.
 * @param queue where to; default: the name of the work queue and `.parked`
 */
export const parkWhen = <L extends DeadLetter>(
  test: (letter: L) => boolean,
  queue?: string,
): MonoTypeOperatorFunction<L> =>
  mergeMap((letter) =>
    notAPromise(test(letter), 'parkWhen: the test')
      ? from(letter.park(queue)).pipe(concatMap(() => EMPTY))
      : of(letter),
  );
