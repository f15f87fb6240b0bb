import type { SpanContext, TextMapGetter, TextMapSetter } from '@opentelemetry/api';
import {
  traceContextAmong,
  traceHeaders,
  traceTextAt,
  isTraceparent,
  withTraceContext,
  traceContextIn,
} from '../history/index.js';
import { type Field, fromFieldTable, isShortstr, longstr, type Message, textAt } from '../message/index.js';

/** What a propagator reads: the texts of a message. */
export interface Incoming {
  readonly message: Pick<Message, 'own'>;
  /** The texts of a dispatch hook, with the trace context of the headers in place of their own. */
  readonly metadata: Readonly<Record<string, string>> | undefined;
}

const w3c: ReadonlySet<string> = new Set(['traceparent', 'tracestate', 'baggage']);

/** The most characters of a text from the table of a dispatch hook. */
const longest = 8192;

export const getter: TextMapGetter<Incoming> = {
  get({ message, metadata }, name) {
    // A state belongs to its parent, so these come from one place.
    const own = w3c.has(name) ? undefined : traceTextAt(message.own.headers, name);
    const text = own ?? (metadata !== undefined && Object.hasOwn(metadata, name) ? metadata[name] : undefined);
    return text !== undefined && text.length <= longest ? text : undefined;
  },
  keys: ({ message, metadata }) => [...(message.own.headers?.keys() ?? []), ...Object.keys(metadata ?? {})],
};

/** The texts of a message that no context of a handler belongs to, such as a dead letter. */
export function incoming(message: Pick<Message, 'own'>): Incoming {
  const { headers } = message.own;
  const field = headers?.get(traceHeaders.metadata);
  const hooked = field?.type === 'F' ? traceContextAmong(fromFieldTable(field.value)) : {};
  return { message, metadata: withTraceContext({ ...hooked }, traceContextIn(headers)) };
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
 * Adds what a propagator wrote to headers. What is there already stays, and so does a parent without the state of another one.
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
