import {
  type Field,
  type FieldTable,
  fieldTypeNames,
  Message,
  type Properties,
  propertiesFromPlain,
} from '../../engine/message/index.js';
import {
  callHttp,
  decodedReason,
  EndedCall,
  type HttpAnswer,
  type HttpApi,
  type HttpCall,
  notHttp,
  shownText,
} from '../../platform/index.js';
import type { BrowseCursor, BrowsePage, Browsing, Listing, QueuePausing } from '../backend.js';
import { ConnectionLostError, ServerError, TopologyError } from '../errors.js';

/** The time limit of an answer, in milliseconds. */
const timeout = 30_000;

/**
 * Sends a request to a management API.
 * @param path the names behind `/api`
 * @param body sent as JSON
 * @returns the JSON of the answer; undefined for an empty one, and for a 404, unless something was to be put
 * @throws ServerError that names the address and the status, never a password; ConnectionLostError when the application ended the call
 */
export async function callManagement(
  api: HttpApi,
  method: HttpCall['method'],
  path: readonly string[],
  query?: Readonly<Record<string, string>>,
  body?: unknown,
): Promise<unknown> {
  let answer: HttpAnswer;
  try {
    answer = await callHttp(api, { method, path: ['api', ...path], query: new URLSearchParams(query), body, timeout });
  } catch (error) {
    if (error instanceof EndedCall) throw new ConnectionLostError(error.message, true, { cause: error });
    const text = `the management API at ${api.base} does not answer: ${notHttp(error as NodeJS.ErrnoException) ?? (error as Error).message}`;
    throw new ServerError(text, 0, { cause: error });
  }
  const { status, text } = answer;
  const asked = `${method} /api/${path.map(encodeURIComponent).join('/')}`;
  if (status === 404 && method !== 'PUT') return undefined;
  if (status >= 200 && status < 300) return text === '' ? undefined : readAnswer(api, asked, () => JSON.parse(text));
  const reason = reasonIn(text);
  const because = reason === '' ? '' : `: ${reason}`;
  const hint = remedyFor(status, reason, api.user, neededFor(method, path));
  throw new ServerError(`the management API at ${api.base} answers ${status} to ${asked}${because}${hint}`, status);
}

/** Management APIs answer 401 to a wrong password, and also to a user without a tag, whom their reason names. */
function remedyFor(status: number, reason: string, user: string, needed: string): string {
  const lacksTag = /^(not \w+ user|user not authori)/i.test(reason);
  if (status === 403 || (status === 401 && lacksTag)) return `; the user '${user}' needs ${needed}`;
  if (status !== 401 || /localhost/i.test(reason)) return '';
  return `; the user '${user}' or its password is wrong: correct them in option 'management' of rabbitmq(), or in 'urls' if 'management' has none`;
}

function neededFor(method: HttpCall['method'], path: readonly string[]): string {
  if (path[0] === 'dlx' && path.at(-1) === 'pause') return 'a tag for management, and the right to configure the queue';
  return method === 'PUT' ? "the tag 'policymaker'" : 'a tag for management';
}

/**
 * Reads an answer of a management API.
 * @param asked what the answer is to, for the error
 * @param read throws for an answer of another form
 * @throws ServerError that shows nothing of the answer
 */
export function readAnswer<T>({ base }: HttpApi, asked: string, read: () => T): T {
  try {
    return read();
  } catch {
    throw new ServerError(`${base} is no management API: its answer to ${asked} has another form`, 0);
  }
}

/** @throws TypeError for what is no text */
function textIn(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('no text');
  return value;
}

/** The longest reason of the API in an error, in characters. */
const longestReason = 200;

/** The `reason` of an error of the API, on one line; empty if it has none. */
function reasonIn(text: string): string {
  try {
    const { reason } = JSON.parse(text) as { readonly reason?: unknown };
    return typeof reason === 'string' ? shownText(oneLine(decodedReason(reason)), longestReason) : '';
  } catch {
    return '';
  }
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** The messages of a page, and the bytes of a body in it. A message with a longer body is fetched alone. */
const page = { most: 16, truncate: 1_048_576 } as const;

/** The names of queues by the management API, which RabbitMQ has as a plugin. */
export const listingOver = (api: HttpApi, virtualHost: string): Listing => ({
  async queueNames() {
    const found = await callManagement(api, 'GET', ['queues', virtualHost], { columns: 'name' });
    if (Array.isArray(found)) {
      return readAnswer(api, 'a list of queues', () =>
        found.map(({ name }: { readonly name: unknown }) => textIn(name)),
      );
    }
    throw new ServerError(`the management API at ${api.base} has no list of queues of vhost '${virtualHost}'`, 404);
  },
});

/** Looks into queues of a dlx-broker over its HTTP API: none is delivered, counted or flagged. */
export const browsingOver = (api: HttpApi, virtualHost: string): Browsing => ({
  async browse(queue, limit, after): Promise<BrowsePage> {
    const path = ['dlx', 'queues', virtualHost, queue, 'messages'];
    const found = await callManagement(api, 'GET', path, {
      encoding: 'base64',
      page_size: String(Math.min(limit, page.most)),
      truncate: String(page.truncate),
      ...(after !== undefined && { cursor: (after as Cursor).text }),
    });
    if (found === undefined) throw noQueue(queue, virtualHost);
    const read = <T>(work: () => T): T => readAnswer(api, `a look into queue '${queue}'`, work);
    const { items, next } = read(() => pageFrom(found, after as Cursor | undefined));
    const messages: Message[] = [];
    for (const item of items) {
      const isWhole = read(() => !isCut(item));
      const whole = isWhole ? item : await callManagement(api, 'GET', [...path, item.id], { encoding: 'base64' });
      if (whole !== undefined) messages.push(read(() => messageFrom(whole as ShownMessage))); // undefined: it has left the queue meanwhile
    }
    return { messages, next: next satisfies Cursor | undefined as BrowseCursor | undefined };
  },
  async oldest(queue): Promise<number | undefined> {
    const found = await callManagement(api, 'GET', ['dlx', 'queues', virtualHost, queue]);
    if (found === undefined) throw noQueue(queue, virtualHost);
    return readAnswer(api, `a look into queue '${queue}'`, () => {
      const { oldest } = found as { readonly oldest: unknown };
      if (oldest !== null && typeof oldest !== 'number') throw new TypeError('no time');
      return oldest ?? undefined;
    });
  },
});

const noQueue = (queue: string, virtualHost: string): TopologyError =>
  new TopologyError(`no queue '${queue}' in vhost '${virtualHost}'`);

interface Cursor {
  readonly text: string;
}

/** @throws TypeError for what is no page, and for one that leads to itself */
function pageFrom(found: unknown, after: Cursor | undefined): { items: readonly ShownMessage[]; next?: Cursor } {
  const { items, cursor } = found as { readonly items: unknown; readonly cursor: unknown };
  if (!Array.isArray(items)) throw new TypeError('no list');
  for (const { id } of items as ShownMessage[]) textIn(id);
  if (cursor === null || cursor === undefined) return { items };
  const text = textIn(cursor);
  if (text === after?.text) throw new TypeError('an endless list');
  return { items, next: { text } };
}

interface ShownField {
  readonly type: string;
  readonly value: unknown;
  /** The whole length in characters or bytes, if the value was cut. */
  readonly length?: number;
}

/** A message as the HTTP API shows it; see docs/reference/dlx-api.md. */
interface ShownMessage {
  readonly id: string;
  readonly exchange: string;
  readonly routing_key: string;
  readonly properties: Readonly<Record<string, string | number>>;
  readonly headers: Readonly<Record<string, ShownField>>;
  readonly payload: string | null;
  readonly payload_truncated: boolean;
}

const isCut = ({ headers, payload_truncated }: ShownMessage): boolean =>
  payload_truncated || Object.values(headers).some(({ length }) => length !== undefined);

function messageFrom({ exchange, routing_key, properties, headers, payload }: ShownMessage): Message {
  const own: Properties = {
    ...propertiesFromPlain(properties),
    ...(Object.keys(headers).length > 0 && { headers: tableFrom(headers) }),
  };
  return new Message(exchange, routing_key, own, Buffer.from(payload ?? '', 'base64'));
}

const letters = new Map(Object.entries(fieldTypeNames).map(([letter, name]) => [name, letter as Field['type']]));

const tableFrom = (shown: Readonly<Record<string, ShownField>>): FieldTable =>
  new Map(Object.entries(shown).map(([name, field]) => [name, fieldFrom(field)]));

function fieldFrom({ type: name, value }: ShownField): Field {
  const type = letters.get(name);
  switch (type) {
    case undefined:
    case 'V':
      return { type: 'V', value: undefined };
    case 'A':
      return { type, value: (value as readonly ShownField[]).map(fieldFrom) };
    case 'F':
      return { type, value: tableFrom(value as Readonly<Record<string, ShownField>>) };
    case 'x':
      return { type, value: Buffer.from(value as string, 'base64') };
    case 'l':
    case 'T':
      return { type, value: typeof value === 'string' ? BigInt(value) : (value as number) };
    case 'f':
    case 'd':
      return { type, value: Number(value) };
    default:
      return { type, value } as Field;
  }
}

/** Pauses queues of a dlx-broker over its HTTP API. */
export function pausingOver(api: HttpApi, virtualHost: string): QueuePausing {
  const pathOf = (queue: string): readonly string[] => ['dlx', 'queues', virtualHost, queue];
  // The answer to a change of a missing queue looks like any other refusal.
  const rowOf = async (queue: string): Promise<Readonly<Record<string, unknown>>> => {
    const found = await callManagement(api, 'GET', pathOf(queue));
    if (found === undefined) throw new TopologyError(`no queue '${queue}' in vhost '${virtualHost}'`);
    return found as Readonly<Record<string, unknown>>;
  };
  return {
    async pause(queue, { reason, for: time } = {}) {
      await rowOf(queue);
      const body = { ...(reason !== undefined && { reason }), ...(time !== undefined && { for: `${time}ms` }) };
      await callManagement(api, 'PUT', [...pathOf(queue), 'pause'], undefined, body);
    },
    async resume(queue) {
      await rowOf(queue);
      await callManagement(api, 'DELETE', [...pathOf(queue), 'pause']);
    },
    async pauseOf(queue) {
      const { paused } = await rowOf(queue);
      if (paused === null || paused === undefined) return undefined;
      return readAnswer(api, `a look at queue '${queue}'`, () => {
        const { reason, by, since, until } = paused as Readonly<Record<string, unknown>>;
        if (typeof reason !== 'string' || typeof since !== 'number') throw new TypeError('no pause');
        return {
          reason,
          by: typeof by === 'string' ? by : undefined,
          since,
          until: typeof until === 'number' ? until : undefined,
        };
      });
    },
  };
}
