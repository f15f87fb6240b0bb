import { Mark } from './entry-table.js';
import { entryBytes } from './inventory.js';
import type { Damage } from './options.js';
import type { Recovered } from './recover.js';

/**
 * After the log was read: which entries have all they need, which messages anybody has, and how much of each segment is
 * needed.
 * @returns what is lost
 */
export function takeStock(recovered: Recovered): Pick<Damage, 'queues' | 'misplaced'> {
  const { inventory, declared, replay } = recovered;
  const { entries, messages } = inventory;
  const lost = new Map<number, number>();
  for (const queue of replay.losses) lost.set(queue, (lost.get(queue) ?? 0) + 1);
  for (let number = 1; number < entries.end; number++) {
    if (((entries.marks[number] as number) & Mark.Live) === 0) continue;
    const queue = entries.queue[number] as number;
    const message = entries.message[number] as number;
    if (isWhole(recovered, number, message) && declared.placeOf(queue) !== undefined) {
      (messages.own[message] as number)++;
      continue;
    }
    entries.marks[number] = 0;
    if (!replay.removed.has(queue)) lost.set(queue, (lost.get(queue) ?? 0) + 1);
  }
  shareBodies(recovered);
  messages.settleRows();
  entries.settleRows();
  countLive(recovered);
  for (const order of inventory.orders.values()) inventory.nextOrder = Math.max(inventory.nextOrder, order + 1);
  return damageOf(recovered, lost);
}

function isWhole({ inventory: { messages }, replay }: Recovered, entry: number, message: number): boolean {
  if (message >= messages.end || messages.segment[message] === 0) return false;
  if (messages.serial[message] !== replay.serials[entry]) return false;
  const root = messages.root[message] as number;
  if (root === 0) return true;
  return root < messages.end && messages.segment[root] !== 0 && messages.serial[root] === replay.rootSerials[message];
}

function shareBodies({ inventory: { messages } }: Recovered): void {
  for (let number = 1; number < messages.end; number++) {
    const root = messages.root[number] as number;
    if (root !== 0 && messages.own[number] !== 0) (messages.shares[root] as number)++;
  }
}

function countLive({ inventory: { entries, messages }, segments }: Recovered): void {
  for (let number = 1; number < messages.end; number++) {
    const segment = messages.segment[number] as number;
    if (segment !== 0) segments.gain(segment, messages.length[number] as number);
  }
  for (let number = 1; number < entries.end; number++) {
    if (((entries.marks[number] as number) & Mark.Live) !== 0)
      segments.gain(entries.segment[number] as number, entryBytes);
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
    else if (!replay.removed.has(number)) misplaced += count;
  }
  return { queues, misplaced };
}
