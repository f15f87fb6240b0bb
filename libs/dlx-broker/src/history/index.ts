export * from './attempts.js';
export * from './dead-since.js';
export { editHeaders, type EditNote, editsOf, isLockedHeader, withEditNote } from './edited.js';
export * from './names.js';
export * from './origin.js';
export { decodePayload, jsonType, UndecodablePayloadError } from './payload.js';
export { headersForRedrive, headersForRetry, type RetryProgress } from './republished.js';
export {
  addTraceContext,
  isTraceparent,
  type TraceContext,
  traceContextAmong,
  traceContextIn,
  traceTextAt,
  withTraceContext,
} from './trace-context.js';
