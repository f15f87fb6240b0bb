export * from './attempts.js';
export {
  addEntry,
  cutTo,
  deadSince,
  diedAt,
  defaultErrors,
  type ErrorEntry,
  mostErrorMessage,
  mostErrors,
  notedEntry,
  readHistory,
  writeHistory,
} from './error-entries.js';
export { editedMessage, editHeaders, isLockedHeader, sha256 } from './edited.js';
export { decodePayload, encodePayload, jsonType, UndecodablePayloadError, UnencodablePayloadError } from './payload.js';
export * from './names.js';
export * from './origin.js';
export { fitting, headersForRedrive, headersForRetry, type LeftOutOfHistory } from './republished.js';
export {
  addTraceContext,
  isTraceparent,
  traceContextAmong,
  traceContextIn,
  traceTextAt,
  withTraceContext,
} from './trace-context.js';
