export * from './router.js';
export * from './types.js';
export { DefaultRouter } from './default.js';
export { checkAlternateExchange, checkEquivalent } from './equivalence.js';
