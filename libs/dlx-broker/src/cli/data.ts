import type { Broker } from '../engine/broker/index.js';
import { isLost, type Message } from '../engine/message/index.js';
import { amount, shownJson, shownText } from '../platform/index.js';
import { damageLines, type Data } from '../store/index.js';
import { type BodyFound, lineOf } from './data-line.js';
import { type Contents, contentsOf, restored } from './data-restored.js';

/** Exit codes of the data commands. */
export const dataExit = { whole: 0, damaged: 1, refused: 2 } as const;

/** Writes output; resolves when more can be written. */
export type Write = (text: string) => Promise<void>;

/**
 * Reads a whole data directory, checks every CRC and every body, and writes a summary. Nothing in it is changed.
 * @returns the exit code @throws StoreError when the directory cannot be read
 */
export async function checkData(directory: string, out: Write): Promise<number> {
  const { broker, data } = await restored(directory);
  try {
    const { segments, bytes, liveBytes } = data.journal.stats;
    await out(`${data.directory}: ${amount(segments, 'segment')}, ${bytes} bytes, ${liveBytes} of them needed\n`);
    const all = new Bodies();
    for (const contents of contentsOf(broker)) {
      const before = { lost: all.lost, unreadable: all.unreadable };
      for (const { entry } of contents.kept) all.read(entry.message);
      await out(`${shownText(countLine(contents, all.lost - before.lost, all.unreadable - before.unreadable))}\n`);
    }
    for (const line of damageIn(data)) await out(`${shownText(line)}\n`);
    if (all.reason !== undefined) {
      await out(`${all.line}\n`);
      return dataExit.refused;
    }
    const isWhole = all.lost === 0 && !isDamaged(data);
    await out(isWhole ? 'everything is as it was written\n' : 'some of it is not as it was written\n');
    return isWhole ? dataExit.whole : dataExit.damaged;
  } finally {
    await data.close();
  }
}

/**
 * Writes every message as a line of JSON, queue by queue in the order of delivery. Delayed messages follow, in the order of their
 * times. Nothing in the directory is changed.
 * @param warn gets a line for each damage @returns the exit code @throws StoreError when the directory cannot be read
 */
export async function exportData(directory: string, out: Write, warn: (line: string) => void): Promise<number> {
  const { broker, data } = await restored(directory);
  try {
    const all = await exportAll(broker, out);
    damageIn(data).forEach((line) => warn(shownText(line)));
    if (all.lost > 0) warn(`${amount(all.lost, 'message')} without the body`);
    if (all.reason !== undefined) {
      warn(all.line);
      return dataExit.refused;
    }
    return all.lost === 0 && !isDamaged(data) ? dataExit.whole : dataExit.damaged;
  } finally {
    await data.close();
  }
}

function countLine({ vhost, queue, exchange, kept }: Contents, lost: number, unreadable: number): string {
  const where = queue === undefined ? `exchange '${exchange}'` : `queue '${queue}'`;
  const delayed = kept.filter(({ due }) => due > 0).length;
  const died = kept.filter(({ death }) => death !== undefined).length;
  const dead = died > 0 ? `, ${died} of them dead, and not arrived` : '';
  const waiting = delayed > 0 ? `, ${delayed} of them held back` : '';
  const damaged = lost > 0 ? `, ${lost} of them without their body` : '';
  const later = unreadable > 0 ? `, the bodies of ${unreadable} cannot be read now` : '';
  return `${where} in vhost '${vhost}': ${amount(kept.length, 'message')}${waiting}${dead}${damaged}${later}`;
}

async function exportAll(broker: Broker, out: Write): Promise<Bodies> {
  const all = new Bodies();
  for (const contents of contentsOf(broker)) {
    for (const one of contents.kept) await out(`${shownJson(lineOf(contents, one, all.read(one.entry.message)))}\n`);
  }
  return all;
}

/** Reads bodies from the disk, and counts those that are lost and those that cannot be read now. */
class Bodies {
  lost = 0;
  unreadable = 0;
  /** Why the last unreadable one could not be read. */
  reason: string | undefined;

  read(message: Message): BodyFound {
    try {
      return message.body;
    } catch (error) {
      if (isLost(error)) {
        this.lost++;
        return 'lost';
      }
      this.unreadable++;
      this.reason = (error as Error).message;
      return 'unreadable';
    }
  }

  get line(): string {
    return `${this.unreadable} bodies cannot be read now, and nothing is known of them: ${this.reason}. Check the disk, and try again`;
  }
}

/** The damage without the names of copied files, because a reader copies no file. */
export const damageIn = ({ journal: { damage } }: Data): readonly string[] =>
  damageLines({ ...damage, places: damage.places.map((place) => ({ ...place, copy: undefined })) });

const isDamaged = ({ journal: { damage } }: Data): boolean =>
  damage.places.length + damage.queues.length + damage.misplaced > 0;
