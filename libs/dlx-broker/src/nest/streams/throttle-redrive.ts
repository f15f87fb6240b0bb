import { concatMap, defer, from, map, type MonoTypeOperatorFunction, type Observable, of } from 'rxjs';
import { Pacing } from '../../server/redrive/index.js';
import { DlxConfigurationError, optionsOf, refuseUnknown, shown } from '../../platform/options/index.js';
import { clockTimer } from './clock-timer.js';
import type { ConsumedLetter } from './consumed-letter.js';
import { targetOf } from './given.js';
import type { RedriveTarget } from './redrive-to.js';

/** The rate and the target. */
export interface ThrottleOptions {
  /** The most letters a second. */
  readonly perSecond: number;
  /** Default: the origin of each letter. */
  readonly to?: RedriveTarget;
}

/**
 * Redrives letters one after the other, no faster than `perSecond`, so that a recovered service is not overloaded. It emits each
 * letter when the broker has it. The prefetch of the stream limits how many letters wait. A letter that cannot be redriven fails
 * the stream.
 * @throws DlxConfigurationError at once for an impossible rate, for a target that is none, and for unknown options
 */
export function throttleRedrive<L extends ConsumedLetter>(options: ThrottleOptions): MonoTypeOperatorFunction<L> {
  const given = optionsOf(options, 'throttleRedrive', 'write { perSecond: 10 }');
  refuseUnknown(given, ['perSecond', 'to'], 'throttleRedrive');
  const { perSecond, to } = options;
  targetOf(to, 'throttleRedrive: to');
  if (typeof perSecond !== 'number' || !(perSecond > 0) || perSecond === Infinity) {
    const text = `throttleRedrive: perSecond is ${shown(perSecond)}; write a number above 0, or use redriveTo()`;
    throw new DlxConfigurationError(text);
  }
  return (letters) =>
    defer(() => {
      const pacing = new Pacing(perSecond);
      const turn = (letter: L): Observable<void> => clockTimer(letter.clock, pacing.take(letter.clock.now()));
      const redrive = (letter: L): Observable<L> =>
        letter.open ? from(letter.redrive(to)).pipe(map(() => letter)) : of(letter);
      return letters.pipe(concatMap((letter) => turn(letter).pipe(concatMap(() => redrive(letter)))));
    });
}
