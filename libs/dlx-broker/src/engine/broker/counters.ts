import type { DeathReason } from '../message/index.js';

/**
 * Counters of deliveries, which only grow: the hot path adds one, readers compute rates. The names are those of RabbitMQ's
 * `message_stats`, in camel case.
 */
export class DeliveryCounters {
  /** Deliveries to consumers that have to ack. */
  deliver = 0;
  /** Deliveries to consumers without acks. */
  deliverNoAck = 0;
  /** By `basic.get`, to be acknowledged. */
  get = 0;
  getNoAck = 0;
  /** `basic.get` that found nothing. */
  getEmpty = 0;
  /** Deliveries and gets of messages that had been returned. */
  redeliver = 0;
  ack = 0;
}

/** How a message is handed to a client; `getEmpty` is a get that found none. */
export type Handover = 'deliver' | 'deliverNoAck' | 'get' | 'getNoAck' | 'getEmpty';

export function countHandover(counters: DeliveryCounters, how: Handover, redelivered: boolean): void {
  if (how === 'deliver') counters.deliver++;
  else counters[how]++;
  if (redelivered) counters.redeliver++;
}

/** The counters of one queue. */
export class QueueCounters extends DeliveryCounters {
  /** Messages that publishes routed to it, refused ones included. */
  publish = 0;
  /** Dead letters of other queues, or its own, that arrived. */
  deadLettersIn = 0;
  /** Deaths here by reason, also those without a dead letter exchange. */
  rejected = 0;
  expired = 0;
  maxlen = 0;
  deliveryLimit = 0;
  /** Moved elsewhere by an operator. */
  redriven = 0;
  /** Deleted one by one by an operator. */
  discarded = 0;
  /** Messages whose body was found to be lost when they were to leave. */
  lost = 0;
}

/** The counters of one exchange. Dead letters are counted by the queues. */
export class ExchangeCounters {
  /** Published to it. */
  publishIn = 0;
  /** Copies that reached queues. */
  publishOut = 0;
}

/** Counts a death. */
export function countDeath(counters: QueueCounters | TotalCounters, reason: DeathReason): void {
  switch (reason) {
    case 'rejected':
      counters.rejected++;
      break;
    case 'expired':
      counters.expired++;
      break;
    case 'maxlen':
      counters.maxlen++;
      break;
    case 'delivery_limit':
      counters.deliveryLimit++;
  }
}

/** The counters of a channel or of a virtual host. */
export class Counters extends DeliveryCounters {
  publish = 0;
  /** Acked to the publisher. */
  confirm = 0;
  /** Mandatory, and in no queue (rule K4). */
  returnUnroutable = 0;
  /** Not mandatory, and in no queue. */
  dropUnroutable = 0;
}

/** The counters of a virtual host or of a broker, including those of closed channels and deleted queues. */
export class TotalCounters extends Counters {
  connectionCreated = 0;
  connectionClosed = 0;
  channelCreated = 0;
  channelClosed = 0;
  /** Declares of existing queues included. */
  queueDeclared = 0;
  queueCreated = 0;
  queueDeleted = 0;
  rejected = 0;
  expired = 0;
  maxlen = 0;
  deliveryLimit = 0;
  redriven = 0;
  discarded = 0;
  lost = 0;

  /** Adds the counts of another object. */
  add(other: TotalCounters): void {
    for (const name of Object.keys(other) as Exclude<keyof TotalCounters, 'add'>[]) this[name] += other[name];
  }
}
