import type { ReturnedMessage } from './api.js';
import type { Outstanding, OutstandingPublishes } from './outstanding.js';

/**
 * Finds the publish that a returned message belongs to. The server returns messages in the order in which they were
 * published, each before its confirm, but without a delivery tag. So the publish is the first one after the last return that has the
 * same exchange, routing key, ids and body. Publishes that are equal in all of these can be exchanged for one another.
 */
export class Returns {
  /** The first tag of the search for the next return. */
  #from = 1;

  constructor(readonly outstanding: OutstandingPublishes) {}

  /** @returns undefined if the message was never published */
  find(message: ReturnedMessage): Outstanding | undefined {
    const [oldest, next] = this.outstanding.range;
    for (let tag = Math.max(this.#from, oldest); tag < next; tag++) {
      const publish = this.outstanding.at(tag);
      if (publish === undefined || !mayReturn(publish) || !isSame(publish, message)) continue;
      this.#from = tag + 1;
      return publish;
    }
    return undefined;
  }
}

const mayReturn = ({ mandatory, isReplacing }: Outstanding): boolean => mandatory || isReplacing === true;

function isSame(publish: Outstanding, returned: ReturnedMessage): boolean {
  const { exchange, routingKey, properties, body, replyCode } = returned;
  return (
    publish.exchange === exchange &&
    publish.routingKey === routingKey &&
    publish.properties.messageId === properties.messageId &&
    publish.properties.correlationId === properties.correlationId &&
    (body.equals(publish.body) || (publish.isReplacing === true && replyCode === 403 && body.length === 0))
  );
}
