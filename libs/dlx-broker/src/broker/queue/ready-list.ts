import { Deque } from '../deque.js';
import type { Entry } from './entry.js';
import { countUpTo } from './position-search.js';
import { Returned } from './returned.js';

/** Where a returned message goes: a classic queue has one such place, a quorum queue two (rules J2, D5). */
export type ReturnTo = 'original' | 'front' | 'back';

/**
 * A place in a queue from which to look on. It stays valid while messages come and go. Only returned messages of a
 * quorum queue may be seen twice, if the message at the cursor is gone.
 */
export interface Cursor {
  /** Twice the priority; one more for those that came back. */
  readonly section: number;
  /** {@link Entry.position} of the message before. */
  readonly position: number;
}

/** What a queue asks of its waiting messages, with or without priorities. */
export interface Ready {
  readonly length: number;
  /** Sum of the bodies (rule C1). */
  readonly bytes: number;
  /** How many there are of each priority from 0, if it has priorities. */
  lengths?(): readonly number[];
  push(entry: Entry): void;
  giveBack(entry: Entry, to: ReturnTo): void;
  first(): Entry | undefined;
  shift(): Entry | undefined;
  /** When the next head expires, 0 for never (rule B5). */
  readonly deadline: number;
  /** Whether its turn to expire has come: nothing stands before it (rules B5, R2, W8). */
  isHead(entry: Entry): boolean;
  /** Removes a head that has expired; undefined when there is none. */
  shiftExpired(now: number): Entry | undefined;
  clear(): void;
  /** From the next to be delivered, or the one behind a place, to the last, without touching them; false ends it. */
  each(visit: (entry: Entry, section: number) => boolean | void, after?: Cursor): void;
  /** The entry of this position, if it is ready. */
  find(position: number): Entry | undefined;
  /** Removes an entry, wherever it stands. */
  remove(entry: Entry): void;
}

/**
 * Ready messages in order. A returned message was taken from the front, so it stands before all messages that were
 * never taken. These are a plain deque.
 */
export class ReadyList implements Ready {
  readonly #line = new Deque<Entry>();
  #returned: Returned | undefined;
  #bytes = 0;

  get length(): number {
    return this.#line.length + (this.#returned === undefined ? 0 : this.#returned.length);
  }

  get bytes(): number {
    return this.#bytes;
  }

  push(entry: Entry): void {
    this.#bytes += entry.message.size;
    this.#line.push(entry);
  }

  giveBack(entry: Entry, to: ReturnTo): void {
    if (to === 'back') return this.push(entry);
    this.#bytes += entry.message.size;
    this.#returned ??= new Returned();
    this.#returned.add(entry, to);
  }

  first(): Entry | undefined {
    return this.#returned?.first() ?? this.#line.first();
  }

  shift(): Entry | undefined {
    let entry: Entry | undefined;
    if (this.#returned !== undefined) {
      entry = this.#returned.shift();
      if (this.#returned.length === 0) this.#returned = undefined;
    } else {
      entry = this.#line.shift();
    }
    if (entry !== undefined) this.#bytes -= entry.message.size;
    return entry;
  }

  get deadline(): number {
    return this.first()?.deadline ?? 0;
  }

  isHead(entry: Entry): boolean {
    return this.first() === entry;
  }

  shiftExpired(now: number): Entry | undefined {
    const head = this.first();
    return head === undefined || head.deadline === 0 || head.deadline > now ? undefined : this.shift();
  }

  clear(): void {
    this.#line.clear();
    this.#returned = undefined;
    this.#bytes = 0;
  }

  each(visit: (entry: Entry, section: number) => boolean | void, after?: Cursor): void {
    let going = true;
    const inLine = after?.section === 0;
    if (!inLine) this.#returned?.each((entry) => (going = visit(entry, 1) !== false), after?.position);
    if (going) this.#line.each((entry) => visit(entry, 0), inLine ? countUpTo(this.#line, after.position) : 0);
  }

  find(position: number): Entry | undefined {
    const returned = this.#returned?.find(position);
    if (returned !== undefined) return returned;
    const entry = this.#line.at(countUpTo(this.#line, position) - 1);
    return entry?.position === position ? entry : undefined;
  }

  remove(entry: Entry): void {
    this.#bytes -= entry.message.size;
    if (this.#returned?.find(entry.position) === undefined) {
      return this.#line.removeAt(countUpTo(this.#line, entry.position) - 1);
    }
    this.#returned.remove(entry);
    if (this.#returned.length === 0) this.#returned = undefined;
  }
}
