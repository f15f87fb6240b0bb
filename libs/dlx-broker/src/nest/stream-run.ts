import type { Observable } from 'rxjs';
import type { Done } from '../backend/index.js';
import { Refusal } from './capture.js';
import { succeeded, type End } from './handler.js';
import type { AnswerStream, Replies } from './replies.js';

/** A stream that a handler returned: it runs to its end, or until no client waits for its values any more. */
export class StreamRun implements AnswerStream {
  #isOver = false;
  #subscription: { unsubscribe?(): void } | undefined;

  /**
   * @param replies where the values go, if the message is a request
   * @param published called when the last reply was published, or with the error that prevented it
   * @param end called with the outcome, unless `published` is
   */
  constructor(
    private readonly replies: Replies | undefined,
    private readonly published: Done,
    private readonly end: End,
  ) {}

  start(stream: Observable<unknown>): void {
    this.replies?.begin(this);
    try {
      this.#subscription = stream.subscribe(this);
    } catch (error) {
      this.error(error); // an observable of another library may throw on subscribe
    }
    if (this.#isOver) this.#subscription?.unsubscribe?.();
    else this.replies?.watch();
  }

  /** Unsubscribes the stream. `end` is not called any more. */
  stop(): void {
    this.#finish(() => undefined);
  }

  next(value: unknown): void {
    if (value instanceof Refusal) this.error(value.failure);
    else if (!this.#isOver) this.replies?.next(value);
  }

  error(failure: unknown): void {
    this.#finish(() => this.end({ failed: true, failure }));
  }

  complete(): void {
    this.#finish(() => {
      if (this.replies === undefined) this.end(succeeded);
      else this.replies.complete(this.published);
    });
  }

  /** No client waits for the answer any more. */
  gone(): void {
    this.#finish(() => this.end(succeeded));
  }

  /** A value could not be sent, so the stream has to stop. */
  faulty(failure: Error): void {
    this.#finish(() => this.published(failure));
  }

  #finish(then: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.replies?.unwatch();
    try {
      this.#subscription?.unsubscribe?.();
    } catch (failure) {
      return this.end({ failed: true, failure }); // the code that runs on unsubscribe belongs to the handler
    }
    then();
  }
}
