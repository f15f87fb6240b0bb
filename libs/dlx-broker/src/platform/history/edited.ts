import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import {
  checkedFieldTable,
  type Field,
  type FieldTable,
  int32,
  longstr,
  type Message,
  messageOf,
  timestamp,
  withHeaders,
} from '../../engine/message/index.js';
import { naturalAt } from './names.js';

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
 * True for headers that no edit and no handler may set, change or remove: those of this broker, those of RabbitMQ, and further addresses.
 * @param name as it is on the wire; upper and lower case differ, as in RabbitMQ
 */
export const isLockedHeader = (name: string): boolean =>
  name.startsWith('dlx-') || name.startsWith('x-') || name === 'CC' || name === 'BCC';

/** What an edit changes in a message, and its note in the headers. */
export interface MessageEdit {
  /** Default: the body of the message. */
  readonly body: Uint8Array | undefined;
  /** Plain values by the names of headers; null removes one. */
  readonly headers: Readonly<Record<string, unknown>>;
  /** The user, or `application`. */
  readonly by: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Makes the error for a header that cannot be set. */
  readonly refuse: (header: string, fault: string) => Error;
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/**
 * The message that an edit makes of another one; undefined if nothing changes. Deaths are left out: a redriven message has none.
 * @throws what `refuse` makes
 */
export function editedMessage(message: Message, { body, headers, by, at, refuse }: MessageEdit): Message | undefined {
  const { own, notes, exchange, routingKey } = message;
  const before = notes === undefined ? own.headers : notes.withDelay(own.headers);
  const changed = changedHeaders(before, headers, refuse);
  const isSameBody = body === undefined || Buffer.compare(body, message.body) === 0;
  if (changed === undefined && isSameBody) return undefined;
  const noted = new Map<string, Field>(changed ?? before);
  noted.set(editHeaders.count, int32(editsOf(message) + 1));
  noted.set(editHeaders.by, longstr(by));
  noted.set(editHeaders.at, timestamp(Math.floor(at / 1000)));
  noted.set(editHeaders.original, longstr(sha256(message.body)));
  const properties = withHeaders(own, noted, message.expiration);
  return messageOf(exchange, routingKey, properties, isSameBody ? message : body, undefined);
}

/** @returns undefined if no header changes */
function changedHeaders(
  before: FieldTable | undefined,
  changes: MessageEdit['headers'],
  refuse: MessageEdit['refuse'],
): FieldTable | undefined {
  const headers = new Map<string, Field>(before);
  const set = new Map<string, unknown>();
  let isChanged = false;
  for (const [name, value] of Object.entries(changes)) {
    if (isLockedHeader(name)) throw refuse(name, 'is locked; dlx-..., x-..., CC and BCC belong to the broker');
    if (value === null) isChanged = headers.delete(name) || isChanged;
    else set.set(name, value);
  }
  for (const [name, field] of checkedFieldTable(set, { skipUndefined: true, refuse })) {
    if (isDeepStrictEqual(headers.get(name), field)) continue;
    headers.set(name, field);
    isChanged = true;
  }
  return isChanged ? headers : undefined;
}

/** How often a message was edited, as its header says. */
const editsOf = ({ own: { headers } }: Message): number => naturalAt(headers, editHeaders.count) ?? 0;
