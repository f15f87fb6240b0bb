import type { Message } from '../../message/index.js';
import type { Entry } from './entry.js';
import type { Packer } from './packer.js';
import { type Cursor, type Ready, ReadyList, type ReturnTo } from './ready-list.js';

/** The priority a message has in a queue with priorities up to this one (rule R1). */
export const priorityIn = (maxPriority: number, { own }: Message): number => Math.min(own.priority ?? 0, maxPriority);

/** A ready list for each priority. The first message is the oldest of the highest priority (rules R1, C11). */
export class PriorityList implements Ready {
  readonly #lists: (ReadyList | undefined)[];
  #highest = 0;
  #length = 0;
  #bytes = 0;

  constructor(
    readonly maxPriority: number,
    /** See {@link ReadyList.packer}. */
    readonly packer?: Packer,
  ) {
    this.#lists = new Array<ReadyList | undefined>(maxPriority + 1);
  }

  get length(): number {
    return this.#length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  lengths(): readonly number[] {
    return Array.from(this.#lists, (list) => list?.length ?? 0);
  }

  push(entry: Entry): void {
    this.listFor(entry, this.priorityOf(entry)).push(entry);
  }

  giveBack(entry: Entry, to: ReturnTo): void {
    this.listFor(entry, this.priorityOf(entry)).giveBack(entry, to);
  }

  first(): Entry | undefined {
    return this.#top()?.first();
  }

  shift(): Entry | undefined {
    return this.shiftFrom(this.#top());
  }

  /** Only the first message of the queue can expire (rule R2). */
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
    for (const list of this.#lists) list?.clear();
    this.#lists.fill(undefined);
    this.#length = 0;
    this.#bytes = 0;
    this.#highest = 0;
  }

  each(visit: (entry: Entry, section: number) => boolean | void, after?: Cursor): void {
    let going = true;
    const first = after === undefined ? this.maxPriority : after.section >> 1;
    for (let priority = first; priority >= 0 && going; priority--) {
      const from = after && priority === first ? { section: after.section & 1, position: after.position } : undefined;
      this.#lists[priority]?.each((entry, part) => (going = visit(entry, priority * 2 + part) !== false), from);
    }
  }

  find(position: number): Entry | undefined {
    for (const list of this.#lists) {
      const entry = list?.find(position);
      if (entry !== undefined) return entry;
    }
    return undefined;
  }

  has(position: number): boolean {
    return this.#lists.some((list) => list?.has(position));
  }

  take(position: number): Entry | undefined {
    const entry = this.#lists.find((list) => list?.has(position))?.take(position);
    if (entry !== undefined) this.removed(entry);
    return entry;
  }

  protected priorityOf(entry: Entry): number {
    return priorityIn(this.maxPriority, entry.message);
  }

  /** The messages of one priority, undefined if there never were any. */
  protected list(priority: number): ReadyList | undefined {
    return this.#lists[priority];
  }

  protected shiftFrom(list: ReadyList | undefined): Entry | undefined {
    const entry = list?.shift();
    if (entry !== undefined) this.removed(entry);
    return entry;
  }

  /** Subtracts an entry that was taken from its list from the sums. */
  protected removed(entry: Entry): void {
    this.#length--;
    this.#bytes -= entry.message.size;
  }

  /** The list to which an entry is about to be added. Adds the entry to the sums. */
  protected listFor(entry: Entry, priority: number): ReadyList {
    if (priority > this.#highest) this.#highest = priority;
    this.#length++;
    this.#bytes += entry.message.size;
    return (this.#lists[priority] ??= new ReadyList(this.packer));
  }

  #top(): ReadyList | undefined {
    while (this.#highest > 0 && (this.#lists[this.#highest]?.length ?? 0) === 0) this.#highest--;
    return this.#lists[this.#highest];
  }
}
