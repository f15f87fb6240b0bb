export * from './attempts.js';
export {
  addEntry,
  cutTo,
  defaultErrors,
  type ErrorEntry,
  type ErrorHistory,
  mostErrorMessage,
  mostErrors,
  notedEntry,
  readHistory,
  writeHistory,
} from './error-entries.js';
export { dateAt } from './names.js';
export { editedMessage, editHeaders, editsOf, sha256 } from './edited.js';
export * from './error-entries.js';
export { deathIn, historyAfter, historyOf } from './attempts.js';
export { decodePayload, encodePayload, jsonType, UndecodablePayloadError, UnencodablePayloadError } from './payload.js';
export { errorKind, fingerprintIn, fingerprintOf, isFingerprint, longestFingerprint } from './origin.js';
export { fitting, type LeftOutOfHistory } from './republished.js';
export * from './names.js';
export * from './origin.js';
export { headersForRedrive, headersForRetry, type RetryProgress, type SuccessorHeaders } from './republished.js';
export {
  addTraceContext,
  isTraceparent,
  type TraceContext,
  traceContextAmong,
  traceContextIn,
  traceTextAt,
  withTraceContext,
} from './trace-context.js';
