import { delayedType } from '../../engine/broker/index.js';
import { emptyTable, int64, longstr } from '../../engine/message/index.js';
import type { HttpApi } from '../../platform/index.js';
import type { DelayedPublication, DelayedPublishing, Done, Publication } from '../backend.js';
import { delayedName, NotAvailableError } from '../errors.js';
import type { Topology } from '../topology/index.js';
import { callManagement, readAnswer } from './management.js';
import type { Publish } from './publisher/replacements.js';

/** What exact delays get from their backend. */
interface DelayedHost {
  readonly publish: Publish;
  declare(topology: Topology): Promise<unknown>;
  /** The HTTP API of the server, if its address is known. */
  api(): (HttpApi & { readonly virtualHost: string }) | undefined;
  /** Product and version, for errors. */
  server(): string;
}

/** Exact delays on a server that has exchanges of the type `x-delayed-message`. */
export class RabbitMqDelayed implements DelayedPublishing {
  /** Exchanges and queues by key: true if the delayed exchange and the binding are declared, a promise while they are being declared. */
  readonly #prepared = new Map<string, Promise<unknown> | true>();
  /** Unconfirmed publishes, each with the callbacks of cancellations that wait for it. */
  readonly #inFlight = new Set<(() => void)[]>();

  constructor(private readonly host: DelayedHost) {}

  publish(publication: Publication, delay: number, then?: Done): void {
    const waiting: (() => void)[] = [];
    this.#inFlight.add(waiting);
    const done: Done = (failure) => {
      this.#inFlight.delete(waiting);
      for (const end of waiting) end();
      then?.(failure);
    };
    this.#publish(publication, delay, done);
  }

  #publish(publication: Publication, delay: number, done: Done): void {
    const publish = ({ publication: later, failed }: DelayedPublication): void =>
      this.host.publish(later, (failure) => {
        if (failure !== undefined) failed?.();
        done(failure);
      });
    const prepared = this.prepare(publication, delay);
    if (prepared instanceof Promise) prepared.then(publish, (failure: unknown) => done(failure as Error));
    else publish(prepared);
  }

  prepare(publication: Publication, delay: number): DelayedPublication | Promise<DelayedPublication> {
    const { exchange, routingKey, properties } = publication;
    const key = exchange === '' ? `queue ${routingKey}` : `exchange ${exchange}`;
    const headers = new Map(properties.headers).set('x-delay', int64(delay));
    // Not mandatory: when the delay ends, there is no publisher to which the message could be returned.
    const later = {
      ...publication,
      exchange: delayedName(exchange),
      properties: { ...properties, headers },
      mandatory: false,
    };
    const { dropped: _, ...unwatched } = later;
    const made = { publication: unwatched, failed: (): void => void this.#prepared.delete(key) };
    const prepared = this.#prepared.get(key) ?? this.#prepare(key, exchange, routingKey);
    return prepared === true ? made : prepared.then(() => made);
  }

  /** Cancels over HTTP, because AMQP has no method for it. First it waits until all earlier publishes are confirmed or have failed. */
  async cancel(exchange: string, messageId: string): Promise<number> {
    const api = this.host.api();
    if (api === undefined) {
      const why = 'AMQP 0-9-1 has no way to do it';
      const remedy = "start 'dlx-broker serve' with --http, or set option 'management' of rabbitmq()";
      throw new NotAvailableError(
        'delayed',
        `${this.host.server()} cannot take back delayed messages: ${why}; ${remedy}`,
      );
    }
    const before = [...this.#inFlight];
    await Promise.all(before.map((waiting) => new Promise<void>((resolve) => waiting.push(resolve))));
    const path = ['dlx', 'exchanges', api.virtualHost, delayedName(exchange), 'delayed', messageId];
    const found = await callManagement(api, 'DELETE', path);
    if (found === undefined) return 0; // no event was delayed yet
    return readAnswer(api, 'the cancellation', () => {
      const { cancelled } = found as { readonly cancelled: unknown };
      if (!Number.isSafeInteger(cancelled)) throw new TypeError('no number');
      return cancelled as number;
    });
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
