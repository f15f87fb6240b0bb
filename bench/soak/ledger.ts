const sent = 1;
const confirmed = 2;
/** A worker has acked the message. */
const handled = 4;
/** A later publish on the channel of that ack was confirmed: the ack is durable. */
const safe = 8;
/** The connection of that ack was lost before it was safe: the message may come again. */
const uncertain = 16;

/** What a soak counted. */
export interface Totals {
  readonly published: number;
  readonly confirmed: number;
  readonly handled: number;
  /** Deliveries of a message whose ack a lost connection made uncertain. */
  readonly again: number;
  /** Messages without a confirm that never came: their publisher knows that they may be lost. */
  readonly unconfirmedLost: number;
}

/**
 * The account of every numbered message, as the clients know it. A confirmed message has to be handled; a message whose ack is safe
 * must never come again; a message is handled twice only if the connection of its first ack was lost.
 */
export class Ledger {
  #states = new Uint8Array(1 << 16);
  #last = 0;
  #again = 0;
  /** Messages that came again before the loss of the connection that had acked them was seen. */
  readonly #early = new Set<number>();
  readonly #wrong: string[] = [];

  /** What is wrong until now. */
  get wrong(): readonly string[] {
    return this.#wrong;
  }

  /** @returns the number of the next message */
  publish(): number {
    if (++this.#last >= this.#states.length) {
      const larger = new Uint8Array(this.#states.length * 2);
      larger.set(this.#states);
      this.#states = larger;
    }
    this.#states[this.#last] = sent;
    return this.#last;
  }

  confirmed(message: number): void {
    this.#set(message, confirmed);
  }

  /** A message arrives at a worker. */
  delivered(message: number): void {
    const state = this.#states[message] ?? 0;
    if ((state & sent) === 0) this.#wrong.push(`message ${message} was never published`);
    else if ((state & safe) !== 0) this.#wrong.push(`message ${message} came again although its ack was safe`);
    else if ((state & uncertain) !== 0) {
      this.#again++;
      this.#states[message] = state & ~(handled | uncertain);
    } else if ((state & handled) !== 0) {
      this.#early.add(message);
      this.#states[message] = state & ~handled;
    }
  }

  handled(message: number): void {
    this.#set(message, handled);
  }

  /** Something else that must not be. */
  fault(text: string): void {
    this.#wrong.push(text);
  }

  /** The acks of these messages are durable. */
  safe(messages: readonly number[]): void {
    for (const message of messages) this.#set(message, safe);
  }

  /** The connection on which these were acked is lost. */
  uncertain(messages: readonly number[]): void {
    for (const message of messages) {
      // The message has come again already, and nothing is uncertain about its new delivery.
      if (this.#early.delete(message)) this.#again++;
      else this.#set(message, uncertain);
    }
  }

  totals(): Totals {
    const states = this.#states.subarray(1, this.#last + 1);
    const count = (isSo: (state: number) => boolean): number =>
      states.reduce((sum, state) => sum + Number(isSo(state)), 0);
    return {
      published: this.#last,
      confirmed: count((state) => (state & confirmed) !== 0),
      handled: count((state) => (state & handled) !== 0),
      again: this.#again,
      unconfirmedLost: count((state) => (state & (confirmed | handled)) === 0),
    };
  }

  /** To be called when every queue is empty. @returns everything that is wrong */
  close(): readonly string[] {
    const lost: number[] = [];
    for (let message = 1; message <= this.#last; message++) {
      const state = this.#states[message] as number;
      if ((state & confirmed) !== 0 && (state & handled) === 0) lost.push(message);
    }
    return [
      ...this.#wrong,
      ...[...this.#early].map((message) => `message ${message} came again although no connection was lost`),
      ...lost.map((message) => `message ${message} was confirmed, and is lost`),
    ];
  }

  #set(message: number, flag: number): void {
    this.#states[message] = (this.#states[message] ?? 0) | flag;
  }
}
