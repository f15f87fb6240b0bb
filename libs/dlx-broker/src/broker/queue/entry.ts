import type { DeathReason, FieldTable, Message, StoreSlot } from '../../message/index.js';

/** How a message comes back: `basic.reject` with requeue, `basic.nack` with requeue or `basic.recover`, or its channel ended. */
export type Return = 'requeue' | 'return' | 'lost';

/** A message's place in one queue. A message in several queues has one in each, and shares the rest (rule H13). */
export class Entry {
  /** How often it was returned to the queue; above 0 means redelivered (rules D2, J2). */
  returns = 0;
  /** Written and read by the store only; undefined while the store does not have this object. */
  slot: StoreSlot | undefined = undefined;

  constructor(
    readonly message: Message,
    /** Grows with every message the queue takes; a return goes back to it (rule J2). */
    public position: number,
    /** When it expires in this queue, 0 for never: fixed when it is enqueued (rule B4). */
    readonly deadline: number,
  ) {}

  /** The number for the delivery limit and for `x-delivery-count`: here all returns (rule D2). */
  get failures(): number {
    return this.returns;
  }

  /** When it becomes ready again, in milliseconds since 1970; 0 for an entry that is not delayed (rule W7). */
  get due(): number {
    return 0;
  }

  /** Counts a return. */
  countReturn(_how: Return): void {
    this.returns++;
  }
}

/** An entry of RabbitMQ 4's quorum queues, where not every return is a failure (rule W6). */
export class CountedEntry extends Entry {
  /** Of its returns. */
  failed = 0;
  delayedUntil = 0;

  override get failures(): number {
    return this.failed;
  }

  override get due(): number {
    return this.delayedUntil;
  }

  override countReturn(how: Return): void {
    this.returns++;
    if (how !== 'return') this.failed++;
  }
}

/** A new place in a queue. */
export const entryOf = (message: Message, position: number, deadline: number, countsFailuresApart: boolean): Entry =>
  countsFailuresApart ? new CountedEntry(message, position, deadline) : new Entry(message, position, deadline);

/** What has to be kept about the death of an at-least-once dead letter, so that a restart can route it again. */
export interface RetainedDeath {
  readonly reason: DeathReason;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** What a rejecting handler added. */
  readonly headers: FieldTable | undefined;
}

/** Where a message stood that outlived the process (section L). */
export interface Place {
  readonly position: number;
  readonly deadline: number;
  readonly returns: number;
  /** Of its returns, where these are counted apart (rule W6); default: all of them. */
  readonly failures?: number;
  /** When it was to become ready again (rule W7). */
  readonly due?: number;
  /** It was unacknowledged. */
  readonly delivered: boolean;
  /** It had died, and not arrived everywhere (rule M3). */
  readonly death?: RetainedDeath | undefined;
  /** The process crashed: the message may have been delivered without a record. */
  readonly suspect?: boolean;
}

/** The entry for a stored place. */
export function entryAt(message: Message, place: Place, countsFailuresApart: boolean): Entry {
  const { position, deadline, returns, failures } = place;
  const entry = entryOf(message, position, deadline, countsFailuresApart);
  entry.returns = returns;
  if (entry instanceof CountedEntry) entry.failed = failures ?? returns;
  return entry;
}
