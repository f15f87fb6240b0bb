import { groupBy, type GroupedObservable, type OperatorFunction, Subject } from 'rxjs';
import type { ConsumedLetter } from './consumed-letter.js';

/** One stream for each group of letters that have the same key. */
export type GroupLetters<L extends ConsumedLetter> = OperatorFunction<L, GroupedObservable<string, L>>;

/**
 * Groups letters by a key. Letters of a group without a subscriber are left, see {@link ConsumedLetter.leave}.
 */
export const groupLetters = <L extends ConsumedLetter>(keyOf: (letter: L) => string): GroupLetters<L> =>
  groupBy(keyOf, { connector: () => new Group<L>() });

class Group<L extends ConsumedLetter> extends Subject<L> {
  override next(letter: L): void {
    if (this.observed) super.next(letter);
    else letter.leave();
  }
}
