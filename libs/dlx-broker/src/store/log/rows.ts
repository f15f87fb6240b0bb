import type { Journal } from '../../engine/broker/index.js';
import type { StoredBody } from '../../engine/message/index.js';
import { type Entry, Flag } from './entry-table.js';
import type { Inventory } from './inventory.js';
import { numberIn, slotOf } from './slot.js';

/**
 * Entries that a queue keeps as rows. The store knows such an entry and its message by their numbers, and where their records are; it
 * has no object of them. When it has to write the record of such an entry again, it copies the one in the log.
 */
export class Rows implements NonNullable<Journal['rows']> {
  constructor(readonly inventory: Inventory) {}

  hasAll({ slot, message }: Entry): boolean {
    const { entries, messages } = this.inventory;
    const number = numberIn(slot);
    if (number === 0 || entries.flags.get(number) !== (Flag.Live | Flag.Stored)) return false;
    const own = numberIn(message.slot);
    if (own === 0 || own !== entries.message.get(number) || messages.own.get(own) !== 1) return false;
    // The record with the body is missing in the log if the body was lost before it was written.
    if (messages.segment.get(messages.root.get(own) || own) === 0) return false;
    return messages.segment.get(own) !== 0;
  }

  forget(entry: Entry): number {
    const number = numberIn(entry.slot);
    this.inventory.bodies.forget(entry.message);
    entry.slot = undefined;
    this.inventory.entries.entries.set(number, undefined);
    return number;
  }

  recall(number: number, entry: Entry, size: number): void {
    const { entries, bodies } = this.inventory;
    entry.slot = slotOf(number);
    entry.message.slot = slotOf(entries.message.get(number));
    entries.entries.set(number, entry);
    bodies.pageOut(entry.message, size);
  }

  bodyOf(number: number, size: number): StoredBody {
    const { entries, bodies } = this.inventory;
    return bodies.detached(entries.message.get(number), size) as StoredBody;
  }
}
