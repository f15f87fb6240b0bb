import { type Field, type FieldTable, type Message, messageOf, notesOf } from '../../engine/message/index.js';
import type { BackendDelivery, Done, Publication } from '../../backends/index.js';

/** What a delivery in hand needs of its owner, which keeps it between its attempts. */
export interface InHandHome {
  /** The wait in place of the one that was asked for, in milliseconds. */
  waitOf(delay: number): number;
  /**
   * The delivery stays unsettled for its next attempt.
   * @param delay milliseconds until the next attempt, 0 for at once
   * @param message the same message, with the headers that it would have after a wait queue
   */
  held(delay: number, message: Message): void;
  /** The delivery was settled, or replaced by another message. */
  settled(): void;
}

/**
 * One attempt of a delivery whose retries wait in hand: a retry keeps the delivery unsettled, and publishes nothing. Everything that is
 * written on a retried message (its attempt, its error) is in the headers of the next attempt's `message`, and so in those of the
 * parked message. After the attempt this object is settled for its handler, also while the delivery is held.
 */
export class InHandDelivery implements BackendDelivery {
  #isOver = false;

  constructor(
    private readonly delivery: BackendDelivery,
    readonly message: Message,
    private readonly home: InHandHome,
  ) {}

  get queue(): string {
    return this.delivery.queue;
  }

  get redelivered(): boolean {
    return this.delivery.redelivered;
  }

  get settled(): boolean {
    return this.#isOver || this.delivery.settled;
  }

  get recordsOrigins(): boolean {
    return this.delivery.recordsOrigins === true;
  }

  get isUndecodable(): boolean {
    return this.delivery.isUndecodable === true;
  }

  ack(): void {
    if (this.#end()) this.#settle(() => this.delivery.ack());
  }

  reject(headers?: FieldTable): void {
    if (this.#end()) this.#settle(() => this.delivery.reject(headers));
  }

  /** Another attempt at once. In the queue the message would lose its place behind later messages that are in hand. */
  requeue(): void {
    if (this.#end()) this.home.held(0, this.message);
  }

  giveBack(): void {
    if (this.#end()) this.#settle(() => this.delivery.giveBack());
  }

  replaceBy(publication: Publication, done?: Done): void {
    if (this.#isOver) return done?.(new Error('this delivery is settled already'));
    this.delivery.replaceBy(publication, this.#ended(done));
  }

  commit(publications: readonly Publication[], done?: Done): void {
    if (this.#isOver) return done?.(new Error('this delivery is settled already'));
    this.delivery.commit(publications, this.#ended(done));
  }

  /** See {@link InHandHome.waitOf}. */
  waitOf(delay: number): number {
    return this.home.waitOf(delay);
  }

  /** Keeps the delivery for its next attempt. @param successor the message that a wait queue would get */
  hold(delay: number, { properties, routingKey, origin }: Publication): void {
    if (!this.#end()) return;
    const headers = new Map<string, Field>(properties.headers);
    const own = { ...this.message.own, headers };
    const message = messageOf(
      '',
      routingKey,
      own,
      this.message.body,
      notesOf(undefined, origin ?? this.message.origin),
    );
    this.home.held(delay, message);
  }

  /** The answer to a publish that settles the delivery. */
  #ended(done: Done | undefined): Done {
    return (failure) => {
      // The disk of an embedded broker may fail after both were done: then it is settled in spite of the failure.
      if (failure !== undefined && !this.delivery.settled) return done?.(failure);
      this.#isOver = true;
      try {
        done?.(failure);
      } finally {
        this.home.settled();
      }
    };
  }

  #end(): boolean {
    if (this.settled) return false;
    return (this.#isOver = true);
  }

  #settle(how: () => void): void {
    try {
      how();
    } finally {
      this.home.settled();
    }
  }
}
