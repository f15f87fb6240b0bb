import type { FieldTable, Message } from '../../message/index.js';
import type { Exchange } from '../exchange/exchange.js';
import type { Return } from '../queue/entry.js';
import type { Routed } from '../routed.js';
import type { Outstanding } from './outstanding.js';

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
 * deliveries go in the order of their queues, consumers and tags (rule K12).
 * @returns a list for each such row, with every delivery once and the settlement it belongs to
 */
export function inOrderOfCommit(settlements: readonly HeldSettlement[]): readonly (readonly OneSettlement[])[] {
  const all: OneSettlement[][] = [];
  for (let index = 0; index < settlements.length;) {
    const kind = kindOf(settlements[index] as HeldSettlement);
    const together: OneSettlement[] = [];
    for (; index < settlements.length; index++) {
      const held = settlements[index] as HeldSettlement;
      if (kindOf(held) !== kind) break;
      for (const record of held.records) together.push({ record, held });
    }
    if (kind !== 'ack') together.sort(byQueueConsumerAndTag);
    all.push(together);
  }
  return all;
}

/** What was fetched by `basic.get` has no consumer and comes first. */
const byQueueConsumerAndTag = ({ record: one }: OneSettlement, { record: other }: OneSettlement): number =>
  compare(one.queue, other.queue) || compare(one.consumerTag, other.consumerTag) || one.deliveryTag - other.deliveryTag;

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
