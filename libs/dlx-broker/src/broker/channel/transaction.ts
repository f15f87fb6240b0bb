import type { FieldTable, Message } from '../../message/index.js';
import type { Exchange } from '../exchange/exchange.js';
import type { Return } from '../queue/entry.js';
import type { Routed } from '../routed.js';
import { compare, isOfSame } from './lots.js';
import type { Outstanding } from './outstanding.js';
import { priorityOf } from './records-by-priority.js';

/** A publish held until the commit. Its queues are found at the publish (rule K10). */
export interface HeldPublish {
  readonly message: Message;
  readonly exchange: Exchange;
  readonly mandatory: boolean;
  readonly routed: Routed;
}

/** What becomes of a delivery. */
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

/** What a channel in transaction mode holds back: publishes first, then settlements (rule K8). */
export class Transaction {
  publishes: HeldPublish[] = [];
  settlements: HeldSettlement[] = [];

  /** Of the bodies it holds. Looks at every publish. */
  get bytes(): number {
    return this.publishes.reduce((sum, { message }) => sum + (message.isAtHand ? message.size : 0), 0);
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

/**
 * The order in which a commit settles: of several settlements in a row that all ack, all reject or all return, the
 * deliveries go in the order of their queues, consumers, priorities and tags (rules J6, K12).
 * @returns the steps, after each of which the queues deliver: deliveries of one consumer, or one that was fetched (J6)
 */
export function inOrderOfCommit(settlements: readonly HeldSettlement[]): readonly (readonly OneSettlement[])[] {
  const steps: OneSettlement[][] = [];
  for (let index = 0; index < settlements.length;) {
    const kind = kindOf(settlements[index] as HeldSettlement);
    const together: OneSettlement[] = [];
    for (; index < settlements.length; index++) {
      const held = settlements[index] as HeldSettlement;
      if (kindOf(held) !== kind) break;
      for (const record of held.records) together.push({ record, held });
    }
    addSteps(steps, together.sort(inOrder));
  }
  return steps;
}

function addSteps(steps: OneSettlement[][], settlements: readonly OneSettlement[]): void {
  let step: OneSettlement[] = [];
  let last: Outstanding | undefined;
  for (const settlement of settlements) {
    const { record } = settlement;
    if (last === undefined || record.consumer === undefined || !isOfSame(record, last)) steps.push((step = []));
    step.push(settlement);
    last = record;
  }
}

/** What was fetched by `basic.get` has no consumer and comes first. */
const inOrder = ({ record: one }: OneSettlement, { record: other }: OneSettlement): number =>
  compare(one.queue, other.queue) ||
  compare(one.consumerTag, other.consumerTag) ||
  priorityOf(other) - priorityOf(one) ||
  one.deliveryTag - other.deliveryTag;
