import { addTraceContext, traceContextAmong, traceHeaders } from '../../platform/history/index.js';
import { type Field, type Properties, withHeaders } from '../../engine/message/index.js';
import { fieldTableOf } from '../../backends/topology/index.js';

/** The header with what part of an answer a reply is: `next`, `last`, `complete` or `error`. */
export const replyHeader = 'dlx-reply';

/**
 * Adds the texts that a dispatch hook of the client attached (`ClientProxy.setOnDispatchHook`) as one header, and the trace context
 * among them as headers of their own, for tracing tools of other languages.
 * @param isPacket true if the body has the texts already
 */
export function withMetadata(
  properties: Properties,
  metadata: Readonly<Record<string, string>>,
  isPacket: boolean,
): Properties {
  const headers = new Map<string, Field>(properties.headers);
  addTraceContext(headers, traceContextAmong(metadata));
  if (!isPacket) {
    headers.set(traceHeaders.metadata, { type: 'F', value: fieldTableOf(metadata, 'metadata of a packet') });
  }
  return headers.size === 0 ? properties : withHeaders(properties, headers, properties.expiration);
}

/** The texts among values by name: what clients wrote may be anything. The object has no prototype. */
export const textsOf = (values: object): Readonly<Record<string, string>> =>
  Object.assign(
    Object.create(null) as Record<string, string>,
    Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value === 'string')),
  );
