import type { BackendDelivery, DelayedPublication, Done, Publication } from '../../../backends/index.js';
import { asError } from '../../core/failure.js';

/** An event that waits for the commit. */
interface Held {
  /** Undefined while what it needs is being declared. */
  publication: Publication | undefined;
  failed: (() => void) | undefined;
  /** Called when the event was published, or dropped. */
  ended: Done | undefined;
}

/**
 * Collects what the handlers of a message emit. A commit publishes all of it and acks the message; otherwise all of it is dropped.
 * Nothing leaves in between.
 */
export class Outbox {
  readonly #held: Held[] = [];
  #reply: Publication | undefined;
  /** Declarations and decisions for which a commit waits. */
  #open = 0;
  /** Called when there is none any more. */
  #decided: (() => void) | undefined;
  #failure: Error | undefined;
  #isOpen = true;
  #isCommitting = false;
  /** A commit has succeeded. */
  #isOut = false;
  /** Called at the end of a commit. */
  readonly #waiting: Done[] = [];

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** A commit has begun, and has not ended. */
  get isCommitting(): boolean {
    return this.#isCommitting;
  }

  /** Keeps an event. @param ended called when it was published or dropped */
  hold({ publication, failed }: DelayedPublication, ended: Done | undefined): void {
    this.#held.push({ publication, failed, ended });
  }

  /** Keeps the place of an event that needs a declaration first. If that fails, the place stays empty. */
  holdLater(prepared: Promise<DelayedPublication>, ended: Done | undefined): void {
    const held: Held = { publication: undefined, failed: undefined, ended };
    this.#held.push(held);
    const decide = this.doubt();
    const take = ({ publication, failed }: DelayedPublication): void => {
      held.publication = publication;
      held.failed = failed;
    };
    const failed = (error: unknown): void => {
      held.ended = undefined;
      ended?.(asError(error));
    };
    prepared.then(take, failed).then(
      () => decide(),
      () => decide(),
    );
  }

  /**
   * A commit waits for a decision.
   * @returns the function to be called with it, once: an error makes the commit fail
   */
  doubt(): (failure?: Error) => void {
    this.#open++;
    return (failure) => {
      if (failure !== undefined) this.fail(failure);
      if (--this.#open > 0) return;
      const decided = this.#decided;
      this.#decided = undefined;
      decided?.();
    };
  }

  /** The last reply to the request: it is published behind all events. */
  holdReply(reply: Publication): void {
    this.#reply = reply;
  }

  /** An event could not be kept, and its caller does not know: the commit will fail. */
  fail(error: Error): void {
    if (!this.#isOut) this.#failure ??= error; // an event that came too late changes nothing
  }

  /** Nothing that was collected leaves any more. */
  drop(reason?: Error): void {
    this.#isOpen = false;
    for (const { ended } of this.#held.splice(0)) {
      ended?.(reason ?? new Error('the attempt did not succeed, and what it emitted was dropped'));
    }
    this.#reply = undefined;
  }

  /**
   * Publishes what was collected, and acks the message. From now on nothing is collected.
   * @param done gets the failure if the message was not acked; then everything is dropped
   */
  commit(delivery: BackendDelivery, done: Done): void {
    this.#isOpen = false;
    this.#isCommitting = true;
    let hasEnded = false;
    const end: Done = (failure) => {
      if (hasEnded) return; // a backend of the application may answer, and then throw
      hasEnded = true;
      this.#isCommitting = false;
      this.#isOut = failure === undefined;
      this.#failure = failure;
      if (failure === undefined) for (const { ended } of this.#held.splice(0)) ended?.();
      else {
        for (const { failed } of this.#held) failed?.();
        this.drop(failure);
      }
      done(failure);
      for (const waiting of this.#waiting.splice(0)) waiting(failure);
    };
    const begin = (): void => {
      if (this.#failure !== undefined) return end(this.#failure);
      const publications = this.#held.flatMap(({ publication }) => publication ?? []);
      if (this.#reply !== undefined) publications.push(this.#reply);
      try {
        delivery.commit(publications, end);
      } catch (error) {
        end(asError(error)); // a backend of the application may throw
      }
    };
    if (this.#open === 0) begin();
    else this.#decided = begin;
  }

  /** Calls back at the end of the commit that has begun. */
  whenCommitted(then: Done): void {
    this.#waiting.push(then);
  }

  /** Why the commit failed, or will fail. */
  get failure(): Error | undefined {
    return this.#failure;
  }
}
