import type { SpanContext, TextMapGetter, TextMapSetter } from '@opentelemetry/api';
import { isTraceparent, traceContextAmong, traceHeaders, traceTextAt } from '../../platform/history/index.js';
import {
  type Field,
  type FieldTable,
  fromFieldTable,
  isShortstr,
  longstr,
  type Message,
  textAt,
} from '../../engine/message/index.js';

/** What a propagator reads: the texts of a message. */
export interface Incoming {
  readonly message: Pick<Message, 'own'>;
  /** The texts that a dispatch hook attached. */
  readonly metadata: Readonly<Record<string, string>> | undefined;
}

/** The most characters of a string from the metadata. */
const longest = 8192;

export const getter: TextMapGetter<Incoming> = {
  /** The header of the message first, and then the metadata. A state comes from the place of its parent. */
  get({ message, metadata }, name) {
    const { headers } = message.own;
    const own = traceTextAt(headers, name);
    if (own !== undefined && (!isOfParent(name) || hasParent(headers))) return own;
    if (metadata === undefined || !Object.hasOwn(metadata, name)) return undefined;
    const text = metadata[name];
    if (typeof text !== 'string' || text.length > longest) return undefined;
    return isOfParent(name) && hasParent(headers) ? undefined : text;
  },
  keys: ({ message, metadata }) => [...(message.own.headers?.keys() ?? []), ...Object.keys(metadata ?? {})],
};

const isOfParent = (name: string): boolean => name === 'traceparent' || name === 'tracestate';

/** Whether the message itself names a trace. */
function hasParent(headers: FieldTable | undefined): boolean {
  const parent = traceTextAt(headers, 'traceparent');
  return parent !== undefined && isTraceparent(parent);
}

/** The texts of a message that no context of a handler belongs to, such as a dead letter. */
export function incoming(message: Pick<Message, 'own'>): Incoming {
  const field = message.own.headers?.get(traceHeaders.metadata);
  const metadata = field?.type === 'F' ? { ...traceContextAmong(fromFieldTable(field.value)) } : undefined;
  return { message, metadata };
}

/** What a propagator writes: texts by name. */
export type Outgoing = Map<string, string>;

/** Takes texts that fit into headers. */
export const setter: TextMapSetter<Outgoing> = {
  set(carrier, name, value) {
    if (typeof value === 'string' && value.length <= longest && isShortstr(name)) carrier.set(name, value);
  },
};

/**
 * Adds what a propagator wrote to headers. Headers that exist stay. If they have a `traceparent`, no `tracestate` is added,
 * because it would belong to another parent.
 * @returns undefined if there is nothing to add
 */
export function withTexts(
  headers: ReadonlyMap<string, Field> | undefined,
  texts: Outgoing,
): Map<string, Field> | undefined {
  if (headers?.has('traceparent') === true) {
    texts.delete('traceparent');
    texts.delete('tracestate');
  }
  let all: Map<string, Field> | undefined;
  for (const [name, text] of texts) {
    if (headers?.has(name) !== true) (all ??= new Map(headers)).set(name, longstr(text));
  }
  return all;
}

/** The span that a `traceparent` names. */
function spanOf(traceparent: string): SpanContext {
  const [, traceId = '', spanId = '', flags = '0'] = traceparent.split('-');
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}

/** The span of the previous attempt, by the header that it wrote. */
export function previousAttempt({ own: { headers } }: Message): SpanContext | undefined {
  const text = textAt(headers, traceHeaders.attempt);
  return text !== undefined && isTraceparent(text) ? spanOf(text) : undefined;
}

/** The text of a header for the next attempt. */
export const textOf = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`;
