import { isObservable, type Observable } from 'rxjs';
import type { Done } from '../../backends/index.js';
import { Refusal } from './capture.js';
import type { DlxContext } from './context.js';
import { UnreadableValueError } from '../client/reply-publisher.js';
import { type Outcome, type PlannedHandler, succeeded } from './handler.js';
import type { ReplyStream, ReplyPublisher } from '../client/reply-publisher.js';

/**
 * Runs a handler to the end of its result: a value, a promise or a stream. An empty stream is a success. A request is answered
 * meanwhile, and ends when its last reply was published. It is one object with two closures, because each message has one.
 */
export abstract class HandlerRun implements ReplyStream {
  #isOver = false;
  #subscription: { unsubscribe?(): void } | undefined;

  /** @param replies where the values go, if the message is a request */
  constructor(
    protected readonly context: DlxContext,
    private readonly replies: ReplyPublisher | undefined,
  ) {}

  /** Called with the outcome, unless the run was stopped before. */
  protected abstract end(outcome: Outcome): void;

  /** Calls the handler. It never throws. */
  protected run({ handler }: PlannedHandler, data: unknown): void {
    try {
      handler.invoke(data, this.context).then(
        (result) => this.#take(result),
        (failure: unknown) => this.#fail(failure),
      );
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Stops the run early: its stream is unsubscribed, and {@link end} is not called any more. */
  protected stop(): void {
    if (!this.#isOver) this.#leave();
  }

  next(value: unknown): void {
    if (this.#isOver) return;
    let isRefused: boolean;
    try {
      isRefused = value instanceof Refusal;
    } catch (error) {
      return this.faulty(new UnreadableValueError(error)); // RxJS would throw it in a timer, which ends the process
    }
    if (isRefused) this.error((value as Refusal).failure);
    else this.replies?.next(value);
  }

  error(failure: unknown): void {
    if (!this.#isOver && this.#leave()) this.#fail(failure);
  }

  complete(): void {
    if (this.#isOver || !this.#leave()) return;
    if (this.replies === undefined) this.end(succeeded);
    else this.replies.complete(this.#published());
  }

  gone(): void {
    if (!this.#isOver && this.#leave()) this.end(succeeded);
  }

  faulty(failure: Error): void {
    if (!this.#isOver && this.#leave()) this.#failed(failure);
  }

  #take(result: unknown): void {
    if (this.#isOver) return;
    let stream: Observable<unknown> | undefined;
    let refusal: Refusal | undefined;
    try {
      if (isObservable(result)) stream = result;
      else if (result instanceof Refusal) refusal = result;
    } catch (error) {
      return this.faulty(new UnreadableValueError(error));
    }
    if (stream !== undefined) return this.#follow(stream);
    this.#isOver = true;
    if (refusal !== undefined) this.#fail(refusal.failure);
    else if (this.replies === undefined) this.end(succeeded);
    else this.replies.only(result, this.#published());
  }

  #follow(stream: Observable<unknown>): void {
    this.replies?.begin(this);
    try {
      this.#subscription = stream.subscribe(this);
    } catch (error) {
      this.error(error); // an observable of another library may throw on subscribe
    }
    if (this.#isOver) this.#unsubscribe();
    else this.replies?.watch();
  }

  /** Unsubscribes the stream. @returns false if that failed, which is the outcome then */
  #leave(): boolean {
    this.#isOver = true;
    this.replies?.unwatch();
    return this.#unsubscribe();
  }

  #unsubscribe(): boolean {
    try {
      this.#subscription?.unsubscribe?.();
      return true;
    } catch (failure) {
      this.#fail(failure); // the code that runs on unsubscribe belongs to the handler
      return false;
    }
  }

  /** The settlement answers a failed request, because it may be retried first. */
  #fail(failure: unknown): void {
    this.end({ failed: true, failure });
  }

  /** A function for the outcome of the last reply. */
  #published(): Done {
    return (failure) => (failure === undefined ? this.end(succeeded) : this.#failed(failure));
  }

  /** A reply could not be sent. */
  #failed(failure: Error): void {
    this.context.capture(failure);
    this.#fail(failure);
  }
}
