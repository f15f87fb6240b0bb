import type { Channel, CommitResult, Delivery, Settled } from '../../engine/broker/index.js';
import type { FieldTable, Message } from '../../engine/message/index.js';
import type { BackendDelivery, Done, Publication } from '../backend.js';
import { RefusedError, UnroutableError } from '../errors.js';

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
    readonly channel: Channel,
    readonly delivery: Delivery,
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
    this.channel.reject(this.delivery.deliveryTag, true);
    if (this.consumer.isCancelled) this.consumer.closeIfIdle();
  }

  giveBack(): void {
    if (!this.#settle()) return;
    this.channel.nack(this.delivery.deliveryTag, false, true);
    if (this.consumer.isCancelled) this.consumer.closeIfIdle();
  }

  replaceBy(publication: Publication, done?: Done): void {
    this.commit([publication], done);
  }

  commit(publications: readonly Publication[], done?: Done): void {
    if (this.settled) return done?.(new Error('this delivery is settled already'));
    let isOver = false;
    let early: (() => void) | undefined;
    const stored = (lost?: Error): void => {
      const failure = lost && notStored(lost, publications);
      if (isOver) done?.(failure);
      else early = () => done?.(failure);
    };
    const failure = this.#commit(publications, stored);
    isOver = true;
    if (failure !== undefined) return done?.(failure);
    if (this.consumer.isCancelled) this.consumer.closeIfIdle();
    early?.();
  }

  /** @returns why nothing was done; undefined when everything is, and `stored` is called now or later */
  #commit(publications: readonly Publication[], stored: Settled): Error | undefined {
    let result: CommitResult;
    // A consumer may get the next message inside the call, and ask whether this one is settled.
    this.#settled = true;
    try {
      result = this.channel.commitNow({ deliveryTag: this.delivery.deliveryTag, publications, settled: stored });
    } catch (error) {
      this.#settled = false;
      return error as Error;
    }
    if (result.outcome === 'done') {
      for (const index of result.unroutable) publications[index]?.dropped?.(publications[index]);
      return undefined;
    }
    this.#settled = false;
    const { exchange, routingKey } = publications[result.index] as Publication;
    if (result.outcome === 'unroutable') return new UnroutableError(exchange, routingKey);
    if (result.outcome === 'failed') return result.error;
    return new RefusedError(exchange, routingKey, this.channel.vhost.journal?.trouble);
  }

  #settle(): boolean {
    if (this.settled) return false;
    this.#settled = true;
    return true;
  }
}

/** The journal failed after everything was done in memory. */
function notStored(lost: Error, [first]: readonly Publication[]): Error {
  return first === undefined ? lost : new RefusedError(first.exchange, first.routingKey, lost.message);
}
