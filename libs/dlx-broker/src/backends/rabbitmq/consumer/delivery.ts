import {
  ChannelClosedError,
  type ClientError,
  type ConfirmPublisher,
  ConnectionClosedError,
  type Delivery,
  NackedError,
  ReturnedError,
  UnsendableError,
} from '../../../amqp/client/index.js';
import { UndecodableProperties } from '../../../amqp/wire/index.js';
import { type Field, type FieldTable, Message } from '../../../engine/message/index.js';
import type { BackendDelivery, Done, Publication } from '../../backend.js';
import { ConnectionLostError } from '../../errors.js';
import { refused, refusedBy, unroutable, unsendable } from '../publisher/failures.js';
import type { PublisherHost } from '../publisher/publisher.js';
import { allPublished, type Publish } from '../publisher/replacements.js';
import type { ConsumerSession, Unsettled } from './session.js';

/** A header of the successor of a message whose headers cannot be decoded: the properties of the message, as bytes. */
const rawHeader = 'dlx-raw-properties';

/** The most bytes in this header, because the headers of a message have to fit into one frame. */
const mostRaw = 65_536;

/** What a delivery gets from its consumer. */
interface DeliveryHost {
  readonly publish: Publish;
  /** See {@link PublisherHost.restore}. */
  readonly restore?: PublisherHost['restore'];
}

/** A delivery of a server. */
export class RabbitMqDelivery implements BackendDelivery, Unsettled {
  readonly message: Message;
  previous: Unsettled | undefined;
  next: Unsettled | undefined;
  #isSettled = false;
  /** True from the begin of a commit until its end. */
  #isCommitting = false;

  constructor(
    private readonly delivery: Delivery,
    readonly queue: string,
    private readonly session: ConsumerSession,
    private readonly host: DeliveryHost,
  ) {
    const { exchange, routingKey, properties, body } = delivery;
    this.message = new Message(exchange, routingKey, properties, body);
    session.add(this);
  }

  get deliveryTag(): number {
    return this.delivery.deliveryTag;
  }

  get redelivered(): boolean {
    return this.delivery.redelivered;
  }

  get isUndecodable(): boolean {
    return this.delivery.isUndecodable;
  }

  /** True also at the end of the channel, because the message is then back in its queue. */
  get settled(): boolean {
    return this.#isSettled || this.session.isOver || this.session.isEnding;
  }

  ack(): void {
    if (!this.#isCommitting && this.#settle()) this.session.ack(this);
  }

  /** AMQP's reject takes no headers. */
  reject(_headers?: FieldTable): void {
    if (!this.#isCommitting && this.#settle()) this.session.reject(this);
  }

  requeue(): void {
    if (this.#isOpen() && this.#settle()) this.session.reject(this, true);
  }

  giveBack(): void {
    if (this.#isOpen() && this.#settle()) this.session.giveBack(this);
  }

  replaceBy(publication: Publication, done?: Done): void {
    this.#commit([this.#withRaw(publication)], done);
  }

  /**
   * One message on a dlx-broker: the server acks this delivery in the same step. Otherwise it is acked after all confirms: if the channel
   * has ended by then, the message is delivered again although all of the messages are out.
   */
  commit(publications: readonly Publication[], done?: Done): void {
    this.#commit(
      publications.map((each) => (isSuccessor(each) ? this.#withRaw(each) : each)),
      done,
    );
  }

  #commit(publications: readonly Publication[], done: Done | undefined): void {
    if (this.settled || !this.#isOpen()) return done?.(new Error('this delivery is settled already'));
    this.#begin();
    const { replacing } = this.session;
    const [first] = publications;
    if (replacing !== undefined && first !== undefined && publications.length === 1) {
      return this.#replaceBy(replacing, first, done);
    }
    allPublished(publications, this.host.publish, (failure) => {
      if (failure === undefined && this.#settle()) this.session.ack(this);
      this.#end();
      done?.(failure);
    });
  }

  /** The server does both, or neither. If the channel ends before the confirm, the server delivers whichever of the two it has. */
  #replaceBy(replacing: ConfirmPublisher, successor: Publication, done: Done | undefined, wasRestored = false): void {
    const { exchange, routingKey, properties, body } = successor;
    const { restore } = this.host;
    const answered = (failure: ClientError | undefined): void => {
      if (failure instanceof ReturnedError && failure.code === 404 && restore !== undefined && !wasRestored) {
        return restore(exchange, (mayBeThere) => {
          if (mayBeThere && !this.session.isOver) return this.#replaceBy(replacing, successor, done, true);
          this.#end();
          done?.(failureOf(failure, successor));
        });
      }
      if (failure instanceof ReturnedError && failure.code === 312 && successor.mandatory !== true) {
        if (this.#settle()) this.session.ack(this);
        this.#end();
        successor.dropped?.(successor);
        return done?.();
      }
      const isOver = failure instanceof ChannelClosedError || failure instanceof ConnectionClosedError;
      if (isOver) this.#isSettled = true;
      // Code 541: the disk failed after the server had done both, in its memory.
      const isDone = failure === undefined || (failure instanceof ReturnedError && failure.code === 541);
      if (isDone && this.#settle()) this.session.settled(this);
      this.#end();
      done?.(failure && failureOf(failure, successor));
    };
    this.session.sendAcks();
    const { deliveryTag } = this.delivery;
    replacing.publish(exchange, routingKey, properties, body, isSuccessor(successor), answered, deliveryTag);
  }

  /** Adds headers that cannot be decoded to the successor, as the bytes of one header. */
  #withRaw(publication: Publication): Publication {
    if (!this.delivery.isUndecodable) return publication;
    const bytes = UndecodableProperties.sentBytesOf(this.message.own);
    if (bytes === undefined || bytes.length > mostRaw) return publication;
    const headers = new Map<string, Field>(publication.properties.headers).set(rawHeader, { type: 'x', value: bytes });
    return { ...publication, properties: { ...publication.properties, headers } };
  }

  /** False while the channel waits for commits before its end, with which the message returns: no other commit begins. */
  #isOpen(): boolean {
    return !this.#isCommitting && !this.session.isClosing;
  }

  #begin(): void {
    this.#isCommitting = true;
    this.session.begin();
  }

  #end(): void {
    this.#isCommitting = false;
    this.session.end();
  }

  /** @returns false if it was settled before */
  #settle(): boolean {
    if (this.settled) return false;
    return (this.#isSettled = true);
  }
}

/** Whether a message goes on with the history of its delivery. An event of an outbox does not, although it may have the same headers. */
const isSuccessor = ({ origin }: Publication): boolean => origin?.queue !== undefined;

/** The failure of a successor, for the application. */
function failureOf(failure: ClientError, publication: Publication): Error {
  if (failure instanceof NackedError) return refused(publication);
  if (failure instanceof ReturnedError && failure.code === 312) return unroutable(publication);
  if (failure instanceof UnsendableError) return unsendable(publication, failure);
  const isClosed = failure instanceof ChannelClosedError && failure.code !== 200;
  if (isClosed || failure instanceof ReturnedError) return refusedBy(failure, publication);
  return new ConnectionLostError(failure.message, true, { cause: failure });
}
