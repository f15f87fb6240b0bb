export * from './backend.js';
export { EmbeddedBackend, type EmbeddedOptions } from './embedded.js';
export * from './errors.js';
export * from './host.js';
export { policyPatterns } from './patterns.js';
export * from './republish.js';
export * from './retry-headers.js';
export { WaitRooms } from './wait-rooms.js';
