import { groupBy, Subject } from 'rxjs';
import type { GroupedObservable, OperatorFunction } from 'rxjs';
import type { DeadLetter } from './dead-letter.js';

/** One stream for each group of letters that have the same key. */
export type GroupLetters<L extends DeadLetter> = OperatorFunction<L, GroupedObservable<string, L>>;

/**
 * Letters of a group without a subscriber (any more) are left, see {@link DeadLetter.leave}: nothing halts and
 * nothing is lost.
 */
export const groupLetters = <L extends DeadLetter>(keyOf: (letter: L) => string): GroupLetters<L> =>
  groupBy(keyOf, { connector: () => new Group<L>() });

class Group<L extends DeadLetter> extends Subject<L> {
  override next(letter: L): void {
    if (this.observed) super.next(letter);
    else letter.leave();
  }
}
