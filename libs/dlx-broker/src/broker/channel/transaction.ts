import type { FieldTable, Message } from '../../message/index.js';
import type { Exchange } from '../exchange/exchange.js';
import type { Return } from '../queue/entry.js';
import type { Outstanding } from './outstanding.js';

/** A publish held until the commit. */
export interface HeldPublish {
  readonly message: Message;
  readonly exchange: Exchange;
  readonly mandatory: boolean;
}

/** What becomes of a delivery. */
export type Settlement = 'ack' | 'reject' | Return;

/** A settlement held until the commit. */
export interface HeldSettlement {
  readonly records: readonly Outstanding[];
  readonly settlement: Settlement;
  readonly headers: FieldTable | undefined;
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
