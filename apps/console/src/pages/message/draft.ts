import type { Letter, TypedField } from '../../api/types';
import type { Edit } from '../../letters/api';
import { fieldOfText, isLocked, textOfField } from './fields';
import { compactJson, formatJson, parseJson, problemOf } from './json';

/** A header in the editor. `key` identifies the row while its name changes. */
export interface DraftHeader {
  readonly key: number;
  readonly name: string;
  readonly type: string;
  readonly text: string;
}

/** A message as the user edits it. */
export interface Draft {
  /** Undefined: the body is not text, or too long, and stays. */
  readonly body: string | undefined;
  readonly headers: readonly DraftHeader[];
  /** The properties as text; an empty text for one that is not set. */
  readonly properties: Readonly<Record<string, string>>;
  /** True: a body that was JSON may become something else. */
  readonly allowsInvalid: boolean;
}

/** The properties that can be edited, in the order of AMQP. The user id is checked by the broker, and headers have an editor of their own. */
export const propertyNames = [
  'content_type',
  'content_encoding',
  'delivery_mode',
  'priority',
  'correlation_id',
  'reply_to',
  'expiration',
  'message_id',
  'timestamp',
  'type',
  'user_id',
  'app_id',
] as const;

/** The properties that are whole numbers, with their ranges. The expiration is a string of digits. */
const numbers: Readonly<Record<string, readonly [least: bigint, most: bigint]>> = {
  delivery_mode: [1n, 2n],
  priority: [0n, 255n],
  timestamp: [0n, 18_446_744_073_709_551_615n],
  expiration: [0n, 4_294_967_295n],
};

/** What is wrong with the text of a property; undefined if it can be sent. */
export function problemOfProperty(name: string, text: string): string | undefined {
  if (text === '') return undefined;
  const range = numbers[name];
  if (range === undefined) return new TextEncoder().encode(text).length > 255 ? 'longer than 255 bytes' : undefined;
  const value = /^\d{1,20}$/.test(text) ? BigInt(text) : undefined;
  if (value !== undefined && value >= range[0] && value <= range[1]) return undefined;
  return `a whole number from ${range[0]} to ${range[1]}`;
}

/** The value of a property in the request. */
function valueOfProperty(name: string, text: string): unknown {
  if (text === '') return null;
  if (name === 'expiration' || numbers[name] === undefined) return text;
  return Number.isSafeInteger(Number(text)) ? Number(text) : text;
}

/** The longest body that can be edited in a browser, in bytes. */
export const longestBody = 2_000_000;

/**
 * A message before any change. JSON on one line gets line breaks for the editor, and loses them before it is sent.
 * Headers of the broker are left out: no edit changes them.
 */
export const draftOf = (letter: Letter): Draft => ({
  body:
    letter.payload_encoding === 'string' && letter.payload !== null && !letter.payload_truncated
      ? editable(letter)
      : undefined,
  headers: ownHeaders(letter.headers).map(([name, field], key) => ({
    key,
    name,
    type: field.type,
    text: textOfField(field),
  })),
  properties: Object.fromEntries(propertyNames.map((name) => [name, textOfProperty(letter, name)])),
  allowsInvalid: false,
});

const textOfProperty = ({ properties }: Letter, name: string): string => {
  const value = properties[name];
  return value === undefined || value === null ? '' : String(value);
};

/** True for JSON on one line. */
const isOneLine = (letter: Letter): boolean => isJsonBody(letter) && !(letter.payload ?? '').trim().includes('\n');

function editable(letter: Letter): string {
  const text = letter.payload ?? '';
  const node = isOneLine(letter) ? parseJson(text) : undefined;
  return node === undefined ? text : formatJson(node);
}

/** The body that is sent; undefined if it stays. JSON of one line that differs only in spaces stays. */
function changedBody({ body }: Draft, letter: Letter): string | undefined {
  if (body === undefined || body === letter.payload) return undefined;
  if (!isOneLine(letter)) return body;
  const [before, after] = [letter.payload ?? '', body].map((text) => {
    const node = parseJson(text);
    return node && compactJson(node);
  });
  return after !== undefined && after === before ? undefined : (after ?? body);
}

const ownHeaders = (headers: Letter['headers']): readonly (readonly [string, TypedField])[] =>
  Object.entries(headers).filter(([name]) => !isLocked(name));

/** True if a body is a JSON object or array, or if its content type says that it is JSON. It then has to stay JSON. */
export function isJsonBody({ payload, payload_encoding, properties }: Letter): boolean {
  if (payload === null || payload_encoding !== 'string') return false;
  const type = properties['content_type'];
  const mayBe = /^\s*[{[]/.test(payload) || (typeof type === 'string' && /json/i.test(type));
  return mayBe && problemOf(payload) === undefined;
}

/** What is wrong with a draft: of the body, and of headers by their keys. Empty if it can be sent. */
export interface Problems {
  readonly body?: string;
  readonly headers: ReadonlyMap<number, string>;
  readonly properties: ReadonlyMap<string, string>;
}

/** True for a draft that can be sent. */
export const isSendable = ({ body, headers, properties }: Problems): boolean =>
  body === undefined && headers.size === 0 && properties.size === 0;

/** Checks a draft. */
export function problemsOf(draft: Draft, letter: Letter): Problems {
  const headers = new Map<number, string>();
  const names = new Set<string>();
  for (const { key, name, type, text } of draft.headers) {
    if (names.has(name)) headers.set(key, 'there is another header of this name');
    else if (isLocked(name)) headers.set(key, 'the broker writes headers of this name');
    else if (new TextEncoder().encode(name).length > 255) headers.set(key, 'the name is longer than 255 bytes');
    names.add(name);
    try {
      fieldOfText({ type, text });
    } catch (error) {
      headers.set(key, `${type} is ${(error as Error).message}`);
    }
  }
  const body =
    draft.body !== undefined && draft.body !== letter.payload && !draft.allowsInvalid && isJsonBody(letter)
      ? problemOf(draft.body)
      : undefined;
  const properties = new Map<string, string>();
  for (const [name, text] of changedProperties(draft, letter)) {
    const problem = problemOfProperty(name, text);
    if (problem !== undefined) properties.set(name, problem);
  }
  return { headers, properties, ...(body !== undefined && { body }) };
}

/** The properties whose text differs. An unchanged one stays as it is, whatever it is. */
export const changedProperties = (draft: Draft, letter: Letter): readonly (readonly [string, string])[] =>
  Object.entries(draft.properties).filter(([name, text]) => text !== textOfProperty(letter, name));

/** The changed parts of a draft, for the request. The draft has no problems. */
export function editOf(draft: Draft, letter: Letter): Edit {
  const headers = Object.fromEntries(draft.headers.map(({ name, type, text }) => [name, fieldOfText({ type, text })]));
  const before = Object.fromEntries(ownHeaders(letter.headers));
  const payload = changedBody(draft, letter);
  const properties = changedProperties(draft, letter).map(([name, text]) => [name, valueOfProperty(name, text)]);
  return {
    ...(payload !== undefined && { payload }),
    ...(!isSame(headers, before) && { headers }),
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) as Record<string, unknown> }),
    ...(draft.allowsInvalid && { allow_invalid: true }),
  };
}

/** A header that a draft adds, removes or changes. */
export interface HeaderChange {
  readonly name: string;
  readonly before: TypedField | undefined;
  readonly after: TypedField | undefined;
}

/** The headers that differ. */
export function headerChanges(edit: Edit, letter: Letter): readonly HeaderChange[] {
  if (edit.headers === undefined) return [];
  const before = new Map(ownHeaders(letter.headers));
  const after = new Map(Object.entries(edit.headers));
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((name) => ({ name, before: before.get(name), after: after.get(name) }))
    .filter((change) => !isSame(change.before, change.after));
}

/** True for equal JSON. Fields of a header have their names in the same order. */
const isSame = (one: unknown, other: unknown): boolean => sorted(one) === sorted(other);

const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.entries(part).toSorted(([first], [second]) => (first < second ? -1 : 1))
      : part,
  ) ?? '';
