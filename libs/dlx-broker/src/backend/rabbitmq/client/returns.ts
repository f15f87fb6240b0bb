import type { ReturnedMessage } from './api.js';
import type { Outstanding, OutstandingPublishes } from './outstanding.js';

/**
 * Finds the publish that a returned message belongs to. The server returns messages in the order in which they were
 * published, each before its confirm, but names no tag. So it is the first one behind the last return with the same
 * exchange, routing key, ids and body. Two messages that agree in all of these are the same message to every consumer.
 */
export class Returns {
  /** The first tag that the next return may belong to. */
  #from = 1;

  constructor(readonly outstanding: OutstandingPublishes) {}

  /** @returns undefined when there is none: the server made the message up */
  find(message: ReturnedMessage): Outstanding | undefined {
    const [oldest, next] = this.outstanding.range;
    for (let tag = Math.max(this.#from, oldest); tag < next; tag++) {
      const publish = this.outstanding.at(tag);
      if (publish === undefined || !publish.mandatory || !isSame(publish, message)) continue;
      this.#from = tag + 1;
      return publish;
    }
    return undefined;
  }
}

function isSame(publish: Outstanding, { exchange, routingKey, properties, body }: ReturnedMessage): boolean {
  return (
    publish.exchange === exchange &&
    publish.routingKey === routingKey &&
    publish.messageId === properties.messageId &&
    publish.correlationId === properties.correlationId &&
    body.equals(publish.body)
  );
}
