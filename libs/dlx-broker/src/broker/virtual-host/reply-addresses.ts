import type { Message } from '../../message/index.js';

/** The pseudo-queue a client consumes from to get replies without a queue of its own (rule S1). */
export const replyQueue = 'amq.rabbitmq.reply-to';

/** Whether a routing key names a receiver of replies and no queue. */
export const isReplyAddress = (routingKey: string): boolean => routingKey.startsWith(replyQueue);

/** Who takes the replies to an address. */
export interface ReplyReceiver {
  takeReply(message: Message): void;
  /** Whether it still waits for the answer to this request. */
  awaits(correlationId: string | undefined): boolean;
}

/** The side that answers a request; it may stop when the asker is gone. */
export interface Answerer {
  readonly correlationId: string | undefined;
  /** Called inside a command. */
  gone(): void;
}

/** The addresses of those who wait for replies. */
export class ReplyAddresses {
  readonly #receivers = new Map<string, ReplyReceiver>();
  /** By where they answer: an address from here, or a queue. */
  readonly #answerers = new Map<string, Set<Answerer>>();

  /** @returns the address to be put into reply-to */
  add(token: string, receiver: ReplyReceiver): string {
    const address = `${replyQueue}.${token}`;
    this.#receivers.set(address, receiver);
    return address;
  }

  remove(address: string): void {
    this.#receivers.delete(address);
    this.ended(address);
  }

  has(address: string): boolean {
    return this.#receivers.has(address);
  }

  /** Whether the answer to this request is waited for at this address. */
  awaits(address: string, correlationId: string | undefined): boolean {
    return this.#receivers.get(address)?.awaits(correlationId) === true;
  }

  /** Tells an answerer when its asker is gone. @returns what ends it */
  watch(address: string, answerer: Answerer): () => void {
    const watching = this.#answerers.get(address) ?? new Set();
    this.#answerers.set(address, watching.add(answerer));
    return () => {
      if (watching.delete(answerer) && watching.size === 0 && this.#answerers.get(address) === watching) {
        this.#answerers.delete(address);
      }
    };
  }

  /** An address is gone, or a queue: no answer is waited for there. */
  ended(address: string): void {
    const watching = this.#answerers.get(address);
    if (watching === undefined) return;
    this.#answerers.delete(address);
    for (const answerer of watching) answerer.gone();
  }

  /** The asker at an address does not wait for this answer any more. */
  givenUp(address: string, correlationId: string): void {
    const watching = this.#answerers.get(address);
    if (watching === undefined) return;
    for (const answerer of watching) if (answerer.correlationId === correlationId) answerer.gone();
  }

  /**
   * Hands a message published to the default exchange to the channel that has this address; a gone address gets nothing.
   * @throws Unreadable when a dead letter's body is on disk, and cannot be read
   */
  deliver(message: Message): void {
    if (!isReplyAddress(message.routingKey)) return;
    const receiver = this.#receivers.get(message.routingKey);
    if (receiver === undefined) return;
    message.load(); // a dead letter's body may be gone from the store when it leaves
    receiver.takeReply(message);
  }
}
