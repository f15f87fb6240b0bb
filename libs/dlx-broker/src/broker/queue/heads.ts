import type { Notes, Properties } from '../../message/index.js';

/** What messages of a page have in common: all of a message but its body. */
export interface Head {
  readonly exchange: string;
  readonly routingKey: string;
  readonly own: Properties;
  readonly notes: Notes | undefined;
}

/** So many of the latest heads are compared with the next one. */
const compared = 4;

/** The heads of a page, each once as far as messages with equal heads stand near each other. */
export class Heads {
  readonly all: Head[] = [];

  /** The place of this head, or the head of this message, among all. */
  placeOf(message: Head): number {
    const { all } = this;
    const oldest = Math.max(0, all.length - compared);
    for (let place = all.length - 1; place >= oldest; place--) if (isOf(all[place] as Head, message)) return place;
    const { exchange, routingKey, own, notes } = message;
    all.push({ exchange, routingKey, own, notes });
    return all.length - 1;
  }
}

const isOf = (head: Head, { exchange, routingKey, own, notes }: Head): boolean =>
  head.notes === notes &&
  head.routingKey === routingKey &&
  head.exchange === exchange &&
  (head.own === own || areEqual(head.own, own));

/** Properties are never changed in place, so messages with equal ones can share them. */
const areEqual = (one: Properties, other: Properties): boolean =>
  one.messageId === other.messageId &&
  one.headers === other.headers &&
  one.deliveryMode === other.deliveryMode &&
  one.correlationId === other.correlationId &&
  one.contentType === other.contentType &&
  one.expiration === other.expiration &&
  one.timestamp === other.timestamp &&
  one.priority === other.priority &&
  one.type === other.type &&
  one.replyTo === other.replyTo &&
  one.contentEncoding === other.contentEncoding &&
  one.userId === other.userId &&
  one.appId === other.appId &&
  one.clusterId === other.clusterId;
