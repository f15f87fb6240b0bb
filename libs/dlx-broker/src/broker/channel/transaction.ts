import type { FieldTable, Message } from '../../message/index.js';
import type { Exchange } from '../exchange/exchange.js';
import type { Return } from '../queue/entry.js';
import type { Routed } from '../virtual-host/routing.js';
import type { ChannelContext } from './context.js';
import { compare, isOfSame } from './settlement-groups.js';
import type { Outstanding } from './outstanding.js';
import { priorityOf } from './records-by-priority.js';

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
export type Settlement = 'ack' | 'reject' | Return;

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

/** What a channel in transaction mode holds back: publishes first, then settlements (rule K8). */
export class Transaction {
  publishes: HeldPublish[] = [];
  settlements: HeldSettlement[] = [];

  /** Bytes of the bodies it holds. Looks at every publish. */
  get bytes(): number {
    return this.publishes.reduce((sum, { message }) => sum + (message.isLoaded ? message.size : 0), 0);
  }

  /** Takes all there is: the next transaction begins. */
  take(): Held {
    const { publishes, settlements } = this;
    this.clear();
    return { publishes, settlements };
  }

  /** Forgets everything; what was settled is outstanding again. */
  clear(): void {
    this.publishes = [];
    this.settlements = [];
  }
}

/** Settlements of one kind in a row are one (rule K12). */
const kindOf = ({ settlement }: HeldSettlement): 'ack' | 'reject' | 'return' =>
  settlement === 'ack' || settlement === 'reject' ? settlement : 'return';

/** So many deliveries are collected in one step of the scheduler. */
const collectedInStep = 16;

/** The number of publishes and settled deliveries. */
export function sizeOf({ publishes, settlements }: Held): number {
  let size = publishes.length;
  for (const { records } of settlements) size += records.length;
  return size;
}

/** A delivery that a commit settles next. */
export interface NextSettlement extends OneSettlement {
  /** It begins a step: before it the queues deliver what is possible. */
  readonly isFirstOfStep: boolean;
}

/**
 * The order in which a commit settles: of several settlements in a row that all ack, all reject or all return, the
 * deliveries go in the order of their queues, consumers, priorities and tags (rules J6, K12). A step is the deliveries
 * of one consumer, or one that was fetched.
 * @returns one after the other; `later` is a step of the scheduler in which some were only collected
 */
export function* inOrderOfCommit(
  settlements: readonly HeldSettlement[],
): Generator<NextSettlement | 'later', undefined> {
  for (let index = 0; index < settlements.length;) {
    const kind = kindOf(settlements[index] as HeldSettlement);
    const together: OneSettlement[] = [];
    for (; index < settlements.length; index++) {
      const held = settlements[index] as HeldSettlement;
      if (kindOf(held) !== kind) break;
      for (const record of held.records) if (together.push({ record, held }) % collectedInStep === 0) yield 'later';
    }
    let last: Outstanding | undefined;
    for (const { record, held } of together.sort(inOrder)) {
      const isFirstOfStep = last === undefined || record.consumer === undefined || !isOfSame(record, last);
      yield { record, held, isFirstOfStep };
      last = record;
    }
  }
}

/** What was fetched by `basic.get` has no consumer and comes first. */
const inOrder = ({ record: one }: OneSettlement, { record: other }: OneSettlement): number =>
  compare(one.queue, other.queue) ||
  compare(one.consumerTag, other.consumerTag) ||
  priorityOf(other) - priorityOf(one) ||
  one.deliveryTag - other.deliveryTag;
