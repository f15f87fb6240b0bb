import { type Field, type FieldTable, longstr, textAt } from '../../engine/message/index.js';

/** The trace of a message as W3C writes it: headers of the message itself, which tracing tools of all languages read. */
interface TraceContext {
  /** The span in which the message was published first. */
  readonly traceparent?: string;
  /** What vendors add to it. Absent without a `traceparent`. */
  readonly tracestate?: string;
  /** Texts that travel with the trace. */
  readonly baggage?: string;
}

/**
 * The most characters of each field that are read and written: W3C requires at least 512 for `tracestate` and 8192 for `baggage`;
 * a `traceparent` has 55 today.
 */
const longest = { traceparent: 256, tracestate: 512, baggage: 8192 } as const;

/** The most characters of a header that a propagator of the application reads or writes. */
const longestOther = longest.baggage;

/** Version, trace, parent and flags. An id of zeros is none, and version 00 has no further part. */
const parents = /^(?!ff)[\da-f]{2}-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}($|(?<!^00.{53})-)/;

/** True for a `traceparent` that names a trace. */
export const isTraceparent = (text: string): boolean => text.length <= longest.traceparent && parents.test(text);

/** The text of a header for a propagator. A string that is too long counts as absent, and so does any other type. */
export function traceTextAt(headers: FieldTable | undefined, name: string): string | undefined {
  const text = textAt(headers, name);
  if (text === undefined) return undefined;
  return text.length <= (name in longest ? longest[name as keyof TraceContext] : longestOther) ? text : undefined;
}

/** The trace context in the headers of a message. Values that are too long or no trace context are left out. */
export const traceContextIn = (headers: FieldTable | undefined): TraceContext =>
  headers === undefined ? none : traceContextOf((name) => traceTextAt(headers, name));

/** The trace context in texts by name, such as the metadata of a dispatch hook. */
export const traceContextAmong = (texts: Readonly<Record<string, unknown>>): TraceContext =>
  traceContextOf((name) => {
    const text = Object.hasOwn(texts, name) ? texts[name] : undefined;
    return typeof text === 'string' && text.length <= longest[name] ? text : undefined;
  });

const none: TraceContext = {};

function traceContextOf(read: (name: keyof TraceContext) => string | undefined): TraceContext {
  const traceparent = read('traceparent');
  const isTraced = traceparent !== undefined && isTraceparent(traceparent);
  const tracestate = isTraced ? read('tracestate') : undefined;
  const baggage = read('baggage');
  return {
    ...(isTraced && { traceparent }),
    ...(tracestate !== undefined && { tracestate }),
    ...(baggage !== undefined && { baggage }),
  };
}

/**
 * Adds a trace context to the headers of a new message. What the headers have stays: a message keeps its first `traceparent`, and a
 * `tracestate` belongs to its parent.
 * @param headers are changed
 */
export function addTraceContext(headers: Map<string, Field>, { traceparent, tracestate, baggage }: TraceContext): void {
  if (traceparent !== undefined && !headers.has('traceparent')) {
    headers.set('traceparent', longstr(traceparent));
    if (tracestate === undefined) headers.delete('tracestate');
    else headers.set('tracestate', longstr(tracestate));
  }
  if (baggage !== undefined && !headers.has('baggage')) headers.set('baggage', longstr(baggage));
}

/**
 * Texts by name, with the trace context of the message in place of their own. A `tracestate` comes from the same place as its
 * parent.
 */
export function withTraceContext(
  texts: Readonly<Record<string, string>> | undefined,
  { traceparent, tracestate, baggage }: TraceContext,
): Readonly<Record<string, string>> | undefined {
  if (traceparent === undefined && baggage === undefined) return texts;
  const all = Object.assign(Object.create(null) as Record<string, string>, texts);
  if (traceparent !== undefined) {
    all['traceparent'] = traceparent;
    if (tracestate === undefined) delete all['tracestate'];
    else all['tracestate'] = tracestate;
  }
  if (baggage !== undefined) all['baggage'] = baggage;
  return all;
}
