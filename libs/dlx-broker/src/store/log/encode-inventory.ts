import type { Message } from '../../engine/message/index.js';
import type { Batch } from './batch.js';
import { entryBytes, type Inventory, numbersInRecord } from './inventory.js';
import { recordTypes } from './segment-header.js';
import type { Segment } from './segment.js';
import { Flag, numberIn } from './tables.js';

/** Bytes encoded in one turn, apart from the record that exceeds them. */
const bytesInTurn = 4_194_304;

/**
 * Encodes changes of the inventory, as many as one turn of the event loop allows. A batch may take many turns, with
 * commands in between. It may be closed only when no change is left: then it has the state of that turn.
 *
 * Settled entries come first, and everything else waits for them: their numbers are given to other entries afterwards,
 * and the last record of a number counts.
 * @param written gets the messages in the batch
 * @param limit records of messages and entries together
 * @returns the records that this turn has left; undefined when changes are left for the next turn
 */
export function encodeSome(
  inventory: Inventory,
  batch: Batch,
  segment: Segment,
  written: Message[],
  limit: number,
): number | undefined {
  const { fresh, changed, delivered, settled, freed, entries } = inventory;
  const numbers = limit * numbersInRecord;
  batch.numbers(recordTypes.settled, settled, numbers);
  if (settled.length > 0) return undefined;
  freeSome(inventory, numbers);
  if (freed.length > 0) return undefined;
  const end = batch.length + bytesInTurn;
  const taken = encodeFresh(inventory, batch, segment, written, limit, end);
  const left = limit - taken - encodeChanged(inventory, batch, segment, limit - taken, end);
  if (fresh.length > 0 || changed.length > 0) return undefined;
  const unacked = Flag.Live | Flag.Unacked;
  batch.numbers(
    recordTypes.delivered,
    delivered,
    numbers,
    (number) => (entries.flags.get(number) & unacked) === unacked,
  );
  return delivered.length === 0 ? left : undefined;
}

function freeSome({ freed, entries }: Inventory, limit: number): void {
  const count = Math.min(freed.length, limit);
  for (let index = 0; index < count; index++) entries.free(freed.at(index));
  freed.drop(count);
}

/** @returns the number of messages that it took */
function encodeFresh(
  inventory: Inventory,
  batch: Batch,
  segment: Segment,
  written: Message[],
  limit: number,
  end: number,
): number {
  const { fresh } = inventory;
  const most = Math.min(fresh.length, limit);
  let count = 0;
  for (; count < most && batch.length < end; count++) {
    const message = fresh.at(count);
    if (encodeMessage(inventory, batch, segment, message, fresh.queueAt(count))) written.push(message);
    inventory.processed(message);
  }
  fresh.drop(count);
  return count;
}

/** @returns the number of entries that it took */
function encodeChanged(inventory: Inventory, batch: Batch, segment: Segment, limit: number, end: number): number {
  const { changed, entries } = inventory;
  const most = Math.min(changed.length, limit);
  let count = 0;
  for (; count < most && batch.length < end; count++) {
    const number = changed.at(count);
    const flags = entries.flags.get(number);
    if ((flags & Flag.Live) === 0) entries.free(number);
    else if (inventory.isLeaving(number)) entries.flags.set(number, flags & ~Flag.Changed);
    else encodeEntry(inventory, batch, segment, number);
  }
  changed.drop(count);
  return count;
}

/** @returns false when the message is not written: it left the store, is in the log already, or its body is lost */
function encodeMessage(
  { messages, segments }: Inventory,
  batch: Batch,
  segment: Segment,
  message: Message,
  firstQueue: number,
): boolean {
  const number = numberIn(message.slot);
  if (number === 0 || messages.segment.get(number) !== 0) return false;
  const sharesBody = messages.root.get(number) !== 0;
  // The body is lost. Recovery finds an entry without a message, and counts the loss.
  if (!message.isLoaded && !sharesBody) return false;
  const queue = messages.own.get(number) === 0 ? 0 : firstQueue;
  const before = batch.length;
  const offset = batch.message(message, number, queue, messages);
  messages.segment.set(number, segment.number);
  messages.offset.set(number, offset);
  messages.length.set(number, batch.length - before);
  segments.addRecord(segment.number, batch.length - before);
  return true;
}

/** Encodes the whole state of an entry. */
export function encodeEntry(inventory: Inventory, batch: Batch, segment: Segment, number: number): void {
  const { entries, segments, deaths } = inventory;
  const flags = entries.flags.get(number);
  if ((flags & Flag.Stored) !== 0) segments.removeRecord(entries.segment.get(number), inventory.bytesOf(number));
  const before = batch.length;
  batch.entry(number, inventory);
  const death = deaths.size === 0 ? undefined : deaths.get(number);
  if (death !== undefined) death.bytes = Math.max(0, batch.length - before - entryBytes);
  entries.segment.set(number, segment.number);
  entries.flags.set(number, (flags | Flag.Stored) & ~(Flag.Changed | Flag.Shortened));
  segments.addRecord(segment.number, inventory.bytesOf(number));
}
