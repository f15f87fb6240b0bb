import { groupBy, Subject } from 'rxjs';
import type { GroupedObservable, OperatorFunction } from 'rxjs';
import type { DeadLetter } from './dead-letter.js';

/**
 * One stream per work queue, in which the letters failed at first. Letters of a group to which nobody is subscribed (any
 * more) are left, see {@link DeadLetter.leave}: nothing halts and nothing is lost.
 */
export const groupByQueue = <T>(): OperatorFunction<DeadLetter<T>, GroupedObservable<string, DeadLetter<T>>> =>
  groupBy((letter: DeadLetter<T>) => letter.workQueue, { connector: () => new Group<T>() });

class Group<T> extends Subject<DeadLetter<T>> {
  override next(letter: DeadLetter<T>): void {
    if (this.observed) super.next(letter);
    else letter.leave();
  }
}
