export { SystemClock, randomNames, turnPace } from './clock.js';
export { HomeContext } from './home-context.js';
export { policyPatterns } from './patterns.js';
export { after } from './timer.js';
