import { type Connection, delayedType, silentOutbox } from '../../broker/index.js';
import { int64, longstr, withHeaders } from '../../message/index.js';
import type { Backend, DelayedPublication, DelayedPublishing, Done, Publication } from '../backend.js';
import { delayedName } from '../delayed-exchange.js';

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
