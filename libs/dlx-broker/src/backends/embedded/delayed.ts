import { type Connection, delayedType, silentOutbox } from '../../engine/broker/index.js';
import { type Address, int64, longstr, Message, withHeaders } from '../../engine/message/index.js';
import type { Backend, DelayedPublication, DelayedPublishing, Done, Publication } from '../backend.js';
import { delayedName } from '../errors.js';

/**
 * Delays messages by an exchange `<exchange>.delayed` of the delayed type, which is bound to the exchange itself. It is declared
 * when it is first needed. It is durable, so that persistent messages in it outlive the process.
 */
export class EmbeddedDelayed implements DelayedPublishing {
  constructor(
    private readonly backend: Backend,
    private readonly connected: () => Connection,
  ) {}

  publish(publication: Publication, delay: number, done?: Done): void {
    let later: DelayedPublication;
    try {
      later = this.prepare(publication, delay);
    } catch (error) {
      return done?.(error as Error);
    }
    this.backend.publish(later.publication, done);
  }

  prepare(publication: Publication, delay: number): DelayedPublication {
    const { exchange, routingKey, properties } = publication;
    this.#prepare(exchange, routingKey);
    this.#lookForQueue(publication);
    const headers = new Map(properties.headers).set('x-delay', int64(delay));
    const later = withHeaders(properties, headers, properties.expiration);
    // Not mandatory: when the delay ends, there is no publisher to which the message could be returned.
    return {
      publication: { ...publication, exchange: delayedName(exchange), properties: later, mandatory: false },
    };
  }

  cancel(exchange: string, messageId: string): number {
    const { vhost } = this.connected();
    const name = delayedName(exchange);
    return vhost.exchanges.has(name) ? vhost.cancelDelayed(name, messageId) : 0;
  }

  onUnrouted(listener: (address: Address) => void): () => void {
    const connection = this.connected();
    const { unroutedListeners, scheduler } = connection.vhost;
    // After the command, because a listener may start new ones.
    const unrouted = (delayed: string, { origin }: Message): void => {
      if (origin === undefined || delayedName(origin.exchange) !== delayed) return; // of an AMQP client
      scheduler.output({ connection, send: () => listener(origin) });
    };
    unroutedListeners.add(unrouted);
    return () => unroutedListeners.delete(unrouted);
  }

  /** Reports a message that no queue would get if it were not delayed. */
  #lookForQueue(publication: Publication): void {
    const { exchange, routingKey, properties, body, dropped } = publication;
    if (dropped === undefined || exchange === '') return;
    const message = new Message(exchange, routingKey, properties, body);
    if (this.connected().vhost.wouldRoute(exchange, routingKey, message).length === 0) dropped(publication, true);
  }

  /** @throws 404 when the exchange, or by the default exchange the queue, is not there */
  #prepare(exchange: string, routingKey: string): void {
    const connection = this.connected();
    const { vhost } = connection;
    const name = delayedName(exchange);
    const isDefault = exchange === '';
    const target = isDefault ? vhost.queueFor(connection, routingKey) : vhost.exchange(exchange);
    const through = vhost.exchanges.get(name);
    if (through?.delayed !== undefined && target.boundTo.has(through)) return;
    const channel = connection.openChannel(silentOutbox);
    try {
      const type = new Map([['x-delayed-type', longstr(isDefault ? 'direct' : 'fanout')]]);
      channel.declareExchange(name, { type: delayedType, durable: true, arguments: type });
      if (isDefault) channel.bindQueue(routingKey, name, routingKey);
      else channel.bindExchange(exchange, name, '');
    } finally {
      channel.close();
    }
  }
}
