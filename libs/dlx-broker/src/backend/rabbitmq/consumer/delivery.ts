import { type Field, type FieldTable, integerOf, Message } from '../../../message/index.js';
import { UndecodableProperties } from '../../../wire/index.js';
import type { BackendDelivery, Done, Publication } from '../../backend.js';
import type { Delivery } from '../client/api.js';
import { type Seat, settledOne } from './seat.js';

/** On a message that took the place of one with headers that cannot be decoded: all its properties, as they came. */
export const rawHeader = 'dlx-raw-properties';

/** Bytes of them at most: the headers of a message have to fit into one frame. */
const mostRaw = 65_536;

/** Publishes with a confirm. */
export type Publish = (publication: Publication, done: Done) => void;

/** A delivery of a server. */
export class RabbitMqDelivery implements BackendDelivery {
  readonly message: Message;
  #isSettled = false;

  constructor(
    private readonly delivery: Delivery,
    readonly queue: string,
    private readonly seat: Seat,
    private readonly publish: Publish,
  ) {
    const { exchange, routingKey, properties, body } = delivery;
    this.message = new Message(exchange, routingKey, properties, body);
    seat.inHand++;
  }

  get redelivered(): boolean {
    return this.delivery.redelivered;
  }

  /** Classic queues do not count. */
  get deliveryCount(): number {
    return Number(integerOf(this.message.own.headers?.get('x-delivery-count')) ?? 0);
  }

  /** True also after the end of the channel, because the message is then back in its queue. */
  get settled(): boolean {
    return this.#isSettled || this.seat.isOver;
  }

  ack(): void {
    this.#settle(() => this.seat.channel.ack(this.delivery.deliveryTag));
  }

  /** AMQP's reject takes no headers. */
  reject(_headers?: FieldTable): void {
    this.#settle(() => this.seat.channel.reject(this.delivery.deliveryTag, false));
  }

  /** By nack, which since RabbitMQ 4.3 is no failure that counts. */
  requeue(): void {
    this.#settle(() => this.seat.channel.nack(this.delivery.deliveryTag, { requeue: true }));
  }

  /** The ack follows the confirm. If the channel is gone by then the message comes again, and is there twice. */
  replaceBy(publication: Publication, done?: Done): void {
    if (this.settled) return done?.(new Error('this delivery is settled already'));
    const successor = this.delivery.isUndecodable ? this.#withRaw(publication) : publication;
    this.publish(successor, (failure) => {
      if (failure === undefined) this.ack();
      done?.(failure);
    });
  }

  /** Headers that cannot be decoded cannot be among those of the successor: their bytes are in a header of their own. */
  #withRaw(publication: Publication): Publication {
    const bytes = UndecodableProperties.sentBytesOf(this.message.own);
    if (bytes === undefined || bytes.length > mostRaw) return publication;
    const headers = new Map<string, Field>(publication.properties.headers).set(rawHeader, { type: 'x', value: bytes });
    return { ...publication, properties: { ...publication.properties, headers } };
  }

  #settle(how: () => void): void {
    if (this.settled) return;
    this.#isSettled = true;
    how();
    settledOne(this.seat);
  }
}
