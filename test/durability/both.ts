import type { MessageOwner, Journal, RetainedDeath, Settled } from '../../libs/dlx-broker/src/engine/broker/index.js';
import type { Ledger } from './ledger.js';
import type { Entry } from './stored-state.js';

/** Passes each call to the ledger and to the journal under test. */
export class Both implements Journal {
  constructor(
    readonly ledger: Ledger,
    readonly journal: Journal,
  ) {}

  get sequence(): number {
    return this.journal.sequence;
  }

  /** The entry that is made of a row is to the ledger the one that became the row. */
  get rows(): Journal['rows'] {
    const { journal, ledger } = this;
    const { rows } = journal;
    if (rows === undefined) return undefined;
    return {
      hasAll: (entry) => rows.hasAll(entry),
      forget: (entry) => {
        const number = rows.forget(entry);
        ledger.forgot(number, entry);
        return number;
      },
      recall: (number, entry, size) => {
        rows.recall(number, entry, size);
        ledger.recalled(number, entry);
      },
      bodyOf: (number, size) => rows.bodyOf(number, size),
    };
  }

  refuses(queue: MessageOwner, message: Entry['message']): boolean {
    return this.journal.refuses(queue, message);
  }

  changed(change: Parameters<Journal['changed']>[0]): void {
    this.ledger.changed(change);
    this.journal.changed(change);
  }

  enqueued(queue: MessageOwner, entry: Entry): void {
    this.ledger.enqueued(queue, entry);
    this.journal.enqueued(queue, entry);
  }

  detached(message: Entry['message']): void {
    this.journal.detached?.(message);
  }

  delivered(queue: MessageOwner, entry: Entry): void {
    this.ledger.delivered(queue, entry);
    this.journal.delivered(queue, entry);
  }

  returned(queue: MessageOwner, entry: Entry): void {
    this.ledger.returned(queue, entry);
    this.journal.returned(queue, entry);
  }

  died(queue: MessageOwner, entry: Entry, death: RetainedDeath): void {
    this.ledger.died(queue, entry, death);
    this.journal.died(queue, entry, death);
  }

  settled(queue: MessageOwner, entry: Entry): void {
    this.ledger.settled(queue, entry);
    this.journal.settled(queue, entry);
  }

  commit(settled: Settled | undefined): void {
    this.ledger.commit();
    const upTo = this.ledger.committed;
    this.journal.commit(
      settled &&
        ((failure) => {
          if (failure === undefined) this.ledger.becameSafe(upTo);
          settled(failure);
        }),
    );
  }
}
