import { type Message, propertiesSize } from '../../message/index.js';
import type { QueueType } from '../declarations.js';
import type { Profile } from '../profile.js';
import type { QueueSettings } from './arguments.js';
import type { Packer } from './backlog/index.js';
import type { Entry } from './entry.js';
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

  sizeOf({ size }: Message): number {
    return size;
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
    this.#bytes -= this.sizeOf(entry.message);
  }

  /** The list to which an entry is about to be added. Adds the entry to the sums. */
  protected listFor(entry: Entry, priority: number): ReadyList {
    if (priority > this.#highest) this.#highest = priority;
    this.#length++;
    this.#bytes += this.sizeOf(entry.message);
    return (this.#lists[priority] ??= new ReadyList(this.packer));
  }

  #top(): ReadyList | undefined {
    while (this.#highest > 0 && (this.#lists[this.#highest]?.length ?? 0) === 0) this.#highest--;
    return this.#lists[this.#highest];
  }
}

const highest = 31;
/** The priority of a message without one. */
const defaultPriority = 4;
/** The list of returned messages. They come before every priority, in the order of their return. */
const returned = highest + 1;

/**
 * The waiting messages of a RabbitMQ 4 quorum queue (rule W8), strictly by priority. The first message of each priority can expire, even
 * if messages of higher priorities stand before it. Bytes of properties count, too (rule D7).
 */
export class QuorumList extends PriorityList {
  /** The number of messages that can expire; while it is 0, the list searches no heads. */
  #expiring = 0;

  constructor(packer?: Packer) {
    super(returned, packer);
  }

  override sizeOf(message: Message): number {
    return message.size + propertiesSize(message.own);
  }

  override giveBack(entry: Entry): void {
    this.listFor(entry, returned).giveBack(entry, 'front');
  }

  override get deadline(): number {
    let next = 0;
    if (this.#expiring === 0) return next;
    for (let priority = returned; priority >= 0; priority--) {
      const deadline = this.list(priority)?.deadline ?? 0;
      if (deadline !== 0 && (next === 0 || deadline < next)) next = deadline;
    }
    return next;
  }

  override isHead(entry: Entry): boolean {
    return this.list(this.priorityOf(entry))?.first() === entry;
  }

  override shiftExpired(now: number): Entry | undefined {
    if (this.#expiring === 0) return undefined;
    for (let priority = returned; priority >= 0; priority--) {
      const list = this.list(priority);
      const deadline = list?.deadline ?? 0;
      if (deadline !== 0 && deadline <= now) return this.shiftFrom(list);
    }
    return undefined;
  }

  override clear(): void {
    super.clear();
    this.#expiring = 0;
  }

  protected override priorityOf(entry: Entry): number {
    return Math.min(entry.message.own.priority ?? defaultPriority, highest);
  }

  protected override removed(entry: Entry): void {
    super.removed(entry);
    if (entry.deadline !== 0) this.#expiring--;
  }

  protected override listFor(entry: Entry, priority: number): ReadyList {
    if (entry.deadline !== 0) this.#expiring++;
    return super.listFor(entry, priority);
  }
}

/** Classic queues have priorities if they are declared with them (rule R1), quorum queues always since 4 (rule W8). */
export function readyListOf(
  type: QueueType,
  { maxPriority }: QueueSettings,
  { quorumPriorities }: Profile,
  packer: Packer | undefined,
): Ready {
  if (type === 'quorum' && quorumPriorities) return new QuorumList(packer);
  return maxPriority === undefined ? new ReadyList(packer) : new PriorityList(maxPriority, packer);
}
