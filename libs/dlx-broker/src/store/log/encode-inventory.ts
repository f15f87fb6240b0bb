import type { Message } from '../../message/index.js';
import type { Batch } from './batch.js';
import { type Entry, Mark } from './entry-table.js';
import { entryBytes, type Inventory } from './inventory.js';
import { recordTypes } from './record.js';
import type { Segment } from './segment.js';

/**
 * Writes what the log does not know yet.
 * @returns the messages written, whose bodies may be let go of once the batch is on disk
 */
export function encodeInventory(inventory: Inventory, batch: Batch, segment: Segment): readonly Message[] {
  const { fresh, changed, delivered, settled, entries } = inventory;
  const written: Message[] = [];
  for (let index = 0; index < fresh.length; index++) {
    const message = fresh[index] as Message;
    // It may be gone, or have come twice.
    if (message.mark <= 0 || inventory.messages.segment.get(message.mark) !== 0) continue;
    // Its body is lost: its entry tells that when the log is read again.
    if (!message.isAtHand && inventory.messages.root.get(message.mark) === 0) continue;
    encodeMessage(inventory, batch, segment, message, inventory.freshFor.at(index));
    written.push(message);
  }
  for (let index = 0; index < changed.length; index++) {
    const number = changed.at(index);
    const marks = entries.marks.get(number);
    if ((marks & Mark.Live) === 0) entries.free(number);
    else if (inventory.isLeaving(number)) entries.marks.set(number, marks & ~Mark.Changed);
    else encodeEntry(inventory, batch, segment, number);
  }
  const held = Mark.Live | Mark.Held;
  delivered.keep((number) => (entries.marks.get(number) & held) === held);
  batch.numbers(recordTypes.delivered, delivered);
  batch.numbers(recordTypes.settled, settled);
  inventory.written();
  return written;
}

function encodeMessage(
  { messages, segments }: Inventory,
  batch: Batch,
  segment: Segment,
  message: Message,
  firstQueue: number,
): void {
  const { mark } = message;
  const queue = messages.own.get(mark) === 0 ? 0 : firstQueue;
  const root = messages.root.get(mark);
  const serial = messages.serial.get(mark);
  const before = batch.length;
  const offset =
    root === 0
      ? batch.message(mark, serial, queue, message)
      : batch.copy(mark, serial, queue, root, messages.serial.get(root), message);
  messages.segment.set(mark, segment.number);
  messages.offset.set(mark, offset);
  messages.length.set(mark, batch.length - before);
  segments.gain(segment.number, batch.length - before);
}

/** All of its state, also when only some of it is new. */
export function encodeEntry(inventory: Inventory, batch: Batch, segment: Segment, number: number): void {
  const { messages, entries, segments, orders, deaths } = inventory;
  const marks = entries.marks.get(number);
  if ((marks & Mark.Stored) !== 0) segments.lose(entries.segment.get(number), inventory.bytesOf(number));
  const message = entries.message.get(number);
  const order = orders.size === 0 ? 0 : (orders.get(number) ?? 0);
  const death = deaths.size === 0 ? undefined : deaths.get(number);
  const state = { isHeld: (marks & Mark.Held) !== 0, order, death };
  const queue = entries.queue.get(number);
  const before = batch.length;
  batch.entry(number, message, messages.serial.get(message), queue, entries.entries.get(number) as Entry, state);
  if (death !== undefined) death.bytes = Math.max(0, batch.length - before - entryBytes);
  entries.segment.set(number, segment.number);
  entries.marks.set(number, (marks | Mark.Stored) & ~Mark.Changed);
  segments.gain(segment.number, inventory.bytesOf(number));
}
