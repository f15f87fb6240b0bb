import type { Broker, Channel, Delivery } from '../../broker/index.js';
import type { FieldTable, Message } from '../../message/index.js';
import type { BackendDelivery, Done, Publication } from '../backend.js';

/** Publishes. @returns at once why it failed; undefined when the broker took the message, and `settled` is called later */
export type PublishOne = (publication: Publication, settled: Done) => Error | undefined;

/** The consumer that a delivery came to. */
export interface EmbeddedConsumer {
  /** True when its queue is gone, so that the consumer gets no more deliveries. */
  isCancelled: boolean;
  /** Ends the channel of the consumer, if it has no unsettled delivery. */
  closeIfIdle(): void;
}

/** A delivery of the engine to a consumer. */
export class EmbeddedDelivery implements BackendDelivery {
  /** The message, with its body in memory: a handler can read the body while the disk does not answer. */
  readonly message: Message;
  #settled = false;

  constructor(
    readonly broker: Broker,
    readonly channel: Channel,
    readonly delivery: Delivery,
    readonly publishOne: PublishOne,
    readonly consumer: EmbeddedConsumer,
  ) {
    this.message = delivery.message.pinned(delivery.body);
  }

  get recordsOrigins(): boolean {
    return true;
  }

  get queue(): string {
    return this.delivery.queue;
  }

  get redelivered(): boolean {
    return this.delivery.redelivered;
  }

  /** True also after the end of the channel, because the message is then back in its queue. */
  get settled(): boolean {
    return this.#settled || this.channel.isClosed;
  }

  ack(): void {
    if (!this.#settle()) return;
    this.channel.ack(this.delivery.deliveryTag);
    if (this.consumer.isCancelled) this.consumer.closeIfIdle();
  }

  reject(headers?: FieldTable): void {
    if (!this.#settle()) return;
    this.channel.reject(this.delivery.deliveryTag, false, headers);
    if (this.consumer.isCancelled) this.consumer.closeIfIdle();
  }

  requeue(): void {
    if (!this.#settle()) return;
    this.channel.nack(this.delivery.deliveryTag, false, true); // no failure (rule W6)
    if (this.consumer.isCancelled) this.consumer.closeIfIdle();
  }

  replaceBy(publication: Publication, done?: Done): void {
    if (this.settled) return done?.(new Error('this delivery is settled already'));
    let failure: Error | undefined;
    // Both commands are one batch, so the journal writes them together. It reports the outcome afterwards.
    let isOver = false;
    let early: (() => void) | undefined;
    this.broker.batch(() => {
      failure = this.publishOne(publication, (lost) => {
        if (isOver) done?.(lost);
        else early = () => done?.(lost);
      });
      if (failure === undefined) this.ack();
    });
    isOver = true;
    if (failure !== undefined) done?.(failure);
    else early?.();
  }

  #settle(): boolean {
    if (this.settled) return false;
    this.#settled = true;
    return true;
  }
}
