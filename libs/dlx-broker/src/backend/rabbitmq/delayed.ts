import { delayedType } from '../../broker/index.js';
import { emptyTable, int64, longstr } from '../../message/index.js';
import type { Topology } from '../../topology/index.js';
import type { DelayedPublishing, Done, Publication } from '../backend.js';
import { delayedName } from '../delayed-exchange.js';
import { NotAvailableError } from '../errors.js';
import type { Publish } from './consumer/delivery.js';

/** What exact delays are lent. */
export interface DelayedHost {
  readonly publish: Publish;
  declare(topology: Topology): Promise<unknown>;
  /** Product and version, for errors. */
  server(): string;
}

/** Exact delays on a server that has exchanges of the type `x-delayed-message`. */
export class RabbitMqDelayed implements DelayedPublishing {
  /** What was prepared, or is being prepared. */
  readonly #prepared = new Map<string, Promise<unknown> | true>();

  constructor(private readonly host: DelayedHost) {}

  publish(publication: Publication, delay: number, done?: Done): void {
    const { exchange, routingKey, properties } = publication;
    const key = exchange === '' ? `queue ${routingKey}` : `exchange ${exchange}`;
    const headers = new Map(properties.headers).set('x-delay', int64(delay));
    // Later there is no publisher left to inform that no queue was bound.
    const later = {
      ...publication,
      exchange: delayedName(exchange),
      properties: { ...properties, headers },
      mandatory: false,
    };
    const { dropped: _, ...unwatched } = later;
    const publish = (): void =>
      this.host.publish(unwatched, (failure) => {
        if (failure !== undefined) this.#prepared.delete(key);
        done?.(failure);
      });
    const prepared = this.#prepared.get(key) ?? this.#prepare(key, exchange, routingKey);
    if (prepared === true) publish();
    else prepared.then(publish, (failure: unknown) => done?.(failure as Error));
  }

  /** No AMQP method does it. */
  cancel(): Promise<number> {
    const why =
      'AMQP 0-9-1 has no way to do it; let the handler check whether the event still counts, or use embedded()';
    return Promise.reject(
      new NotAvailableError('delayed', `${this.host.server()} cannot take back delayed messages: ${why}`),
    );
  }

  #prepare(key: string, exchange: string, routingKey: string): Promise<unknown> {
    const isDefault = exchange === '';
    const name = delayedName(exchange);
    const origin = 'a delayed event';
    const type = new Map([['x-delayed-type', longstr(isDefault ? 'direct' : 'fanout')]]);
    const made = {
      name,
      type: delayedType,
      durable: true,
      autoDelete: false,
      internal: false,
      arguments: type,
      origin,
    };
    const to = isDefault
      ? ({ destination: routingKey, destinationType: 'queue', routingKey } as const)
      : ({ destination: exchange, destinationType: 'exchange', routingKey: '' } as const);
    const bindings = [{ source: name, ...to, arguments: emptyTable, origin }];
    const preparing = this.host.declare({ exchanges: [made], queues: [], bindings }).then(
      () => this.#prepared.set(key, true),
      (error: unknown) => {
        this.#prepared.delete(key);
        throw error;
      },
    );
    this.#prepared.set(key, preparing);
    return preparing;
  }
}
