import type { Received, ReturnedMessage, TestConsumer } from './driver.js';

export interface ConfirmOutcome {
  readonly acked: readonly number[];
  readonly nacked: readonly number[];
  readonly pending: readonly number[];
}

interface Consumer extends TestConsumer {
  messages: Received[];
  cancelled: boolean;
}

/** What a channel received; the same for all drivers. */
export class ChannelRecord {
  readonly returns: ReturnedMessage[] = [];
  readonly log: string[] = [];
  readonly #consumers = new Map<string, Consumer>();
  readonly #outcomes = new Map<number, 'ack' | 'nack' | 'pending'>();
  #confirming = false;
  #arrived = 0;

  /** Grows with everything that arrives. */
  get arrived(): number {
    return this.#arrived;
  }

  /** The consumer of this tag; a delivery may come before its consume-ok has been looked at. */
  consumer(tag: string): Consumer {
    let consumer = this.#consumers.get(tag);
    if (consumer === undefined) this.#consumers.set(tag, (consumer = { tag, messages: [], cancelled: false }));
    return consumer;
  }

  /** Forgets an ended consumer, for its tag may be used again. */
  forget(tag: string): void {
    this.#consumers.delete(tag);
  }

  delivered(tag: string, message: Received): void {
    this.#arrived += 1;
    this.consumer(tag).messages.push(message);
  }

  cancelled(tag: string): void {
    this.#arrived += 1;
    this.consumer(tag).cancelled = true;
  }

  returned(message: ReturnedMessage): void {
    this.#arrived += 1;
    this.returns.push(message);
    this.log.push(`return ${message.body}`);
  }

  confirmSelected(): void {
    this.#confirming = true;
  }

  published(): void {
    if (this.#confirming) this.#outcomes.set(this.#outcomes.size + 1, 'pending');
  }

  /** Expands `multiple` to the sequence numbers still open. */
  confirmed(tag: number, multiple: boolean, ok: boolean): void {
    this.#arrived += 1;
    for (const [number, outcome] of this.#outcomes) {
      if (number > tag || (!multiple && number !== tag) || outcome !== 'pending') continue;
      this.#outcomes.set(number, ok ? 'ack' : 'nack');
      this.log.push(`${ok ? 'ack' : 'nack'} ${number}`);
    }
  }

  confirms(): ConfirmOutcome {
    const numbers = (wanted: string): number[] =>
      [...this.#outcomes].filter(([, outcome]) => outcome === wanted).map(([number]) => number);
    return { acked: numbers('ack'), nacked: numbers('nack'), pending: numbers('pending') };
  }
}
