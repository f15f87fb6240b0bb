import { CtlFailure, exit } from '../ctl/exit.js';
import { compactJson, isJson, prettyJson } from './json-layout.js';

/** A header with its AMQP type, as the API shows it. */
export interface TypedHeader {
  readonly type: string;
  readonly value: unknown;
}

export type Headers = ReadonlyMap<string, TypedHeader>;

/** A message as the API shows it, as far as it can be edited. */
export interface Editable {
  readonly headers: Readonly<Record<string, TypedHeader>>;
  readonly payload: string;
  readonly payload_encoding: string;
}

/** The part of a message that a user edits. */
export interface Draft {
  /** Without those that belong to the brokers. */
  readonly headers: Headers;
  /** JSON in lines, other text as it is, bytes as base64. */
  readonly body: string;
}

/** Headers that no edit changes: those of the brokers, and further addresses. */
const isOfBroker = (name: string): boolean =>
  name.startsWith('x-') || name.startsWith('dlx-') || name === 'CC' || name === 'BCC';

export const draftOf = ({ headers, payload, payload_encoding: encoding }: Editable): Draft => ({
  headers: new Map(Object.entries(headers).filter(([name]) => !isOfBroker(name))),
  body: encoding === 'string' && isJson(payload) ? prettyJson(payload) : payload,
});

/** The parts of the request for an edit that differ from the message. Undefined: nothing differs. */
export function changesOf(message: Editable, draft: Draft): Readonly<Record<string, unknown>> | undefined {
  const before = draftOf(message);
  const headers = headersText(before.headers) === headersText(draft.headers) ? {} : { headers: sent(message, draft) };
  const body = before.body === draft.body ? {} : bodyOf(message, draft.body);
  const changes = { ...headers, ...body };
  return Object.keys(changes).length === 0 ? undefined : changes;
}

/** The headers of a request replace all of a message, so those of the broker are sent back. */
const sent = ({ headers }: Editable, draft: Draft): Readonly<Record<string, TypedHeader>> =>
  Object.assign(
    Object.create(null) as Record<string, TypedHeader>,
    Object.fromEntries(Object.entries(headers).filter(([name]) => isOfBroker(name))),
    Object.fromEntries(draft.headers),
  );

/** A body of JSON without white space stays so. */
function bodyOf({ payload, payload_encoding: encoding }: Editable, body: string): Readonly<Record<string, unknown>> {
  const wasCompact = encoding === 'string' && isJson(payload) && compactJson(payload) === payload;
  const text = wasCompact && isJson(body) ? compactJson(body) : body;
  return { payload: encoding === 'base64' ? text.replace(/\s/g, '') : text, payload_encoding: encoding };
}

const mark = '--- body ---';

/** Each header in a line of its own, so that a diff shows which ones changed. */
function headersText(headers: Headers): string {
  const lines = [...headers].map(
    ([name, { type, value }]) => `  ${JSON.stringify(name)}: ${JSON.stringify({ type, value })}`,
  );
  return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n}`;
}

/** The text of a draft for the editor and for a diff. {@link readDraft} reads it. */
export const draftText = ({ headers, body }: Draft): string => `${headersText(headers)}\n\n${mark}\n${body}\n`;

/** Removes the comments at the top. @throws CtlFailure saying what cannot be read */
export function readDraft(text: string): Draft {
  const found = new RegExp(`^${mark}\\r?\\n`, 'm').exec(text);
  if (found === null) throw unreadable(`the line '${mark}' is missing`);
  const top = text.slice(0, found.index).replace(/^#.*$/gm, '');
  const body = text.slice(found.index + found[0].length).replace(/\n$/, '');
  return { headers: headersIn(top), body };
}

function headersIn(text: string): Headers {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw unreadable(`the headers are no JSON: ${(error as Error).message}`);
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw unreadable('the headers are no object');
  return new Map(Object.entries(json as Record<string, TypedHeader>));
}

const unreadable = (why: string): CtlFailure => new CtlFailure(exit.data, `Error: ${why}`);

/** Sets headers by options: `NAME=VALUE`. A header that exists keeps its type; a new one is a string. @throws CtlFailure */
export function withHeaders(headers: Headers, set: readonly string[], removed: readonly string[]): Headers {
  const changed = new Map(headers);
  for (const name of removed) {
    if (!changed.delete(name)) throw new CtlFailure(exit.data, `Error: there is no header '${name}' to remove`);
  }
  for (const given of set) {
    const equals = given.indexOf('=');
    if (equals < 1) throw new CtlFailure(exit.usage, `Error: --header must be NAME=VALUE, but is '${given}'`);
    const [name, value] = [given.slice(0, equals), given.slice(equals + 1)];
    const type = changed.get(name)?.type ?? 'longstr';
    changed.set(name, { type, value: valueOf(name, type, value) });
  }
  return changed;
}

/** The server checks ranges, and integers may be texts there. */
function valueOf(name: string, type: string, value: string): unknown {
  if (type === 'longstr' || type === 'binary') return value;
  if (isJson(value)) return JSON.parse(value);
  throw new CtlFailure(exit.usage, `Error: header '${name}' is of type ${type}, and '${value}' is no value of it`);
}
