import type { DeathReason, FieldTable, Message, StoreSlot } from '../../message/index.js';

/** How a message returns: `basic.reject` with requeue, `basic.nack` with requeue or `basic.recover`, or its channel ended. */
export type Return = 'requeue' | 'return' | 'lost';

/** A message's place in one queue. A message in several queues has one in each, and shares the rest (rule H13). */
export class Entry {
  /** How often the message was returned to the queue; above 0 means redelivered (rules D2, J2). */
  returns = 0;
  /** Written and read by the store only; undefined while the store does not have this object. */
  slot: StoreSlot | undefined = undefined;

  constructor(
    readonly message: Message,
    /** Grows with every message that the queue takes; a returned message goes back to its position (rule J2). */
    public position: number,
    /** When the message expires in this queue, in milliseconds since 1970; 0 for never. Fixed when it is enqueued (rule B4). */
    readonly deadline: number,
  ) {}

  /** The number for the delivery limit and for `x-delivery-count`: here all returns (rule D2). */
  get failures(): number {
    return this.returns;
  }

  /** The `redelivered` of its next delivery. */
  get redelivered(): boolean {
    return this.returns > 0;
  }

  /** When it becomes ready again, in milliseconds since 1970; 0 for an entry that is not delayed (rule W7). */
  get due(): number {
    return 0;
  }

  /** Counts a return. */
  countReturn(_how: Return): void {
    this.returns++;
  }

  /** Counts a `basic.reject` without requeue. */
  countRejection(): void {}

  /** The message is the dead letter of an entry. */
  inherit(_from: Pick<Entry, 'failures'>): void {}
}

/** An entry of RabbitMQ 4, where not every return is a failure, and where a dead letter keeps the failures of its message (rule W6). */
export class CountedEntry extends Entry {
  /** Returns and rejections that were failures, in this queue and in those where the message died before. */
  failed = 0;
  delayedUntil = 0;

  override get failures(): number {
    return this.failed;
  }

  override get redelivered(): boolean {
    return this.returns > 0 || this.failed > 0;
  }

  override get due(): number {
    return this.delayedUntil;
  }

  override countReturn(how: Return): void {
    this.returns++;
    if (how !== 'return') this.failed++;
  }

  override countRejection(): void {
    this.failed++;
  }

  override inherit({ failures }: Pick<Entry, 'failures'>): void {
    this.failed = failures;
  }
}

/** An entry without failures. */
export const undelivered: Pick<Entry, 'failures'> = { failures: 0 };

/** A new place in a queue. */
export const entryOf = (message: Message, position: number, deadline: number, countsFailuresApart: boolean): Entry =>
  countsFailuresApart ? new CountedEntry(message, position, deadline) : new Entry(message, position, deadline);

/** What is stored about the death of an at-least-once dead letter, so that a restart can route it again. */
export interface RetainedDeath {
  readonly reason: DeathReason;
  /** Milliseconds since 1970. */
  readonly time: number;
  /** Headers that a rejecting handler added. */
  readonly headers: FieldTable | undefined;
}

/** Where a stored message stood before a restart (section L). */
export interface Place {
  readonly position: number;
  readonly deadline: number;
  readonly returns: number;
  /** The failures, where failures are counted apart (rule W6). Default: all returns. */
  readonly failures?: number;
  /** When a delayed message becomes ready again, in milliseconds since 1970 (rule W7). */
  readonly due?: number;
  /** True if the message was unacknowledged. */
  readonly delivered: boolean;
  /** Its death, if not every target queue had the dead letter (rule M3). */
  readonly death?: RetainedDeath | undefined;
  /** True after a crash: the message may have been delivered without a record of it. */
  readonly suspect?: boolean;
  /** True in a classic queue in which every message that was delivered stands before all that never were. */
  readonly inOrder?: boolean;
}

/** The entry for a stored place. */
export function entryAt(
  message: Message,
  { position, deadline, returns, failures }: Pick<Place, 'position' | 'deadline' | 'returns' | 'failures'>,
  countsFailuresApart: boolean,
): Entry {
  const entry = entryOf(message, position, deadline, countsFailuresApart);
  entry.returns = returns;
  if (entry instanceof CountedEntry) entry.failed = failures ?? returns;
  return entry;
}
