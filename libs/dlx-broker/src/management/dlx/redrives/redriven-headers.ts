import { type Field, type FieldTable, longstr, type Message, timestamp } from '../../../message/index.js';
import { headersForRedrive } from '../../../history/index.js';

/** What is written on a redriven message, beside the number of its redrives. */
export const redrivenHeaders = {
  /** The queue it was taken from. */
  from: 'dlx-redriven-from',
  /** Seconds since 1970. */
  at: 'dlx-redriven-at',
  /** Who did it. */
  by: 'dlx-redriven-by',
  /** The redrive it was part of. */
  task: 'dlx-redriven-task',
} as const;

export interface RedriveNote {
  readonly from: string;
  readonly by: string;
  readonly task: string;
  /** For a message that does not start anew, but is put aside with all that is known of it. */
  readonly keepsHistory: boolean;
}

/** The headers of a message that goes on, with where and by whom it was sent there. */
export function redriven(message: Message, { from, by, task, keepsHistory }: RedriveNote, now: number): FieldTable {
  const headers = new Map<string, Field>(keepsHistory ? message.properties.headers : headersForRedrive(message));
  if (keepsHistory) for (const name of ['CC', 'BCC']) headers.delete(name); // these would be further addresses
  headers.set(redrivenHeaders.from, longstr(from));
  headers.set(redrivenHeaders.at, timestamp(Math.floor(now / 1000)));
  headers.set(redrivenHeaders.by, longstr(by));
  return headers.set(redrivenHeaders.task, longstr(task));
}
