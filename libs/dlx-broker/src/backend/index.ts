export * from './backend.js';

export { EmbeddedBackend, type EmbeddedOptions } from './embedded/backend.js';
export * from './errors.js';
export { type Capability, need } from './need.js';
export { type BackendState, type ServerInfo } from './state.js';

export { isReplyAddress, longestDelay } from '../broker/index.js';

export {
  type Address,
  type RecordedOrigin,
  addressOf,
  attemptOf,
  claimedOriginOf,
  failingSince,
  failuresOf,
  headersForRedrive,
  headersForRetry,
  isQueueItself,
  originOf,
  publishedTo,
  recordedAddressOf,
  redrivesOf,
  retryHeaders,
  type RetryProgress,
  workQueueOf,
} from '../message/index.js';
