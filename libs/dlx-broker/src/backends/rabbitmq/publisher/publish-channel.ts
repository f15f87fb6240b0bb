import type { ClientError, ConfirmPublisher } from '../../../amqp/client/index.js';
import type { Outgoing, SentOn } from './outgoing.js';

type Answered = (outgoing: Outgoing, channel: PublishChannel, failure: ClientError | undefined) => void;

/** A channel for publishing, and its state. */
export class PublishChannel implements SentOn {
  /** The unconfirmed publishes of a channel that has ended, in the order of publishing. */
  readonly doubtful: Outgoing[] = [];
  /** True if there are no new publishes on it. It is closed when all of its publishes are confirmed. */
  isRetired = false;
  /** True if the last publish is a suspect. While it is unconfirmed, nothing else is sent. */
  isProbing = false;
  /** True if the server has confirmed, refused or returned a publish. */
  hasAnswered = false;
  /** The time of the first nack since the last accepted message; undefined if there was none. */
  refusingSince: number | undefined;
  /** True if the server has confirmed or refused a publish since the last check. */
  #hasMoved = false;
  #movedAt: number;

  constructor(
    readonly publisher: ConfirmPublisher,
    private readonly onAnswer: Answered,
    now: number,
  ) {
    this.#movedAt = now;
  }

  /** The number of unconfirmed publishes. */
  get outstanding(): number {
    return this.publisher.outstanding;
  }

  send(outgoing: Outgoing): void {
    outgoing.channel = this;
    outgoing.mayBeTaken = true;
    this.publisher.send(outgoing);
  }

  /** A publish was answered, or failed with its channel. */
  answered(outgoing: Outgoing, failure: ClientError | undefined): void {
    this.onAnswer(outgoing, this, failure);
  }

  /** The server has confirmed, refused or returned a publish. */
  moved(): void {
    this.#hasMoved = true;
    this.hasAnswered = true;
  }

  /** Called at regular intervals. @returns the milliseconds for which confirms have been due and none came */
  stuckFor(now: number, isBlocked: boolean): number {
    if (this.#hasMoved || this.outstanding === 0 || isBlocked) {
      this.#hasMoved = false;
      this.#movedAt = now;
    }
    return now - this.#movedAt;
  }

  /** Closes a retired channel after its last confirm. */
  closeIfDone(): void {
    if (this.isRetired && this.outstanding === 0) this.publisher.close();
  }
}
