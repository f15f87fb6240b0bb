import { type Field, type FieldTable, int32, longstr, type Message, timestamp } from '../../engine/message/index.js';
import { naturalAt } from './natural.js';

/** The headers of a message that was edited before it was redriven. They stay at later redrives. */
export const editHeaders = {
  /** How often it was edited. */
  count: 'dlx-edited',
  /** The user of the last edit, or `application`. */
  by: 'dlx-edited-by',
  /** The time of the last edit: seconds since 1970. */
  at: 'dlx-edited-at',
  /** The sha256 of the body that the last edit replaced, in hexadecimal digits. */
  original: 'dlx-original-sha256',
} as const;

/**
 * True for headers that no edit may set, change or remove: those of this broker, those of RabbitMQ, and further addresses.
 * @param name as it is on the wire; upper and lower case differ, as in RabbitMQ
 */
export const isLockedHeader = (name: string): boolean =>
  name.startsWith('dlx-') || name.startsWith('x-') || name === 'CC' || name === 'BCC';

/** What an edit writes into the headers of the new message. */
export interface EditNote {
  readonly by: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The sha256 of the body before the edit, in hexadecimal digits. */
  readonly sha256: string;
}

/** Headers with the note of an edit. @param original the message before the edit, whose edits are counted */
export function withEditNote(
  headers: FieldTable | undefined,
  original: Message,
  { by, at, sha256 }: EditNote,
): FieldTable {
  const noted = new Map<string, Field>(headers);
  noted.set(editHeaders.count, int32(editsOf(original) + 1));
  noted.set(editHeaders.by, longstr(by));
  noted.set(editHeaders.at, timestamp(Math.floor(at / 1000)));
  return noted.set(editHeaders.original, longstr(sha256));
}

/** How often a message was edited, as its header says. */
export const editsOf = ({ own: { headers } }: Message): number => naturalAt(headers, editHeaders.count) ?? 0;
