export * from './accepts.js';
export * from './known-options.js';
export * from './refused.js';
export * from './units.js';
