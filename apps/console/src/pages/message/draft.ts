import type { Letter, TypedField } from '../../api/types';
import type { Edit } from '../../letters/api';
import { problemOf } from './json';

/** A header in the editor. `key` identifies the row; `before` is its field, undefined for a new header. */
export interface DraftHeader {
  readonly key: number;
  readonly name: string;
  readonly text: string;
  readonly before: TypedField | undefined;
}

/** A message as the user edits it. */
export interface Draft {
  /** Undefined: the body is not text, and stays. */
  readonly body: string | undefined;
  readonly headers: readonly DraftHeader[];
}

/** The longest body of a message that can be edited, in bytes. The server has the same limit. */
export const longestBody = 2_000_000;

/** True for headers that no edit may set, change or remove. */
const isLocked = (name: string): boolean => /^(?:x-|dlx-)/.test(name) || name === 'CC' || name === 'BCC';

/** True for headers that the broker and its retries write. A redrive takes them out. */
export const isOfBroker = (name: string): boolean =>
  /^(?:x-death|x-(?:first|last)-death-(?:queue|reason|exchange)|dlx-.*|CC|BCC)$/.test(name);

/** A message before any change, without the headers that no edit changes. */
export const draftOf = ({ payload, payload_encoding: encoding, payload_truncated: isCut, headers }: Letter): Draft => ({
  body: encoding === 'string' && payload !== null && !isCut ? payload : undefined,
  headers: Object.entries(headers)
    .filter(([name]) => !isLocked(name))
    .map(([name, before], key) => ({ key, name, before, text: textOf(before) })),
});

const textOf = ({ value }: TypedField): string =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '');

const numbers = /^(?:byte|unsignedbyte|short|unsignedshort|signedint|unsignedint|long|float|double)$/;

/** What a changed header becomes; undefined for tables, bytes and the like, which can only be removed. A new header is text. */
export function kindOf({ before }: DraftHeader): 'text' | 'number' | 'boolean' | undefined {
  if (before === undefined || before.type === 'longstr') return 'text';
  if (before.type === 'bool') return 'boolean';
  return numbers.test(before.type) ? 'number' : undefined;
}

/** True if a body is a JSON object or array, or if its content type says that it is JSON. It then has to stay JSON. */
export function isJsonBody({ payload, payload_encoding: encoding, properties }: Letter): boolean {
  if (payload === null || encoding !== 'string') return false;
  const mayBe = /^\s*[{[]/.test(payload) || /json/i.test(String(properties['content_type'] ?? ''));
  return mayBe && problemOf(payload) === undefined;
}

/** What is wrong with a draft: of the body, and of headers by their keys. Empty if it can be sent. */
export interface Problems {
  readonly body: string | undefined;
  readonly headers: ReadonlyMap<number, string>;
}

/** Checks a draft. */
export function problemsOf(draft: Draft, letter: Letter): Problems {
  const headers = new Map<number, string>();
  const names = new Set<string>();
  for (const row of draft.headers) {
    const problem = names.has(row.name) ? 'there is another header of this name' : problemOfHeader(row);
    if (problem !== undefined) headers.set(row.key, problem);
    names.add(row.name);
  }
  const { body } = draft;
  return { headers, body: body === undefined || !isJsonBody(letter) ? undefined : problemOf(body) };
}

function problemOfHeader(row: DraftHeader): string | undefined {
  const { name, text } = row;
  if (isLocked(name)) return 'the broker writes headers of this name';
  if (new TextEncoder().encode(name).length > 255) return 'the name is longer than 255 bytes';
  if (!isChanged(row)) return undefined;
  if (kindOf(row) === 'boolean' && text !== 'true' && text !== 'false') return 'true or false';
  const number = Number(text);
  const isNumber =
    text.trim() !== '' && (Number.isInteger(number) ? Number.isSafeInteger(number) : Number.isFinite(number));
  return kindOf(row) === 'number' && !isNumber ? 'a number, up to 2^53' : undefined;
}

const isChanged = ({ before, text }: DraftHeader): boolean => before === undefined || text !== textOf(before);

/** The changed parts of a draft, for the request; empty if nothing is changed. The draft has no problems. */
export function editOf({ body, headers }: Draft, letter: Letter): Edit {
  const kept = new Set(headers.map(({ name }) => name));
  const removed = Object.keys(letter.headers).filter((name) => !isLocked(name) && !kept.has(name));
  const changes = [
    ...removed.map((name) => [name, null] as const),
    ...headers.filter(isChanged).map((row) => [row.name, valueOf(row)] as const),
  ];
  return {
    ...(body !== undefined && body !== letter.payload && { payload: body }),
    ...(changes.length > 0 && { headers: Object.fromEntries(changes) }),
  };
}

function valueOf(row: DraftHeader): string | number | boolean {
  const kind = kindOf(row);
  if (kind === 'number') return Number(row.text);
  return kind === 'boolean' ? row.text === 'true' : row.text;
}
