/**
 * How much a test with random inputs, faults or a long run does. Searches by many inputs belong to the night: each day a few of them, and the bugs
 * that are planted beside them, show that the search still finds what it is for.
 * @param name the environment variable that overrides both amounts
 * @param few the amount of a day: `npm test`, `npm run test:all`, and a file that is run by itself
 * @param many the amount of `npm run nightly`
 */
export function amount(name: string, few: number, many: number): number {
  const given = process.env[name];
  if (given === undefined) return process.env['TEST_AMOUNTS'] === 'nightly' ? many : few;
  const value = Number(given);
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`${name} is a whole number from 1 on, not '${given}'`);
  return value;
}
