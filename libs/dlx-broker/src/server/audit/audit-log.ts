import { maxShortstrBytes } from '../../engine/message/index.js';
import { cutText } from '../../platform/index.js';

/** The most recorded refusals in a span of time: of a user and in all; the span is in milliseconds. */
const most = { ofUser: 20, all: 200, span: 60_000 };

/** Limits the recorded refusals of a user, so that they do not displace the entries of other users. */
class Refusals {
  #since = -Infinity;
  #count = 0;
  #left = 0;
  readonly #byUser = new Map<string, number>();

  /**
   * @returns the number of refusals that were not recorded since the last one; undefined if this one is not recorded
   */
  place(user: string, now: number): number | undefined {
    if (now - this.#since >= most.span) {
      this.#since = now;
      this.#count = 0;
      this.#byUser.clear();
    }
    const ofUser = this.#byUser.get(user) ?? 0;
    if (this.#count >= most.all || ofUser >= most.ofUser) return void this.#left++;
    this.#count++;
    this.#byUser.set(user, ofUser + 1);
    const left = this.#left;
    this.#left = 0;
    return left;
  }
}

/** One action of an operator. It contains no password, and no body of a request or message. */
export interface AuditEntry {
  /** Counts up from 1. */
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly user: string;
  /** The address of the client; empty for an action of the broker on behalf of the user. */
  readonly from: string;
  /** `DELETE /api/queues/:vhost/:name`, or the end of a task: `redrive done`. */
  readonly action: string;
  /** The names in the path: `vhost`, `name` ... */
  readonly names: Readonly<Record<string, string>>;
  /** The status of the answer; below 400 the action was done. */
  readonly status?: number;
  /** Further details: filters, counts. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** An entry to record. */
export type AuditRecord = Omit<AuditEntry, 'number' | 'time'>;

/** Stores entries for longer than the process lives. */
export interface AuditSink {
  /** Entries of earlier processes, the oldest first. */
  readonly earlier: readonly AuditEntry[];
  append(entry: AuditEntry): void;
  /** Resolves when all entries are written. */
  close(): Promise<void>;
}

/** Cuts names to a length that no name of AMQP exceeds. */
const cut = (names: AuditEntry['names']): AuditEntry['names'] =>
  Object.fromEntries(Object.entries(names).map(([key, name]) => [key, cutText(name, maxShortstrBytes)]));

/** The number of entries that can be read. */
const remembered = 10_000;

/** The actions of operators, in order. Entries never change; only the oldest are removed from memory. */
export class AuditLog {
  /** Oldest first. It may be twice as long as needed, so that it is not moved for every entry. */
  #entries: AuditEntry[];
  #number: number;
  readonly #refusals = new Refusals();

  constructor(
    readonly now: () => number,
    readonly sink?: AuditSink,
  ) {
    this.#entries = (sink?.earlier ?? []).slice(-remembered);
    this.#number = this.#entries.at(-1)?.number ?? 0;
  }

  /**
   * Records an action. Names are cut, and refused requests are limited by the minute.
   * @returns its number; undefined if it was not recorded
   */
  record(entry: AuditRecord): number | undefined {
    const time = this.now();
    const { user, names, status = 200 } = entry;
    const left = status < 400 ? 0 : this.#refusals.place(user, time);
    if (left === undefined) return undefined;
    const details = left === 0 ? entry.details : { ...entry.details, refused_before: left };
    const numbered = { number: ++this.#number, time, ...entry, names: cut(names), ...(details && { details }) };
    this.#entries.push(numbered);
    if (this.#entries.length >= remembered * 2) this.#entries = this.#entries.slice(-remembered);
    this.sink?.append(numbered);
    return numbered.number;
  }

  /**
   * A page of entries, newest first.
   * @param before only entries with a lower number
   */
  page(limit: number, before = Infinity, wanted: (entry: AuditEntry) => boolean = () => true): readonly AuditEntry[] {
    const page: AuditEntry[] = [];
    const oldest = Math.max(0, this.#entries.length - remembered);
    for (let index = this.#entries.length - 1; index >= oldest && page.length < limit; index--) {
      const entry = this.#entries[index] as AuditEntry;
      if (entry.number < before && wanted(entry)) page.push(entry);
    }
    return page;
  }
}
