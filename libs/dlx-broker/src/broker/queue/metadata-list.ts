import type { Notes, Properties } from '../../message/index.js';

/** All of a message but its body. Messages of a page can share it. */
export interface Metadata {
  readonly exchange: string;
  readonly routingKey: string;
  readonly own: Properties;
  readonly notes: Notes | undefined;
}

/** The number of the latest metadata that are compared with those of the next message. */
const comparedCount = 4;

/** The metadata of the messages of a page. Equal metadata are listed once if their messages stand near each other. */
export class MetadataList {
  readonly all: Metadata[] = [];

  /** The place of a message's metadata in the list, to which they are added if they are new. */
  placeOf(message: Metadata): number {
    const { all } = this;
    const oldest = Math.max(0, all.length - comparedCount);
    for (let place = all.length - 1; place >= oldest; place--) if (isOf(all[place] as Metadata, message)) return place;
    const { exchange, routingKey, own, notes } = message;
    all.push({ exchange, routingKey, own, notes });
    return all.length - 1;
  }
}

const isOf = (known: Metadata, { exchange, routingKey, own, notes }: Metadata): boolean =>
  known.notes === notes &&
  known.routingKey === routingKey &&
  known.exchange === exchange &&
  (known.own === own || areEqual(known.own, own));

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
