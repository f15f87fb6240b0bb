import {
  array,
  deathsOf,
  type Field,
  type FieldTable,
  int32,
  int64,
  longstr,
  type Message,
  table,
  textAt,
} from '../../engine/message/index.js';
import { failingSince, notedErrorOf } from './attempts.js';
import { dateAt, historyHeaders } from './names.js';

/** A failed attempt of a message, or a redrive between two attempts. */
export interface ErrorEntry {
  /** The number of the attempt that failed; of a redrive, that of the last attempt before it. */
  readonly attempt: number;
  readonly at: Date;
  /** The class of the error; `Redrive` for a redrive. */
  readonly name: string;
  /** The message of the error, at most 256 characters. Empty for a redrive. */
  readonly message: string;
  /** Class and method of the handler; undefined if no handler had the message. */
  readonly handler?: string;
  /** The machine on which the handler ran. */
  readonly host?: string;
  /** How long the handler took, in milliseconds. */
  readonly took?: number;
  /** The number of the redrive, from 1. Undefined for a failed attempt. */
  readonly redrive?: number;
}

/** The errors of a message, the latest first. */
interface ErrorHistory {
  readonly errors: readonly ErrorEntry[];
  /** How many entries were left out between the latest and the first. */
  readonly omitted: number;
}

/** Entries that a message keeps unless an option says otherwise. */
export const defaultErrors = 10;

/** The most entries that are read and written. */
export const mostErrors = 100;

/** The most characters of the message of an entry. */
export const mostErrorMessage = 256;

/** The most characters of a string of an entry. */
const longest = { name: 128, message: mostErrorMessage, handler: 128, host: 64 } as const;

/** The name of an entry of a redrive. */
const redriveName = 'Redrive';

const none: ErrorHistory = { errors: [], omitted: 0 };

/**
 * Reads the errors in the headers of a message. A publisher may have written them, so they prove nothing. A value that is no
 * history counts as an empty one. An invalid entry is left out.
 */
export function readHistory(headers: FieldTable | undefined): ErrorHistory {
  const field = headers?.get(historyHeaders.errors);
  if (field?.type !== 'A' || field.value.length === 0) return none;
  const { value: all } = field;
  const read = all.length <= mostErrors ? all : [...all.slice(0, mostErrors - 1), all[all.length - 1]!];
  const errors = read.map(readEntry).filter((entry) => entry !== undefined);
  if (errors.length === 0) return none;
  return { errors, omitted: countOf(headers?.get(historyHeaders.omitted)) ?? 0 };
}

/**
 * Adds an entry in front. The first failure is kept, and entries between it and the latest are left out.
 * @param limit entries at most, 2 or more
 */
export function addEntry({ errors, omitted }: ErrorHistory, entry: ErrorEntry, limit: number): ErrorHistory {
  const all = [entry, ...errors];
  if (all.length <= limit) return { errors: all, omitted };
  const left = all.length - limit;
  return { errors: [...all.slice(0, limit - 1), all[all.length - 1]!], omitted: Math.min(omitted + left, mostCounted) };
}

/** Adds a redrive. Several redrives without a failed attempt between them are one entry; without an error there is none. */
export function addRedrive(history: ErrorHistory, redrive: number, at: number): ErrorHistory {
  const { errors, omitted } = history;
  const [latest] = errors;
  if (latest === undefined) return history;
  const before = latest.redrive === undefined ? errors : errors.slice(1);
  const entry = { attempt: latest.attempt, at: new Date(at), name: redriveName, message: '', redrive };
  return addEntry({ errors: before, omitted }, entry, mostErrors);
}

/** Name and message of an error as an entry has them. */
const entryTexts = ({ name, message }: Pick<ErrorEntry, 'name' | 'message'>) => ({
  name: cutTo(name, longest.name),
  message: cutTo(message, longest.message),
});

/** Writes a history into headers. Without an error there are no such headers. */
export function writeHistory(headers: Map<string, Field>, { errors, omitted }: ErrorHistory): void {
  if (errors.length === 0) headers.delete(historyHeaders.errors);
  else headers.set(historyHeaders.errors, array(errors.map(fieldOf)));
  if (errors.length === 0 || omitted === 0) headers.delete(historyHeaders.omitted);
  else headers.set(historyHeaders.omitted, int32(omitted));
}

/** The entries that were written last, each at a place by its attempt. */
const written: (readonly [ErrorEntry, Field])[] = [];
const places = 16;

/** Messages that fail in the same millisecond and in the same way share the field of their entry. */
function fieldOf(entry: ErrorEntry): Field {
  const place = entry.attempt % places;
  const last = written[place];
  if (last !== undefined && isSame(last[0], entry)) return last[1];
  const field = table(entryTable(entry));
  written[place] = [entry, field];
  return field;
}

function isSame(one: ErrorEntry, other: ErrorEntry): boolean {
  if (one.attempt !== other.attempt || one.at.getTime() !== other.at.getTime()) return false;
  if (one.name !== other.name || one.message !== other.message || one.handler !== other.handler) return false;
  return one.host === other.host && one.took === other.took && one.redrive === other.redrive;
}

function entryTable({ attempt, at, name, message, handler, host, took, redrive }: ErrorEntry): FieldTable {
  const fields = new Map<string, Field>();
  fields.set('attempt', int32(Math.min(attempt, mostCounted)));
  fields.set('at', int64(Math.floor(at.getTime())));
  fields.set('name', longstr(cutTo(name, longest.name)));
  fields.set('message', longstr(cutTo(message, longest.message)));
  if (handler !== undefined) fields.set('handler', longstr(cutTo(handler, longest.handler)));
  if (host !== undefined) fields.set('host', longstr(cutTo(host, longest.host)));
  if (took !== undefined) fields.set('took', int64(Math.max(0, Math.floor(took))));
  if (redrive !== undefined) fields.set('redrive', int32(Math.min(redrive, mostCounted)));
  return fields;
}

function readEntry(field: Field): ErrorEntry | undefined {
  if (field.type !== 'F') return undefined;
  const { value: fields } = field;
  const attempt = countOf(fields.get('attempt'));
  const at = dateAt(countOf(fields.get('at')));
  const name = textAt(fields, 'name');
  if (attempt === undefined || at === undefined || name === undefined) return undefined;
  const [handler, host] = [textAt(fields, 'handler'), textAt(fields, 'host')];
  const [took, redrive] = [countOf(fields.get('took')), countOf(fields.get('redrive'))];
  return {
    attempt,
    at: new Date(at),
    name: cutTo(name, longest.name),
    message: cutTo(textAt(fields, 'message') ?? '', longest.message),
    ...(handler !== undefined && { handler: cutTo(handler, longest.handler) }),
    ...(host !== undefined && { host: cutTo(host, longest.host) }),
    ...(took !== undefined && { took }),
    ...(redrive !== undefined && { redrive }),
  };
}

/** The largest number an int32 can carry. */
const mostCounted = 2_147_483_647;

function countOf(field: Field | undefined): number | undefined {
  const value = field?.type === 'I' || field?.type === 'l' ? field.value : undefined;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** The beginning of a text, without half of a character at its end. */
export function cutTo(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most);
}

/**
 * Since when a message is dead, in milliseconds since 1970: since its latest death was first recorded, or if it was
 * parked, since its first failure. Undefined if it neither died nor failed.
 */
export function deadSince(message: Message): number | undefined {
  const death = deathsOf(message)[0];
  return dateAt(death !== undefined && death.time > 0 ? death.time : failingSince(message));
}

/**
 * When a message died last, in milliseconds since 1970: the time of its latest death, or if it was parked, of its latest failure. Without a
 * history of its errors only the time of the first failure is known. Undefined if it neither died nor failed.
 */
export function diedAt(message: Message): number | undefined {
  const since = deadSince(message);
  if (since === undefined || deathsOf(message).length > 0) return since;
  const latest = readHistory(message.own.headers).errors.find(({ redrive }) => redrive === undefined);
  return latest?.at.getTime() ?? since;
}

/**
 * The header `dlx-errors` with the error that `dlx-error-class` names, if the history lacks it: a consumer in another language,
 * or an older version, wrote the error. Undefined if there is nothing to add.
 * @param attempt the number of the failed attempt
 * @param at milliseconds since 1970
 * @param limit entries at most; 0 adds none
 */
export function notedEntry(message: Message, attempt: number, at: number, limit: number): FieldTable | undefined {
  const error = notedErrorOf(message);
  if (error === undefined || limit === 0) return undefined;
  const history = readHistory(message.own.headers);
  const latest = history.errors.find(({ redrive }) => redrive === undefined);
  const texts = entryTexts(error);
  if (latest?.name === texts.name && latest.message === texts.message) return undefined;
  const headers = new Map<string, Field>();
  writeHistory(headers, addEntry(history, { attempt, at: new Date(at), ...texts }, limit));
  return headers;
}
