import type { Message } from '../../message/index.js';
import { countUpTo, Deque } from '../deque.js';
import { Backlog, type Packer } from './backlog/index.js';
import type { Entry } from './entry.js';
import { Returned } from './returned.js';

/** Where a returned message goes: a classic queue has one such place, a quorum queue two (rules J2, D5). */
export type ReturnTo = 'original' | 'front' | 'back';

/**
 * A place in a queue at which browsing continues. It stays valid while messages come and go. Only returned messages of a quorum
 * queue may be seen twice, if the message at the cursor is gone.
 */
export interface Cursor {
  /** Twice the priority, plus one for returned messages. */
  readonly section: number;
  /** {@link Entry.position} of the message before. */
  readonly position: number;
}

/** The ready messages of a queue, with or without priorities. */
export interface Ready {
  readonly length: number;
  /** Sum of the sizes of its messages (rule C1). */
  readonly bytes: number;
  /** The bytes that a message counts in this queue: those of its body, and in some of its properties (rule D7). */
  sizeOf(message: Message): number;
  /** The number of messages of each priority from 0, if the queue has priorities. */
  lengths?(): readonly number[];
  push(entry: Entry): void;
  giveBack(entry: Entry, to: ReturnTo): void;
  first(): Entry | undefined;
  shift(): Entry | undefined;
  /** When the next head expires, in milliseconds since 1970; 0 for never (rule B5). */
  readonly deadline: number;
  /** Whether an entry can expire, because it is a head (rules B5, R2, W8). */
  isHead(entry: Entry): boolean;
  /** Removes a head that has expired; undefined when there is none. */
  shiftExpired(now: number): Entry | undefined;
  clear(): void;
  /** Calls `visit` in the order of delivery until it returns false. Changes nothing. @param after begins behind this place */
  each(visit: (entry: Entry, section: number) => boolean | void, after?: Cursor): void;
  /** Whether there is a message of this position. */
  has(position: number): boolean;
  /** The entry of this position, if it is ready. In the middle of a long line it is a copy; only {@link Ready.take} returns the original. */
  find(position: number): Entry | undefined;
  /** Removes the entry of this position, wherever it stands. @returns the entry that the journal knows */
  take(position: number): Entry | undefined;
}

/**
 * Ready messages in order. Returned messages stand before all messages that were never delivered. The latter are in a deque, and
 * in a long line in a backlog behind it.
 */
export class ReadyList implements Ready {
  /** Messages that were never delivered. Not empty while there is a backlog. */
  #line = new Deque<Entry>();
  #backlog: Backlog | undefined;
  #returned: Returned | undefined;
  #bytes = 0;
  /** A line of more messages is long. */
  #longFrom: number;
  /** An exempt line ends its exemption when it has become as short as this; 0 if the line is not exempt. */
  #exemptDownTo = 0;

  /** @param packer says when the line is long; without a packer there is no backlog */
  constructor(readonly packer?: Packer) {
    this.#longFrom = packer?.from ?? Infinity;
  }

  get length(): number {
    return (
      this.#line.length +
      (this.#backlog === undefined ? 0 : this.#backlog.length) +
      (this.#returned === undefined ? 0 : this.#returned.length)
    );
  }

  get bytes(): number {
    return this.#bytes;
  }

  sizeOf({ size }: Message): number {
    return size;
  }

  push(entry: Entry): void {
    this.#bytes += entry.message.size;
    if (this.#backlog !== undefined) return this.#backlog.push(entry);
    this.#line.push(entry);
    if (this.#line.length > this.#longFrom) this.#lengthened(this.packer!);
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
      if (this.#line.length <= this.#exemptDownTo) this.#used();
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
    this.#endExemption();
    this.#backlog = undefined;
    this.#returned = undefined;
    this.#bytes = 0;
  }

  each(visit: (entry: Entry, section: number) => boolean | void, after?: Cursor): void {
    let going = true;
    const inLine = after?.section === 0;
    if (!inLine) this.#returned?.each((entry) => (going = visit(entry, 1) !== false), after?.position);
    if (!going) return;
    const position = inLine ? after.position : 0;
    const visitInLine = (entry: Entry): boolean => (going = visit(entry, 0) !== false);
    this.#line.each(visitInLine, inLine ? countUpTo(this.#line, position) : 0);
    if (going) this.#backlog?.each(visitInLine, position);
  }

  has(position: number): boolean {
    return this.#near(position) !== undefined || this.#backlog?.has(position) === true;
  }

  find(position: number): Entry | undefined {
    return this.#near(position) ?? this.#backlog?.find(position);
  }

  take(position: number): Entry | undefined {
    const entry = this.#near(position);
    if (entry !== undefined) this.#remove(entry);
    const taken = entry ?? this.#backlog?.take(position);
    if (taken !== undefined) this.#bytes -= taken.message.size;
    if (this.#line.length <= this.#exemptDownTo || this.#backlog?.length === 0) this.#used();
    return taken;
  }

  /** The entry of a position, if it was returned or stands in front of the backlog. */
  #near(position: number): Entry | undefined {
    const returned = this.#returned?.find(position);
    if (returned !== undefined) return returned;
    const entry = this.#line.at(countUpTo(this.#line, position) - 1);
    return entry?.position === position ? entry : undefined;
  }

  #remove(entry: Entry): void {
    if (this.#returned?.find(entry.position) === undefined) {
      return this.#line.removeAt(countUpTo(this.#line, entry.position) - 1);
    }
    this.#returned.remove(entry);
    if (this.#returned.length === 0) this.#returned = undefined;
  }

  /** The line has become long: it becomes exempt, or all but its front moves into a new backlog. */
  #lengthened(packer: Packer): void {
    if (this.#exemptDownTo === 0 && packer.beginExemption()) {
      this.#exemptDownTo = packer.exemptDownTo;
      this.#longFrom = packer.exemptions.upTo;
      return;
    }
    this.#endExemption();
    const front = this.#line.takeFirst(packer.rows);
    this.#backlog = new Backlog(packer, this.#line);
    this.#line = front;
  }

  /** The line or the backlog has become empty, or an exempt line short. */
  #used(): void {
    const backlog = this.#backlog;
    if (backlog === undefined) return this.#endExemption();
    if (this.#line.length === 0) this.#line = backlog.moveTo(this.#line);
    if (backlog.length === 0) this.#backlog = undefined;
  }

  #endExemption(): void {
    if (this.#exemptDownTo === 0) return;
    this.#exemptDownTo = 0;
    this.#longFrom = this.packer!.from;
    this.packer!.endExemption();
  }
}

export interface Browse {
  /** Where to continue. Default: at the first message. */
  readonly after?: Cursor | undefined;
  /** Messages at most. */
  readonly limit: number;
}

export interface Browsed {
  /** In the order of delivery. */
  readonly entries: readonly Entry[];
  /** {@link Cursor.section} of each. */
  readonly sections: readonly number[];
  /** Where the next page continues; undefined after the last page. */
  readonly next: Cursor | undefined;
}

/** See {@link Queue.browse}. */
export function pageOf(ready: Ready, { after, limit }: Browse): Browsed {
  const entries: Entry[] = [];
  const sections: number[] = [];
  let next: Cursor | undefined;
  ready.each((entry, section) => {
    const previous = entries.at(-1);
    if (previous !== undefined && entries.length >= limit) {
      next = { section: sections.at(-1) as number, position: previous.position };
      return false;
    }
    entries.push(entry);
    sections.push(section);
    return true;
  }, after);
  return { entries, sections, next };
}
