export * from './backend.js';
export * from './republish.js';
export * from './retry-headers.js';
