import {
  type Field,
  type FieldTable,
  headersForRedrive,
  longstr,
  type Message,
  timestamp,
} from '../../message/index.js';

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
}

/** The headers of a message that starts anew, with where and by whom it was sent back. */
export function redriven(message: Message, { from, by, task }: RedriveNote, now: number): FieldTable {
  const headers = new Map<string, Field>(headersForRedrive(message));
  headers.set(redrivenHeaders.from, longstr(from));
  headers.set(redrivenHeaders.at, timestamp(Math.floor(now / 1000)));
  headers.set(redrivenHeaders.by, longstr(by));
  return headers.set(redrivenHeaders.task, longstr(task));
}
