import { type DeathReason, deathReasons } from '../message/index.js';

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
  delivery_limit = 0;
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

/** All deaths. */
export const deathsIn = (counters: Readonly<Record<DeathReason, number>>): number =>
  deathReasons.reduce((sum, reason) => sum + counters[reason], 0);

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
  delivery_limit = 0;
  redriven = 0;
  discarded = 0;
  lost = 0;

  /** Adds the counts of another object. */
  add(other: TotalCounters): void {
    for (const name of Object.keys(other) as Exclude<keyof TotalCounters, 'add'>[]) this[name] += other[name];
  }
}

/** Counts values by size. A value costs a short search and two additions; nothing is allocated. */
export class Histogram {
  /** The counts of the values up to each bound and above the one before it, and of the values above the last bound. */
  readonly counts: number[];
  /** The sum of all values. */
  sum = 0;

  /** @param bounds the upper bounds, ascending; a value that equals a bound is within it */
  constructor(readonly bounds: readonly number[]) {
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  /** The number of all values. */
  get count(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }

  record(value: number): void {
    const { bounds, counts } = this;
    let place = 0;
    while (place < bounds.length && value > (bounds[place] as number)) place++;
    counts[place] = (counts[place] as number) + 1;
    this.sum += value;
  }

  /** Adds the values of another one with the same bounds. */
  add(other: Histogram): void {
    for (const [place, count] of other.counts.entries()) this.counts[place] = (this.counts[place] as number) + count;
    this.sum += other.sum;
  }
}

/** What a queue does with its dead letters, by RabbitMQ's names. `disabled`: it has no dead-letter exchange, or that one is missing. */
export const deadLetterStrategies = ['disabled', 'at_most_once', 'at_least_once'] as const;
export type DeadLetterStrategy = (typeof deadLetterStrategies)[number];

/** The upper bounds of the sizes of messages, in bytes, as in later releases of RabbitMQ. */
const messageSizes = [100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 50_000_000, 100_000_000];

/** RabbitMQ's global counters that {@link TotalCounters} does not have. The hot path adds one, and allocates nothing. */
export class GlobalCounters {
  /** Publishes on channels with confirms, and in transactions. */
  receivedConfirm = 0;
  /** Copies for queues that publishes made, refused ones included. */
  routed = 0;
  /** Dead letters that all target queues of an at-least-once queue confirmed (rule M3). */
  confirmedLetters = 0;
  /** Deliveries of quorum queues. All others are of classic queues. */
  readonly quorum = new DeliveryCounters();
  /** Published messages by the bytes of their bodies; undefined while that is not measured. */
  sizes: Histogram | undefined;
  readonly #deaths: number[] = zeros(2 * deathReasons.length * deadLetterStrategies.length);

  measureSizes(): void {
    this.sizes ??= new Histogram(messageSizes);
  }

  countDeath(isQuorum: boolean, reason: DeathReason, strategy: DeadLetterStrategy): void {
    const place = placeOf(isQuorum, reason, strategy);
    this.#deaths[place] = (this.#deaths[place] as number) + 1;
  }

  deaths(isQuorum: boolean, reason: DeathReason, strategy: DeadLetterStrategy): number {
    return this.#deaths[placeOf(isQuorum, reason, strategy)] as number;
  }

  /** Adds the counts of another object. */
  add(other: GlobalCounters): void {
    this.receivedConfirm += other.receivedConfirm;
    this.routed += other.routed;
    this.confirmedLetters += other.confirmedLetters;
    for (const name of Object.keys(other.quorum) as (keyof DeliveryCounters)[]) this.quorum[name] += other.quorum[name];
    if (other.sizes !== undefined) {
      this.measureSizes();
      this.sizes?.add(other.sizes);
    }
    for (const [place, count] of other.#deaths.entries()) this.#deaths[place] = (this.#deaths[place] as number) + count;
  }
}

const zeros = (length: number): number[] => new Array<number>(length).fill(0);

function placeOf(isQuorum: boolean, reason: DeathReason, strategy: DeadLetterStrategy): number {
  const row = (isQuorum ? deathReasons.length : 0) + deathReasons.indexOf(reason);
  return row * deadLetterStrategies.length + deadLetterStrategies.indexOf(strategy);
}
