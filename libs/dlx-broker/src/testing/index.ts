export * from './counted-names.js';
export * from './dlx-testing.js';
export { ExpectationError, type QueueExpectation } from './expectations.js';
export { house, type House, type HouseOptions } from './house.js';
export * from './manual-clock.js';
export * from './queue-view.js';
