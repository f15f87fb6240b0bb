/** Whether this is `npm run test:all`, which CI runs. */
export const isAll = process.env['TEST_AMOUNTS'] === 'all';

/**
 * How much a test with random inputs, faults or a long run does. `npm test` does a little, so that it ends in minutes, and `npm run test:all` does
 * more. `npm run nightly` sets the variables to the amounts of a release.
 * @param name the environment variable that overrides both amounts
 * @param few the amount of `npm test`, and of a file that is run by itself
 * @param many the amount of `npm run test:all`
 */
export function amount(name: string, few: number, many: number): number {
  const given = process.env[name];
  if (given === undefined) return isAll ? many : few;
  const value = Number(given);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`${name} is a whole number from 1 on, not '${given}'`);
  return value;
}
