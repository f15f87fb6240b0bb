import type { Broker } from '../broker/index.js';
import { damageLines, type Data } from '../store/index.js';
import { lineOf } from './data-line.js';
import { type Contents, contentsOf, restored } from './data-restored.js';

/** What a tool made of a data directory; the process ends with it. */
export const dataExit = { whole: 0, damaged: 1, refused: 2 } as const;

/** Where a tool writes; resolves when there is room for more. */
export type Write = (text: string) => Promise<void>;

/**
 * Reads all of a data directory, checks every CRC and every body, and tells what is in it. Nothing is changed.
 * @returns the exit code @throws StoreError when it cannot be read
 */
export async function checkData(directory: string, out: Write): Promise<number> {
  const { broker, data } = await restored(directory);
  try {
    const { segments, bytes, liveBytes } = data.journal.stats;
    await out(`${data.directory}: ${segments} segments, ${bytes} bytes, ${liveBytes} of them needed\n`);
    let unreadable = 0;
    for (const contents of contentsOf(broker)) {
      const lost = contents.kept.filter(({ entry }) => bodyOf(() => entry.message.body) === undefined).length;
      unreadable += lost;
      await out(`${countLine(contents, lost)}\n`);
    }
    for (const line of damageIn(data)) await out(`${line}\n`);
    const isWhole = unreadable === 0 && !isDamaged(data);
    await out(isWhole ? 'everything is as it was written\n' : 'some of it is not as it was written\n');
    return isWhole ? dataExit.whole : dataExit.damaged;
  } finally {
    await data.close();
  }
}

/**
 * Writes every message as a line of JSON, queue by queue in the order of delivery, and of what is held back when it is due.
 * Nothing is changed.
 * @param tell hears of damage @returns the exit code @throws StoreError when it cannot be read
 */
export async function exportData(directory: string, out: Write, tell: (line: string) => void): Promise<number> {
  const { broker, data } = await restored(directory);
  try {
    const unreadable = await exportAll(broker, out);
    damageIn(data).forEach(tell);
    if (unreadable > 0) tell(`${unreadable} messages are without their body`);
    return unreadable === 0 && !isDamaged(data) ? dataExit.whole : dataExit.damaged;
  } finally {
    await data.close();
  }
}

function countLine({ vhost, queue, exchange, kept }: Contents, lost: number): string {
  const where = queue === undefined ? `exchange '${exchange}'` : `queue '${queue}'`;
  const delayed = kept.filter(({ due }) => due > 0).length;
  const gone = kept.filter(({ death }) => death !== undefined).length;
  const dead = gone > 0 ? `, ${gone} of them dead, and not arrived` : '';
  const waiting = delayed > 0 ? `, ${delayed} of them held back` : '';
  const damaged = lost > 0 ? `, ${lost} of them without their body` : '';
  return `${where} in vhost '${vhost}': ${kept.length} messages${waiting}${dead}${damaged}`;
}

async function exportAll(broker: Broker, out: Write): Promise<number> {
  let unreadable = 0;
  for (const contents of contentsOf(broker)) {
    for (const one of contents.kept) {
      const body = bodyOf(() => one.entry.message.body);
      if (body === undefined) unreadable++;
      await out(`${lineOf(contents, one, body)}\n`);
    }
  }
  return unreadable;
}

/** Bodies are read from the disk when they are looked at: one may be damaged. */
function bodyOf(read: () => Uint8Array): Uint8Array | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Copies are made of the files that recovery changes: here it changes none. */
const damageIn = ({ journal: { damage } }: Data): readonly string[] =>
  damageLines({ ...damage, places: damage.places.map(({ file, from, to }) => ({ file, from, to })) });

const isDamaged = ({ journal: { damage } }: Data): boolean =>
  damage.places.length + damage.queues.length + damage.misplaced > 0;
