import type { Broker, Channel, Delivery } from '../broker/index.js';
import type { FieldTable, Message } from '../message/index.js';
import type { BackendDelivery, Done, Publication } from './backend.js';

/** Publishes and tells the outcome at once: undefined when the message was taken. */
export type Deposit = (publication: Publication, safe: () => void) => Error | undefined;

/** A message of the engine in a consumer's hands. */
export class EmbeddedDelivery implements BackendDelivery {
  #settled = false;

  constructor(
    readonly broker: Broker,
    readonly channel: Channel,
    readonly delivery: Delivery,
    readonly deposit: Deposit,
  ) {}

  get message(): Message {
    return this.delivery.message;
  }

  get queue(): string {
    return this.delivery.queue;
  }

  get redelivered(): boolean {
    return this.delivery.redelivered;
  }

  get deliveryCount(): number {
    return this.delivery.deliveryCount;
  }

  /** Also when the channel has ended, for then the message is back in its queue. */
  get settled(): boolean {
    return this.#settled || this.channel.isClosed;
  }

  ack(): void {
    if (this.#settle()) this.channel.ack(this.delivery.deliveryTag);
  }

  reject(headers?: FieldTable): void {
    if (this.#settle()) this.channel.reject(this.delivery.deliveryTag, false, headers);
  }

  requeue(): void {
    if (this.#settle()) this.channel.nack(this.delivery.deliveryTag, false, true); // no failure (rule W6)
  }

  replaceBy(publication: Publication, done?: Done): void {
    if (this.settled) return done?.(new Error('this delivery is settled already'));
    let failure: Error | undefined;
    let isSafe = false;
    // Both commands end together, so a journal writes them as one.
    this.broker.batch(() => {
      failure = this.deposit(publication, () => {
        isSafe = true;
        if (this.#settled) done?.();
      });
      if (failure === undefined) this.ack();
    });
    if (failure !== undefined) done?.(failure);
    else if (isSafe) done?.();
  }

  #settle(): boolean {
    if (this.settled) return false;
    this.#settled = true;
    return true;
  }
}
