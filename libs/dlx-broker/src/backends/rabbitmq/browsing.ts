import {
  type Field,
  type FieldTable,
  fieldTypeNames,
  Message,
  type Properties,
  propertiesFromPlain,
} from '../../engine/message/index.js';
import type { BrowseCursor, BrowsePage, Browsing, Listing } from '../backend.js';
import { ServerError, TopologyError } from '../errors.js';
import type { HttpApi } from '../../platform/index.js';
import { callManagement, readAnswer, textIn } from './call-management.js';

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
