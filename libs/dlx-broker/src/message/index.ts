export * from './field-table.js';
export * from './message.js';
