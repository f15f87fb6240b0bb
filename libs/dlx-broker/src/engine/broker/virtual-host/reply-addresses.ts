import type { Message } from '../../message/index.js';

/** The pseudo-queue from which a client consumes replies without a queue of its own (rule S1). */
export const replyQueue = 'amq.rabbitmq.reply-to';

/** An address that {@link ReplyAddresses.add} may have made. */
const wellFormed = /^amq\.rabbitmq\.reply-to\.[\w-]{22}$/;

/** Whether a routing key names a receiver of replies and no queue. */
export const isReplyAddress = (routingKey: string): boolean => routingKey.startsWith(replyQueue);

/** Receives the replies to an address. */
interface ReplyReceiver {
  takeReply(message: Message): void;
  /** Whether the receiver still waits for the reply to this request. */
  awaits(correlationId: string | undefined): boolean;
}

/** Answers a request, and may stop when the requester is gone. */
interface Responder {
  readonly correlationId: string | undefined;
  /** Called inside a command. */
  gone(): void;
}

/** The direct reply addresses of a virtual host, and their receivers. */
export class ReplyAddresses {
  readonly #receivers = new Map<string, ReplyReceiver>();
  /** Responders by the address of the reply: a direct reply address, or the name of a queue. */
  readonly #responders = new Map<string, Set<Responder>>();

  /** @returns the address for the property `reply-to` */
  add(token: string, receiver: ReplyReceiver): string {
    const address = `${replyQueue}.${token}`;
    this.#receivers.set(address, receiver);
    return address;
  }

  remove(address: string): void {
    this.#receivers.delete(address);
    this.deleted(address);
  }

  has(address: string): boolean {
    return this.#receivers.has(address);
  }

  /** Whether the receiver of this address still waits for the reply to this request. */
  awaits(address: string, correlationId: string | undefined): boolean {
    return this.#receivers.get(address)?.awaits(correlationId) === true;
  }

  /** Calls `gone` of a responder when its requester is gone. @returns a function that ends the watch */
  watch(address: string, responder: Responder): () => void {
    const watching = this.#responders.get(address) ?? new Set();
    this.#responders.set(address, watching.add(responder));
    return () => {
      if (watching.delete(responder) && watching.size === 0 && this.#responders.get(address) === watching) {
        this.#responders.delete(address);
      }
    };
  }

  /** A reply address or a queue is deleted: the requester of its replies is gone. */
  deleted(address: string): void {
    const watching = this.#responders.get(address);
    if (watching === undefined) return;
    this.#responders.delete(address);
    for (const responder of watching) responder.gone();
  }

  /** The requester at an address no longer waits for this reply. */
  givenUp(address: string, correlationId: string): void {
    const watching = this.#responders.get(address);
    if (watching === undefined) return;
    for (const responder of watching) if (responder.correlationId === correlationId) responder.gone();
  }

  /**
   * Delivers a message of the default exchange to the channels whose addresses are among its keys.
   * @returns whether one of its keys is the address of a channel, open or closed
   * @throws Unreadable when a dead letter's body is on disk, and cannot be read
   */
  deliver(message: Message): boolean {
    const { routingKey, carbonCopies } = message;
    if (carbonCopies === undefined) return isReplyAddress(routingKey) && this.#deliverTo(routingKey, message);
    let isAddressed = false;
    for (const key of new Set([routingKey, ...carbonCopies.cc, ...carbonCopies.bcc])) {
      if (this.#deliverTo(key, message)) isAddressed = true;
    }
    return isAddressed;
  }

  #deliverTo(address: string, message: Message): boolean {
    const receiver = this.#receivers.get(address);
    if (receiver === undefined) return wellFormed.test(address);
    message.load(); // a dead letter's body may be gone from the store when the reply is sent
    receiver.takeReply(message);
    return true;
  }
}
