export * from './field-table.js';
export * from './message.js';
export * from './death.js';
export { DeadHeaders, Recorded } from './dead-headers.js';
export { WrittenTable } from './written-table.js';
export * from './death-history.js';
export * from './nesting.js';
export * from './plain.js';
export * from './retry-headers.js';
