// The configuration of `npm run test:all`: the same tests, with the amounts of CI (test/amounts.ts).
process.env['TEST_AMOUNTS'] ??= 'all';

export { default } from './vitest.config.js';
