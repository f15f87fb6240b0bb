import { AsyncResource } from 'node:async_hooks';
import { Observable, type Subscriber } from 'rxjs';
import type { Done } from '../../backends/index.js';
import { callEach } from '../../platform/index.js';
import type { EventFailures } from './event-failures.js';

/**
 * What `emit` returns: an observable that completes when the broker has taken responsibility for the event, or fails. Later subscribers
 * get the outcome at once. A failure comes one tick later, so that the caller can subscribe before.
 */
export class EmitResult<T> extends Observable<T> {
  readonly #failures: EventFailures;
  readonly #pattern: unknown;
  #isOver = false;
  #failure: Error | undefined;
  /** Nearly all events have one subscriber or none. */
  #first: EmitSubscriber<T> | undefined;
  #others: EmitSubscriber<T>[] | undefined;

  constructor(failures: EventFailures, pattern: unknown) {
    super(subscribed);
    this.#failures = failures;
    this.#pattern = pattern;
  }

  /** A function for the outcome. It keeps nothing but this object in memory. */
  done(): Done {
    return (failure) => this.end(failure);
  }

  /** @param decide gets the failure, if no subscriber does */
  end(failure: Error | undefined, decide?: (unseen?: Error) => void): void {
    if (failure === undefined) return this.#end();
    queueMicrotask(() => {
      const isObserved = this.#first?.isOpen === true || this.#others?.some(({ isOpen }) => isOpen) === true;
      this.#failure = failure;
      const steps = [
        () => (isObserved ? undefined : this.#failures.unseen(this.#pattern, failure)),
        () => decide?.(isObserved ? undefined : failure),
        () => this.#end(),
      ];
      callEach(
        steps,
        (step) => step(),
        (error) => this.#failures.thrown(error),
      );
    });
  }

  /** @internal */
  add(subscriber: Subscriber<T>): void {
    if (this.#isOver) return endSubscriber(subscriber, this.#failure);
    const waiting = new EmitSubscriber(subscriber);
    if (this.#first === undefined) this.#first = waiting;
    else (this.#others ??= []).push(waiting);
  }

  #end(): void {
    this.#isOver = true;
    this.#notify(this.#first);
    if (this.#others !== undefined) for (const other of this.#others) this.#notify(other);
    this.#first = this.#others = undefined;
  }

  /** A subscriber may throw, in `finalize` for example: neither the others nor the publisher shall miss the outcome. */
  #notify(subscriber: EmitSubscriber<T> | undefined): void {
    try {
      subscriber?.end(this.#failure);
    } catch (error) {
      this.#failures.thrown(error);
    }
  }
}

/** A subscriber that waits for the outcome of an event. It gets the outcome in the async context in which it subscribed. */
class EmitSubscriber<T> extends AsyncResource {
  readonly #subscriber: Subscriber<T>;

  constructor(subscriber: Subscriber<T>) {
    super('DlxEmit');
    this.#subscriber = subscriber;
  }

  /** False after `unsubscribe`. */
  get isOpen(): boolean {
    return !this.#subscriber.closed;
  }

  end(failure: Error | undefined): void {
    if (this.isOpen) this.runInAsyncScope(endSubscriber<T>, undefined, this.#subscriber, failure);
  }
}

function endSubscriber<T>(subscriber: Subscriber<T>, failure: Error | undefined): void {
  if (failure !== undefined) return subscriber.error(failure);
  subscriber.next(undefined as T);
  subscriber.complete();
}

/** RxJS calls it as a method of the observable. One function for all costs less than one for each. */
function subscribed<T>(this: Observable<T>, subscriber: Subscriber<T>): void {
  (this as EmitResult<T>).add(subscriber);
}
