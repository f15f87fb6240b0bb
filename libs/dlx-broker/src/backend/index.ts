export * from './backend.js';

export { EmbeddedBackend, type EmbeddedOptions } from './embedded/backend.js';
export * from './errors.js';
export { type Capability, need } from './need.js';
export { type BackendState, type ServerInfo } from './state.js';

export { isReplyAddress, longestDelay } from '../broker/index.js';

export { type Address, type RecordedOrigin } from '../message/index.js';
