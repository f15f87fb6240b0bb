import {
  compact,
  type Field,
  type FieldTable,
  longstr,
  type Message,
  Repeated,
  timestamp,
} from '../../../engine/message/index.js';
import { headersForRedrive } from '../../../platform/history/index.js';

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

/** Makes the headers of redriven messages, with their source, their user and their time. Messages with the same headers share them. */
export class RedrivenHeaders {
  readonly #last = new Repeated<FieldTable>();

  constructor(private readonly note: RedriveNote) {}

  /** @param now milliseconds since 1970 */
  of(message: Message, now: number): FieldTable {
    const { from, by, task, keepsHistory } = this.note;
    const carried = keepsHistory ? message.properties.headers : headersForRedrive(message, now);
    const seconds = Math.floor(now / 1000);
    return this.#last.of([carried, seconds], () => {
      const headers = new Map<string, Field>(carried);
      if (keepsHistory) for (const name of ['CC', 'BCC']) headers.delete(name); // `CC` and `BCC` would be further addresses
      headers.set(redrivenHeaders.from, longstr(from));
      headers.set(redrivenHeaders.at, timestamp(seconds));
      headers.set(redrivenHeaders.by, longstr(by));
      headers.set(redrivenHeaders.task, longstr(task));
      return compact(headers); // here, because the publish would compact them for each message
    });
  }
}
