import { compareBytes, type FieldTable, type Message } from '../../message/index.js';
import type { Exchange } from '../exchange/exchange.js';
import type { Profile } from '../profile.js';
import type { Return } from '../queue/entry.js';
import type { Routed } from '../virtual-host/routing.js';
import type { ChannelContext } from './context.js';
import type { Outstanding } from './outputs.js';
import { isOfSameConsumer, priorityOf } from './settlement-groups.js';

/** A channel that may be in transaction mode. */
export interface TransactionalChannel extends ChannelContext {
  readonly transaction: Transaction | undefined;
}

/** A publish held until the commit. Its queues are found at the publish (rule K10). */
export interface HeldPublish {
  readonly message: Message;
  readonly exchange: Exchange;
  readonly mandatory: boolean;
  readonly routed: Routed;
}

/** How a delivery is settled. */
export type Settlement = 'ack' | 'reject' | 'discard' | Return;

/** A settlement held until the commit. */
export interface HeldSettlement {
  readonly records: readonly Outstanding[];
  readonly settlement: Settlement;
  readonly headers: FieldTable | undefined;
}

/** One delivery of a held settlement, as the commit applies it. */
export interface OneSettlement {
  readonly record: Outstanding;
  readonly held: HeldSettlement;
}

/** What a commit publishes and then settles. */
export interface Held {
  readonly publishes: readonly HeldPublish[];
  readonly settlements: readonly HeldSettlement[];
}

/** The publishes and settlements that a channel in transaction mode holds back until its commit (rule K8). */
export class Transaction {
  publishes: HeldPublish[] = [];
  settlements: HeldSettlement[] = [];

  /** The bytes of the bodies in memory. Takes as long as there are publishes. */
  get bytes(): number {
    return this.publishes.reduce((sum, { message }) => sum + (message.isLoaded ? message.size : 0), 0);
  }

  /** Takes all publishes and settlements: the next transaction begins. */
  take(): Held {
    const { publishes, settlements } = this;
    this.clear();
    return { publishes, settlements };
  }

  /** Discards all publishes and settlements. */
  clear(): void {
    this.publishes = [];
    this.settlements = [];
  }
}

/** What settlements have in common while failures do not count apart (rule W6). */
const common: Readonly<Record<Settlement, Settlement>> = {
  ack: 'ack',
  reject: 'reject',
  discard: 'reject',
  requeue: 'return',
  return: 'return',
  lost: 'return',
};

/** The number of deliveries that one step of the scheduler collects. */
const collectedPerStep = 16;

/** The number of publishes and settled deliveries. */
export function sizeOf({ publishes, settlements }: Held): number {
  let size = publishes.length;
  for (const { records } of settlements) size += records.length;
  return size;
}

/** A delivery that a commit settles next. */
export interface NextSettlement extends OneSettlement {
  /** True if it begins a step: before it the queues deliver what is possible. */
  readonly isFirstOfStep: boolean;
}

/**
 * The order in which a commit settles. The deliveries of consecutive settlements of one kind are ordered by
 * queue, consumer, priority and tag (rules J6, K12). A step is the deliveries of one consumer, or one delivery of `basic.get`.
 * @returns the deliveries one by one; `later` is a step of the scheduler that only collected some
 */
export function* inOrderOfCommit(
  settlements: readonly HeldSettlement[],
  { countsFailuresApart }: Pick<Profile, 'countsFailuresApart'>,
): Generator<NextSettlement | 'later', undefined> {
  const kindOf = ({ settlement }: HeldSettlement): Settlement =>
    countsFailuresApart ? settlement : common[settlement];
  for (let index = 0; index < settlements.length;) {
    const kind = kindOf(settlements[index] as HeldSettlement);
    const together: OneSettlement[] = [];
    for (; index < settlements.length; index++) {
      const held = settlements[index] as HeldSettlement;
      if (kindOf(held) !== kind) break;
      for (const record of held.records) if (together.push({ record, held }) % collectedPerStep === 0) yield 'later';
    }
    let last: Outstanding | undefined;
    for (const { record, held } of together.sort(inOrder)) {
      const isFirstOfStep = last === undefined || record.consumer === undefined || !isOfSameConsumer(record, last);
      yield { record, held, isFirstOfStep };
      last = record;
    }
  }
}

/** Deliveries of `basic.get` have no consumer and come first. */
const inOrder = ({ record: one }: OneSettlement, { record: other }: OneSettlement): number =>
  compareBytes(one.queue, other.queue) ||
  compareBytes(one.consumerTag, other.consumerTag) ||
  priorityOf(other) - priorityOf(one) ||
  one.deliveryTag - other.deliveryTag;
