import { longestShortstr } from '../../message/index.js';
import { cutText } from '../../host/index.js';
import { Refusals } from './refusals.js';

/** One thing an operator did, or tried to. Never a password, never the body of a request or of a message. */
export interface AuditEntry {
  /** Counts up from 1. */
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly user: string;
  /** The address of the client; empty for what the broker did in the user's name. */
  readonly from: string;
  /** `DELETE /api/queues/:vhost/:name`, or what a task came to: `redrive completed`. */
  readonly action: string;
  /** The names in the path: `vhost`, `name` ... */
  readonly names: Readonly<Record<string, string>>;
  /** Of the answer; below 400 it was done. */
  readonly status?: number;
  /** What else there is to know: filters, counts. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Where entries are kept for longer than the process lives. */
export interface AuditSink {
  /** Entries of earlier processes, the oldest first. */
  readonly earlier: readonly AuditEntry[];
  append(entry: AuditEntry): void;
  /** When all is written. */
  close(): Promise<void>;
}

/** Characters of a name: more than any name of AMQP has. */
const cut = (names: AuditEntry['names']): AuditEntry['names'] =>
  Object.fromEntries(Object.entries(names).map(([key, name]) => [key, cutText(name, longestShortstr)]));

/** Entries that can be asked for. */
const remembered = 10_000;

/** What operators did, in order; nothing is ever changed or taken out, only the oldest is forgotten here. */
export class AuditLog {
  /** From the oldest; up to twice as long as it needs to be, so that it is not moved for each. */
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

  /** Names are cut; of refused requests there are only so many in a minute. */
  record(entry: Omit<AuditEntry, 'number' | 'time'>): void {
    const time = this.now();
    const { user, names, status = 200 } = entry;
    const left = status < 400 ? 0 : this.#refusals.place(user, time);
    if (left === undefined) return;
    const details = left === 0 ? entry.details : { ...entry.details, refused_before: left };
    const numbered = { number: ++this.#number, time, ...entry, names: cut(names), ...(details && { details }) };
    this.#entries.push(numbered);
    if (this.#entries.length >= remembered * 2) this.#entries = this.#entries.slice(-remembered);
    this.sink?.append(numbered);
  }

  /**
   * The newest first.
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
