import { groupBy, Subject } from 'rxjs';
import type { GroupedObservable, OperatorFunction } from 'rxjs';
import type { DeadLetter } from './dead-letter.js';

/** One stream for each group of letters that have the same key. */
export type GroupLetters<T> = OperatorFunction<DeadLetter<T>, GroupedObservable<string, DeadLetter<T>>>;

/**
 * Letters of a group to which nobody is subscribed (any more) are left, see {@link DeadLetter.leave}: nothing halts and
 * nothing is lost.
 */
export const groupLetters = <T>(keyOf: (letter: DeadLetter<T>) => string): GroupLetters<T> =>
  groupBy(keyOf, { connector: () => new Group<T>() });

class Group<T> extends Subject<DeadLetter<T>> {
  override next(letter: DeadLetter<T>): void {
    if (this.observed) super.next(letter);
    else letter.leave();
  }
}
