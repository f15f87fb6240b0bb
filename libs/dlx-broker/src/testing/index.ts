export * from './counted-names.js';
export * from './manual-clock.js';
