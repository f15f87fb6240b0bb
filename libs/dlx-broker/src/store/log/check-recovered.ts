import { Flag } from './entry-table.js';
import { isTurnOver } from './in-turns.js';
import type { Damage } from './options.js';
import type { Recovered } from './recover.js';

/**
 * After the log was read: removes entries whose message or queue is missing, counts the entries of each message, and the
 * live records of each segment. Some of it in each step.
 * @returns what is lost
 */
export function* checkingRecovered(recovered: Recovered): Generator<void, Pick<Damage, 'queues' | 'misplaced'>> {
  const { inventory, declared, replay } = recovered;
  const { entries, messages } = inventory;
  const lost = new Map<number, number>();
  for (const queue of replay.losses) lost.set(queue, (lost.get(queue) ?? 0) + 1);
  for (let number = 1; number < entries.end; number++) {
    if (isTurnOver(number)) yield;
    if ((entries.flags.get(number) & Flag.Live) === 0) continue;
    const queue = entries.queue.get(number);
    const message = entries.message.get(number);
    if (isWhole(recovered, number, message) && declared.placeOf(queue) !== undefined) {
      messages.own.add(message, 1);
      continue;
    }
    entries.flags.set(number, 0);
    if (!replay.isDeleted(queue)) lost.set(queue, (lost.get(queue) ?? 0) + 1);
  }
  yield* sharingBodies(recovered);
  yield* messages.rebuildingFreeList();
  yield* entries.rebuildingFreeList();
  // The numbers of removed entries will be used again.
  for (const facts of [inventory.orders, inventory.deaths]) {
    let count = 0;
    for (const number of facts.keys()) {
      if (isTurnOver(++count)) yield;
      if ((entries.flags.get(number) & Flag.Live) === 0) facts.delete(number);
    }
  }
  yield* countingLive(recovered);
  for (const order of inventory.orders.values()) inventory.nextOrder = Math.max(inventory.nextOrder, order + 1);
  return damageOf(recovered, lost);
}

function isWhole({ inventory: { messages }, replay }: Recovered, entry: number, message: number): boolean {
  if (message >= messages.end || messages.segment.get(message) === 0) return false;
  if (messages.serial.get(message) !== replay.serials.get(entry)) return false;
  const root = messages.root.get(message);
  if (root === 0) return true;
  return (
    root < messages.end &&
    messages.segment.get(root) !== 0 &&
    messages.serial.get(root) === replay.rootSerials.get(message)
  );
}

function* sharingBodies({ inventory: { messages } }: Recovered): Generator<void, undefined> {
  for (let number = 1; number < messages.end; number++) {
    if (isTurnOver(number)) yield;
    const root = messages.root.get(number);
    if (root !== 0 && messages.own.get(number) !== 0) messages.shares.add(root, 1);
  }
}

function* countingLive({ inventory, segments }: Recovered): Generator<void, undefined> {
  const { entries, messages } = inventory;
  for (let number = 1; number < messages.end; number++) {
    if (isTurnOver(number)) yield;
    const segment = messages.segment.get(number);
    if (segment !== 0) segments.addRecord(segment, messages.length.get(number));
  }
  for (let number = 1; number < entries.end; number++) {
    if (isTurnOver(number)) yield;
    if ((entries.flags.get(number) & Flag.Live) !== 0)
      segments.addRecord(entries.segment.get(number), inventory.bytesOf(number));
  }
}

function damageOf(
  { declared, replay }: Recovered,
  lost: ReadonlyMap<number, number>,
): Pick<Damage, 'queues' | 'misplaced'> {
  const queues: { vhost: string; queue: string; lost: number }[] = [];
  let misplaced = 0;
  for (const [number, count] of lost) {
    const place = declared.placeOf(number);
    if (place !== undefined) queues.push({ vhost: place.vhost, queue: place.name, lost: count });
    else if (!replay.isDeleted(number)) misplaced += count;
  }
  return { queues, misplaced };
}
