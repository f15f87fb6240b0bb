import { type Field, type FieldTable, longstr, type Message, timestamp } from '../../../message/index.js';
import { headersForRedrive } from '../../../history/index.js';

/** The headers of a redriven message, besides the number of its redrives. */
export const redrivenHeaders = {
  /** The queue from which it was taken. */
  from: 'dlx-redriven-from',
  /** Seconds since 1970. */
  at: 'dlx-redriven-at',
  /** The user. */
  by: 'dlx-redriven-by',
  /** The id of the redrive. */
  task: 'dlx-redriven-task',
} as const;

export interface RedriveNote {
  readonly from: string;
  readonly by: string;
  readonly task: string;
  /** Keeps deaths, attempts and errors: the message is put aside. */
  readonly keepsHistory: boolean;
}

/** The headers of a redriven message, with its source, its user and its time. */
export function redriven(message: Message, { from, by, task, keepsHistory }: RedriveNote, now: number): FieldTable {
  const headers = new Map<string, Field>(keepsHistory ? message.properties.headers : headersForRedrive(message, now));
  if (keepsHistory) for (const name of ['CC', 'BCC']) headers.delete(name); // `CC` and `BCC` would be further addresses
  headers.set(redrivenHeaders.from, longstr(from));
  headers.set(redrivenHeaders.at, timestamp(Math.floor(now / 1000)));
  headers.set(redrivenHeaders.by, longstr(by));
  return headers.set(redrivenHeaders.task, longstr(task));
}
