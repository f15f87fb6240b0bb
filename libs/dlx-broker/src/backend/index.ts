export * from './backend.js';
export { DelayedPublisher, parseDelay } from './delayed-publisher.js';
export { EmbeddedBackend, type EmbeddedOptions } from './embedded.js';
export * from './errors.js';
export { HomeContext } from './home-context.js';
export * from './host.js';
export { isReplyAddress } from '../broker/index.js';
export { policyPatterns } from './patterns.js';
export * from './republish.js';
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
export { after } from './timer.js';
export { WaitRooms } from './wait-rooms.js';
