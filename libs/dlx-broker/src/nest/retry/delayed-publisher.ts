import { type Field, longstr, withHeaders } from '../../engine/message/index.js';
import { retryHeaders } from '../../platform/history/index.js';
import { stepUp } from './steps.js';
import type { WaitQueueType } from './wait-queue-names.js';
import {
  type Backend,
  type DelayedPublication,
  type Done,
  maxDelay,
  need,
  type Publication,
} from '../../backends/index.js';
import { DlxConfigurationError, parseDuration } from '../../platform/options/index.js';
import { WaitQueues } from './wait-queues.js';

/**
 * Reads the delay of a publish.
 * @param origin where it is written, for the error
 * @returns whole milliseconds, 0 for at once
 * @throws DlxConfigurationError when it is no duration, negative, or longer than 2^32 - 1 ms, some 49 days
 */
export function parseDelay(value: number | string, origin: string): number {
  const delay = parseDuration(value, origin);
  if (delay <= maxDelay) return delay;
  const why = `is longer than ${maxDelay} ms (49 days), the longest delay of a publish`;
  throw new DlxConfigurationError(`${origin}: ${typeof value === 'string' ? `'${value}'` : value} ${why}`);
}

/**
 * Publishes later: to the millisecond if the backend can. Otherwise a wait queue dead-letters the message to the exchange; the
 * delay is rounded up to a step, so that there are few wait queues.
 */
export class DelayedPublisher {
  /** By the exchange to which the wait queues dead-letter. */
  readonly #waitQueues = new Map<string, WaitQueues>();

  constructor(
    private readonly backend: Backend,
    private readonly type: WaitQueueType = 'classic',
  ) {}

  /** @param delay whole milliseconds, above 0 */
  publish(publication: Publication, delay: number, done?: Done): void {
    const marked = withOrigin(publication);
    if (this.backend.delayed !== undefined) return this.backend.delayed.publish(marked, delay, done);
    const publish = ({ publication: later, failed }: DelayedPublication): void =>
      this.backend.publish(later, (failure) => {
        if (failure !== undefined) failed?.();
        done?.(failure);
      });
    let prepared: DelayedPublication | Promise<DelayedPublication>;
    try {
      prepared = this.#prepareThrough(this.#waitQueuesOf(publication.exchange), marked, delay);
    } catch (error) {
      return done?.(error as Error);
    }
    if (prepared instanceof Promise) prepared.then(publish).catch((error: unknown) => done?.(error as Error));
    else publish(prepared);
  }

  /**
   * Declares what a delayed message needs.
   * @param delay whole milliseconds, above 0
   * @returns what is to be published, for a commit with others
   * @throws when it cannot be delayed; a promise rejects
   */
  prepare(publication: Publication, delay: number): DelayedPublication | Promise<DelayedPublication> {
    const marked = withOrigin(publication);
    if (this.backend.delayed !== undefined) return this.backend.delayed.prepare(marked, delay);
    return this.#prepareThrough(this.#waitQueuesOf(publication.exchange), marked, delay);
  }

  /**
   * Removes delayed messages of an exchange that have this id.
   * @returns how many were removed; messages that were released before are not counted
   * @throws NotAvailableError when messages wait in queues of the broker, where single messages cannot be removed
   */
  cancel(exchange: string, messageId: string): number | Promise<number> {
    return need(this.backend, 'delayed').cancel(exchange, messageId);
  }

  #prepareThrough(
    waitQueues: WaitQueues,
    publication: Publication,
    delay: number,
  ): DelayedPublication | Promise<DelayedPublication> {
    if (publication.properties.expiration !== undefined) {
      const text = 'in a wait queue the message would expire before its time';
      throw new DlxConfigurationError(`a delay and an expiration cannot be had together here: ${text}`);
    }
    const step = waitQueues.above(stepUp(delay));
    if (step === undefined) {
      throw new DlxConfigurationError(`no wait queue is as long as ${delay} ms, and there are as many as there may be`);
    }
    const failed = (): void => waitQueues.forget(step);
    const later = { ...publication, exchange: waitQueues.nameOf(step), mandatory: true };
    const prepared = { publication: later, failed };
    return (
      waitQueues.wait(step)?.then(
        () => prepared,
        (error: unknown) => {
          failed();
          throw error;
        },
      ) ?? prepared
    );
  }

  #waitQueuesOf(exchange: string): WaitQueues {
    let waitQueues = this.#waitQueues.get(exchange);
    if (waitQueues === undefined)
      this.#waitQueues.set(exchange, (waitQueues = new WaitQueues(this.backend, this.type, exchange)));
    return waitQueues;
  }
}

/** Records the exchange of the publisher as the origin, so that a redrive does not use the exchange of the wait queue. */
function withOrigin(publication: Publication): Publication {
  const { exchange, routingKey, properties } = publication;
  const headers = new Map<string, Field>(properties.headers)
    .set(retryHeaders.firstExchange, longstr(exchange))
    .set(retryHeaders.firstRoutingKey, longstr(routingKey));
  return {
    ...publication,
    properties: withHeaders(properties, headers, properties.expiration),
    origin: { exchange, routingKey, queue: undefined },
  };
}
