import type { Profile } from '../profile.js';
import type { Entry } from './entry.js';
import type { Packer } from './packer.js';
import { PriorityList } from './priority-list.js';
import type { QueueType } from '../declarations.js';
import { type Ready, ReadyList, type ReturnTo } from './ready-list.js';
import type { QueueSettings } from './arguments.js';

const highest = 31;
/** The priority of a message without one, and of a message that returns to the back. */
const defaultPriority = 4;
/** The list of returned messages. They come before every priority, in the order of their return. */
const returned = highest + 1;

/**
 * The waiting messages of a RabbitMQ 4 quorum queue (rule W8), strictly by priority. The first message of each priority can expire,
 * even if messages of higher priorities stand before it.
 */
export class QuorumList extends PriorityList {
  /** The number of messages that can expire; while it is 0, the list searches no heads. */
  #expiring = 0;

  constructor(packer?: Packer) {
    super(returned, packer);
  }

  override giveBack(entry: Entry, to: ReturnTo): void {
    if (to === 'back') this.listFor(entry, defaultPriority).push(entry);
    else this.listFor(entry, returned).giveBack(entry, 'front');
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
