import { type Field, type FieldTable, integerOf, Message } from '../../../message/index.js';
import { UndecodableProperties } from '../../../wire/index.js';
import type { BackendDelivery, Done, Publication } from '../../backend.js';
import type { Delivery } from '../client/api.js';
import { type ConsumerSession, oneSettled } from './session.js';

/** A header of the successor of a message whose headers cannot be decoded: the properties of the message, as bytes. */
export const rawHeader = 'dlx-raw-properties';

/** The most bytes in this header, because the headers of a message have to fit into one frame. */
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
    private readonly session: ConsumerSession,
    private readonly publish: Publish,
  ) {
    const { exchange, routingKey, properties, body } = delivery;
    this.message = new Message(exchange, routingKey, properties, body);
    session.unsettled++;
  }

  get redelivered(): boolean {
    return this.delivery.redelivered;
  }

  get isUndecodable(): boolean {
    return this.delivery.isUndecodable;
  }

  /** Always 0 for classic queues, which do not count. */
  get deliveryCount(): number {
    return Number(integerOf(this.message.own.headers?.get('x-delivery-count')) ?? 0);
  }

  /** True also after the end of the channel, because the message is then back in its queue. */
  get settled(): boolean {
    return this.#isSettled || this.session.isOver;
  }

  ack(): void {
    this.#settle(() => this.session.channel.ack(this.delivery.deliveryTag));
  }

  /** AMQP's reject takes no headers. */
  reject(_headers?: FieldTable): void {
    this.#settle(() => this.session.channel.reject(this.delivery.deliveryTag, false));
  }

  /** Uses basic.nack: since RabbitMQ 4.3 a nack with requeue does not count as a failed delivery. */
  requeue(): void {
    this.#settle(() => this.session.channel.nack(this.delivery.deliveryTag, { requeue: true }));
  }

  /** Acks after the confirm. If the channel has ended by then, the message is delivered again although it has a successor. */
  replaceBy(publication: Publication, done?: Done): void {
    if (this.settled) return done?.(new Error('this delivery is settled already'));
    const successor = this.delivery.isUndecodable ? this.#withRaw(publication) : publication;
    this.publish(successor, (failure) => {
      if (failure === undefined) this.ack();
      done?.(failure);
    });
  }

  /** Adds headers that cannot be decoded to the successor, as the bytes of one header. */
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
    oneSettled(this.session);
  }
}
