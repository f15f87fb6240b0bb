import { letterReasons } from '../api/types';

/** The parts of a filter in the address. Each is a parameter; `died_in` is called `queue` by the messages of a queue. */
const parts = [
  'reason',
  'error',
  'fingerprint',
  'text',
  'died_in',
  'first_queue',
  'exchange',
  'routing_key',
  'older_than',
  'younger_than',
] as const;

export type FilterPart = (typeof parts)[number];

/** For these parts an empty value selects messages without one, or the default exchange. */
const mayBeEmpty: ReadonlySet<string> = new Set<FilterPart>([
  'reason',
  'error',
  'fingerprint',
  'died_in',
  'first_queue',
  'exchange',
  'routing_key',
]);

/** Selects dead letters. A message matches if it matches all parts. */
export type LetterFilter = Readonly<Partial<Record<FilterPart, string | undefined>>> & {
  /** `NAME` or `NAME=VALUE`. */
  readonly headers?: readonly string[] | undefined;
};

/** The filter of an address. Empty parts that cannot be empty are left out. */
export function filterOf(query: URLSearchParams): LetterFilter {
  const found: Partial<Record<FilterPart, string>> = {};
  for (const part of parts) {
    const value = query.get(part);
    if (value !== null && (value !== '' || mayBeEmpty.has(part))) found[part] = value;
  }
  const headers = query.getAll('header').filter((text) => text !== '' && !text.startsWith('='));
  return headers.length === 0 ? found : { ...found, headers };
}

/** Writes a filter into a query, and removes the parts that it does not have. */
export function writeFilter(query: URLSearchParams, filter: LetterFilter): URLSearchParams {
  const next = new URLSearchParams(query);
  for (const part of [...parts, 'header']) next.delete(part);
  for (const part of parts) {
    const value = filter[part];
    if (value !== undefined && (value !== '' || mayBeEmpty.has(part))) next.set(part, value);
  }
  for (const header of filter.headers ?? []) next.append('header', header);
  return next;
}

/** The parameters of `GET /api/dlx/queues/{vhost}/{name}/messages`, and of the other paths of one queue. */
export function messageQuery(filter: LetterFilter): URLSearchParams {
  const query = writeFilter(new URLSearchParams(), filter);
  const diedIn = query.get('died_in');
  query.delete('died_in');
  if (diedIn !== null) query.set('queue', diedIn);
  return query;
}

/** The filter in the form of `POST /api/dlx/redrives`. */
export function jsonFilter(filter: LetterFilter): Readonly<Record<string, unknown>> {
  const { headers, died_in, ...rest } = filter;
  const wanted = headers?.map((text): readonly [string, string | null] => {
    const sign = text.indexOf('=');
    return sign < 0 ? [text, null] : [text.slice(0, sign), text.slice(sign + 1)];
  });
  return {
    ...rest,
    ...(died_in !== undefined && { queue: died_in }),
    ...(wanted !== undefined && { headers: Object.fromEntries(wanted) }),
  };
}

/** True if the filter selects all messages. */
export const isEmptyFilter = (filter: LetterFilter): boolean => Object.keys(filter).length === 0;

/** A part of a filter in words, for the chips above a list and for dialogs. */
export interface FilterWord {
  readonly part: FilterPart | 'headers';
  readonly name: string;
  readonly value: string;
}

const names: Readonly<Record<FilterPart, string>> = {
  reason: 'reason',
  error: 'error',
  fingerprint: 'fingerprint',
  text: 'text',
  died_in: 'died in',
  first_queue: 'died first in',
  exchange: 'exchange',
  routing_key: 'routing key',
  older_than: 'older than',
  younger_than: 'younger than',
};

/** The parts of a filter in words. */
export function wordsOf(filter: LetterFilter): readonly FilterWord[] {
  const words: FilterWord[] = [];
  for (const part of parts) {
    const value = filter[part];
    if (value !== undefined) words.push({ part, name: names[part], value: value === '' ? emptyOf(part) : value });
  }
  for (const value of filter.headers ?? []) words.push({ part: 'headers', name: 'header', value });
  return words;
}

const emptyOf = (part: FilterPart): string => (part === 'exchange' ? '(default)' : '(none)');

/** The ages that the filter bar offers, with the text of each. */
export const ages: readonly (readonly [query: string, text: string])[] = [
  ['younger_than=5m', 'last 5 minutes'],
  ['younger_than=1h', 'last hour'],
  ['younger_than=1d', 'last day'],
  ['older_than=1h', 'older than an hour'],
  ['older_than=1d', 'older than a day'],
  ['older_than=7d', 'older than a week'],
];

/** True if a string is a duration that the API understands. */
export const isDuration = (text: string): boolean => /^\d{1,12}(ms|s|m|h|d)$/.test(text);

/** The reasons that the filter bar offers, and the one of the address. */
export const reasonChoices = (present: string | undefined): readonly string[] =>
  present === undefined || present === '' || letterReasons.some((reason) => reason === present)
    ? letterReasons
    : [...letterReasons, present];
