export * from './configuration-error.js';
export * from './duration.js';
export * from './topology.js';
