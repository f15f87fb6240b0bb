import type { DiskJournal } from '../../libs/dlx-broker/src/store/log/disk-journal.js';
import { Flag } from '../../libs/dlx-broker/src/store/log/tables.js';

/**
 * Counts everything in the tables of a journal anew, between two commands. The journal keeps rows.
 * @returns the first counter that is wrong; undefined when all are right
 */
export function wrongInTables({ rows, stats }: DiskJournal): string | undefined {
  if (rows === undefined) return undefined;
  const { entries, messages, segments } = rows.inventory;
  const own = new Map<number, number>();
  const shares = new Map<number, number>();
  const live = new Map<number, number>();
  const bytes = new Map<number, number>();
  let count = 0;
  for (let number = 1; number < entries.end; number++) {
    const flags = entries.flags.get(number);
    if ((flags & Flag.Live) === 0) continue;
    count++;
    add(own, entries.message.get(number), 1);
    if ((flags & Flag.Stored) === 0) continue;
    add(live, entries.segment.get(number), 1);
    add(bytes, entries.segment.get(number), rows.inventory.bytesOf(number));
  }
  if (count !== stats.entries) return `${stats.entries} entries are counted, and ${count} are there`;
  let used = 0;
  for (let number = 1; number < messages.end; number++) {
    if (messages.serial.get(number) === 0) continue;
    used++;
    const root = messages.root.get(number);
    if (root !== 0) add(shares, root, 1);
    const segment = messages.segment.get(number);
    if (segment === 0) continue;
    add(live, segment, 1);
    add(bytes, segment, messages.length.get(number));
  }
  if (used !== stats.messages) return `${stats.messages} messages are counted, and ${used} are there`;
  for (let number = 1; number < messages.end; number++) {
    const has = [messages.own.get(number), messages.shares.get(number)];
    const should = [own.get(number) ?? 0, shares.get(number) ?? 0];
    if (String(has) !== String(should)) return `message ${number} has ${has} entries and sharers instead of ${should}`;
  }
  for (const segment of segments) {
    const has = [segment.live, segment.liveBytes];
    const should = [live.get(segment.number) ?? 0, bytes.get(segment.number) ?? 0];
    if (String(has) !== String(should)) return `${segment.name} has ${has} live records and bytes instead of ${should}`;
  }
  return undefined;
}

function add(to: Map<number, number>, key: number, by: number): void {
  to.set(key, (to.get(key) ?? 0) + by);
}
