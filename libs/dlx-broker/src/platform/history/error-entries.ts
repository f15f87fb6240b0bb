import {
  array,
  type Field,
  type FieldTable,
  int32,
  int64,
  longstr,
  table,
  textAt,
} from '../../engine/message/index.js';
import { dateAt } from './date-at.js';
import { historyHeaders } from './names.js';

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
export interface ErrorHistory {
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
export const entryTexts = ({ name, message }: Pick<ErrorEntry, 'name' | 'message'>) => ({
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
