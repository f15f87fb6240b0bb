export * from './attempts.js';
export { cutTo } from './error-entries.js';
export { dateAt } from './date-at.js';
export * from './dead-since.js';
export { deathIn, historyAfter, historyOf } from './death-history.js';
export { editHeaders, type EditNote, editsOf, isLockedHeader, withEditNote } from './edited.js';
export {
  addEntry,
  defaultErrors,
  type ErrorEntry,
  type ErrorHistory,
  mostErrorMessage,
  mostErrors,
  readHistory,
  writeHistory,
} from './error-entries.js';
export { errorKind, fingerprintIn, fingerprintOf, isFingerprint, longestFingerprint } from './fingerprint.js';
export { notedEntry } from './noted-entry.js';
export { fitting, type LeftOutOfHistory } from './republished.js';
export { encodePayload, UnencodablePayloadError } from './encoded-payload.js';
export * from './names.js';
export * from './origin.js';
export { decodePayload, jsonType, UndecodablePayloadError } from './payload.js';
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
