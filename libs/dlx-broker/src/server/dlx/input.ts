import type { Cursor } from '../../engine/broker/index.js';
import { type Address, isShortstr, maxShortstrBytes } from '../../engine/message/index.js';
import { badRequest, type Problem } from '../http/reply.js';
import type { JsonObject } from '../http/body.js';
import { didYouMean } from '../../platform/options/index.js';
import { cursorOf, type MessageFilter, type WantedHeader } from './filter.js';
import { letterReasons } from './letter-facts.js';

/** The parts of a filter: each is a query parameter, and a key of a JSON filter. */
export const filterNames = {
  reason: 'reason',
  queue: 'queue',
  first_queue: 'firstQueue',
  exchange: 'exchange',
  routing_key: 'routingKey',
  error: 'error',
  fingerprint: 'fingerprint',
  text: 'text',
  older_than: 'olderThan',
  younger_than: 'youngerThan',
} as const satisfies Record<string, keyof MessageFilter>;

/** The query parameters of a filter. */
export const filterParameters: readonly string[] = [...Object.keys(filterNames), 'header'];

/** The most characters of a string. */
const longest = 1_024;
const mostHeaders = 10;

/**
 * Refuses unknown names: a filter with a typing error would select every message.
 * @throws Problem 400
 */
export function onlyKnown(names: Iterable<string>, known: readonly string[], what: string): void {
  for (const name of names) {
    if (!known.includes(name)) throw badRequest(`unknown ${what} '${name}'; known are ${known.join(', ')}`);
  }
}

/**
 * The filter of a query. `header=name=value` and `header=name` may be repeated.
 * @throws Problem 400
 */
export function filterInQuery(query: URLSearchParams): MessageFilter {
  const given = new Map<string, unknown>();
  for (const name of Object.keys(filterNames)) {
    const values = query.getAll(name);
    if (values.length > 1) throw badRequest(`parameter '${name}' is given more than once`);
    if (values.length === 1) given.set(name, values[0]);
  }
  const headers = query.getAll('header').map((text): WantedHeader => {
    const sign = text.indexOf('=');
    return sign < 0 ? { name: text, value: undefined } : { name: text.slice(0, sign), value: text.slice(sign + 1) };
  });
  return filterOf(given, headers);
}

/**
 * The filter of a JSON object. In `headers` a string is the wanted value, and null is any value.
 * @throws Problem 400
 */
export function filterInJson(value: unknown): MessageFilter {
  if (value === undefined || value === null) return {};
  const entries = objectEntries(value, 'filter');
  onlyKnown(entries.keys(), [...Object.keys(filterNames), 'headers'], 'key of filter');
  const wanted: WantedHeader[] = [];
  for (const [name, text] of objectEntries(entries.get('headers') ?? {}, 'filter.headers')) {
    if (text !== null && typeof text === 'object')
      throw badRequest(`filter.headers.${name} should be a string or null`);
    wanted.push({ name, value: text === null ? undefined : String(text) });
  }
  return filterOf(entries, wanted);
}

function filterOf(given: ReadonlyMap<string, unknown>, headers: readonly WantedHeader[]): MessageFilter {
  const filter: Record<string, unknown> = {};
  for (const [name, key] of Object.entries(filterNames)) {
    const value = given.get(name);
    if (value === undefined || value === null) continue;
    if (typeof value !== 'string') throw badRequest(`'${name}' should be a string`);
    if (value.length > longest) throw badRequest(`'${name}' is longer than ${longest} characters`);
    filter[key] = key === 'olderThan' || key === 'youngerThan' ? durationOf(value, name) : value;
  }
  checkReason(filter['reason'] as string | undefined);
  if (filter['text'] === '') throw badRequest("'text' is empty");
  if (headers.length > mostHeaders) throw badRequest(`more than ${mostHeaders} headers`);
  for (const header of headers) checkHeader(header);
  return headers.length === 0 ? filter : { ...filter, headers };
}

/** A misspelt reason would match nothing: a redrive would end at once, as if there were no dead letter. An empty reason selects messages without a reason. */
function checkReason(reason = ''): void {
  if (reason === '' || letterReasons.some((known) => known === reason)) return;
  throw badRequest(
    `'reason' should be one of ${letterReasons.join(', ')}: '${reason}'${didYouMean(reason, letterReasons)}`,
  );
}

/** The audit log and the list of redrives keep filters, so each part has a limit. */
function checkHeader({ name, value = '' }: WantedHeader): void {
  if (name === '') throw badRequest('a header is asked for without its name');
  if (!isShortstr(name)) throw badRequest(`the name of a wanted header is longer than ${maxShortstrBytes} bytes`);
  if (value.length > longest) throw badRequest(`the value of a wanted header is longer than ${longest} characters`);
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a string such as 90s. @throws Problem 400 */
export function durationOf(text: string, name: string): number {
  const [, number, unit] = /^(\d{1,12})(ms|s|m|h|d)$/.exec(text) ?? [];
  if (unit === undefined) throw badRequest(`'${name}' should be a duration such as 90s, 15m, 2h or 7d: '${text}'`);
  return Number(number) * (units[unit] as number);
}

/**
 * An integer of the query, within limits.
 * @throws Problem 400
 */
export function numberIn(query: URLSearchParams, name: string, otherwise: number, least: number, most: number): number {
  const text = query.get(name);
  if (text === null) return otherwise;
  const number = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw badRequest(`'${name}' should be a whole number from ${least} to ${most}: '${text}'`);
}

/**
 * A parameter that has one of a few values.
 * @throws Problem 400
 */
export function wordIn<T extends string>(query: URLSearchParams, name: string, words: readonly T[], otherwise?: T): T {
  const text = query.get(name) ?? otherwise;
  if (words.includes(text as T)) return text as T;
  throw badRequest(`'${name}' should be one of ${words.join(', ')}${text === undefined ? '' : `: '${text}'`}`);
}

/** @throws Problem 400 */
export function cursorIn(query: URLSearchParams): Cursor | undefined {
  const text = query.get('cursor');
  if (text === null || text === '') return undefined;
  const cursor = cursorOf(text);
  if (cursor === undefined) throw badRequest(`'cursor' should be the cursor of the page before: '${text}'`);
  return cursor;
}

/**
 * A JSON object as a Map, because a key may be `__proto__`.
 * @throws Problem 400
 */
export function objectEntries(value: unknown, name: string): ReadonlyMap<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw notAn('object', name);
  return new Map(Object.entries(value as JsonObject));
}

export const notAn = (kind: string, name: string): Problem => badRequest(`'${name}' should be an ${kind}`);

/** The most ids in a query. A longer list does not fit into the path of a request. */
const mostIdsInQuery = 1_000;

/**
 * The positions of the messages that `ids=1,2,3` names; undefined without the parameter.
 * @throws Problem 400
 */
export function idsInQuery(query: URLSearchParams): readonly number[] | undefined {
  const [text, ...more] = query.getAll('ids');
  if (more.length > 0) throw badRequest("parameter 'ids' is given more than once");
  if (text === undefined) return undefined;
  const ids = text.split(',');
  if (ids.length > mostIdsInQuery) throw badRequest(`'ids' has more than ${mostIdsInQuery}`);
  for (const id of ids) if (!/^\d{1,16}$/.test(id)) throw badRequest(`'${id}' is no id of a message`);
  return [...new Set(ids.map(Number))];
}

/** A filter in the form in which clients send it; null if it selects all messages. */
export function filterToJson(filter: MessageFilter | undefined): Readonly<Record<string, unknown>> | null {
  const json: Record<string, unknown> = {};
  for (const [name, key] of Object.entries(filterNames)) {
    const value = filter?.[key];
    if (value !== undefined) json[name] = typeof value === 'number' ? `${value}ms` : value;
  }
  if (filter?.headers !== undefined) {
    const headers = Object.create(null) as Record<string, string | null>;
    for (const { name, value } of filter.headers) headers[name] = value ?? null;
    json['headers'] = headers;
  }
  return Object.keys(json).length === 0 ? null : json;
}

/** @throws Problem 400 */
export function booleanAt(object: JsonObject, key: string): boolean {
  const value = object[key] ?? false;
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  throw badRequest(`'${key}' should be true or false: ${JSON.stringify(value)}`);
}

/**
 * The destination; undefined: the origin of each message.
 * @throws Problem 400
 */
export function addressIn(value: unknown): Address | undefined {
  if (value === undefined || value === null) return undefined;
  const entries = objectEntries(value, 'to');
  onlyKnown(entries.keys(), ['exchange', 'routing_key'], "key of 'to'");
  const [exchange, routingKey] = [entries.get('exchange'), entries.get('routing_key')];
  if (typeof exchange !== 'string' || typeof routingKey !== 'string') {
    throw badRequest("'to' should have the strings 'exchange' and 'routing_key'");
  }
  // The audit log keeps both names, also those of refused requests.
  if (!isShortstr(exchange)) throw badRequest(`'to.exchange' is longer than ${maxShortstrBytes} bytes`);
  if (!isShortstr(routingKey)) throw badRequest(`'to.routing_key' is longer than ${maxShortstrBytes} bytes`);
  return { exchange, routingKey };
}
