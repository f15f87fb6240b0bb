const units: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['b', 1],
  ...['k', 'm', 'g', 't'].flatMap((letter, index): [string, number][] => [
    [`${letter}b`, 1_000 ** (index + 1)],
    [`${letter}ib`, 1_024 ** (index + 1)],
  ]),
]);

/**
 * A number of bytes, or one with a unit: `500MB` are 500,000,000, `64MiB` 67,108,864.
 * @returns NaN for a string that is no number of bytes
 */
export function bytesIn(text: string): number {
  const [, number, unit = ''] = /^([0-9]+) ?([A-Za-z]*)$/.exec(text) ?? [];
  const bytes = Number(number) * (units.get(unit.toLowerCase()) ?? NaN);
  return Number.isSafeInteger(bytes) ? bytes : NaN;
}
