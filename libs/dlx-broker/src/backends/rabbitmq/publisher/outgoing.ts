import type { ClientError, ConfirmPublisher, ReturnedError, Sendable } from '../../../amqp/client/index.js';
import type { Properties } from '../../../engine/message/index.js';
import type { Done, Publication } from '../../backend.js';

/** The estimated bytes of a message besides its body. */
const overhead = 512;

/** The bytes of a publish that count towards the bound of the buffer. */
export const sizeOf = ({ body }: Publication): number => body.length + overhead;

/** A channel, which gets the answer to a publish, or the failure. */
interface SentOn {
  answered(outgoing: Outgoing, failure: ClientError | undefined): void;
}

/** A publish that is not confirmed yet: it waits to be sent, was sent, or waits to be sent again. */
export class Outgoing implements Sendable {
  isOver = false;
  /** The channel on which it was sent last. */
  channel: SentOn | undefined;
  returned: ReturnedError | undefined;
  /** True if it was sent, so that a queue may have it. */
  mayBeTaken = false;
  /** True if its exchange was missing, and was declared again. */
  wasRestored = false;
  /** Why it fails; undefined until that is known. */
  failure: Error | undefined;
  /** The number of nacks, and the time of the first. */
  nacks = 0;
  nackedSince = 0;
  /** Its neighbours among the open publishes. */
  previous: Outgoing | undefined;
  next: Outgoing | undefined;
  constructor(
    readonly publication: Publication,
    readonly done: Done | undefined,
    /** The time at which it fails, in milliseconds since its publisher was made. */
    readonly deadline: number,
    /** Bytes that count towards the bound of the buffer. */
    readonly size: number,
  ) {}

  get exchange(): string {
    return this.publication.exchange;
  }

  get routingKey(): string {
    return this.publication.routingKey;
  }

  get properties(): Properties {
    return this.publication.properties;
  }

  get body(): Uint8Array {
    return this.publication.body;
  }

  /** Whether the server returns it if no queue gets it. */
  get mandatory(): boolean {
    const { mandatory = false, dropped } = this.publication;
    return mandatory || dropped !== undefined;
  }

  settled(failure: ClientError | undefined): void {
    this.channel?.answered(this, failure);
  }
}

/** Places before the first waiting message that are kept free. */
const spare = 1_024;

/** Messages that wait to be sent, first in first out. */
export class WaitingLine {
  #waiting: (Outgoing | undefined)[] = [];
  #head = 0;

  get isEmpty(): boolean {
    return this.#head === this.#waiting.length;
  }

  push(outgoing: Outgoing): void {
    this.#waiting.push(outgoing);
  }

  /** Puts publishes before all others, because they were published before. */
  putFirst(outgoing: readonly Outgoing[]): void {
    if (outgoing.length <= this.#head) {
      this.#head -= outgoing.length;
      for (const [index, each] of outgoing.entries()) this.#waiting[this.#head + index] = each;
      return;
    }
    // With some room: messages that a full queue refuses come back one at a time.
    const rest = this.#waiting.slice(this.#head) as Outgoing[];
    this.#waiting = [...Array.from<undefined>({ length: spare }), ...outgoing, ...rest];
    this.#head = spare;
  }

  /** @returns the next publish that has not failed meanwhile; undefined when none is left */
  take(): Outgoing | undefined {
    while (this.#head < this.#waiting.length) {
      const next = this.#waiting[this.#head] as Outgoing;
      this.#waiting[this.#head++] = undefined;
      if (this.#head > spare && this.#head * 2 > this.#waiting.length) {
        this.#waiting = this.#waiting.slice(this.#head);
        this.#head = 0;
      }
      if (!next.isOver) return next;
    }
    this.#waiting = [];
    this.#head = 0;
    return undefined;
  }
}

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
  hasMoved = false;
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
    this.hasMoved = true;
    this.hasAnswered = true;
  }

  /** Called at regular intervals. @returns the milliseconds for which confirms have been due and none came */
  stuckFor(now: number, isBlocked: boolean): number {
    if (this.hasMoved || this.outstanding === 0 || isBlocked) {
      this.hasMoved = false;
      this.#movedAt = now;
    }
    return now - this.#movedAt;
  }

  /** Closes a retired channel after its last confirm. */
  closeIfDone(): void {
    if (this.isRetired && this.outstanding === 0) this.publisher.close();
  }
}
