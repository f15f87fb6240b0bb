/** Renard's series R10: ten steps for each power of ten, some 26 % apart. */
const series: readonly number[] = [100, 125, 160, 200, 250, 315, 400, 500, 630, 800];

/** The steps of a delay's power of ten and of the next one, ascending. */
function stepsAround(delay: number): readonly number[] {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, delay)));
  return [power, power * 10].flatMap((scale) => series.map((step) => Math.max(1, Math.round((step * scale) / 100))));
}

/**
 * Rounds a delay to the nearest of a fixed series, because each distinct delay needs a queue of its own. The result is at most
 * 13 % off, and below 10 ms at most one millisecond.
 * @param delay milliseconds, 1 at least
 * @param most no step above this is taken
 */
export function nearestStep(delay: number, most = Infinity): number {
  const steps = stepsAround(delay).filter((step) => step <= most);
  return [1, ...steps].reduce((one, other) => (Math.abs(other - delay) < Math.abs(one - delay) ? other : one));
}

/** The next step that is not below a delay: at most 28 % later, and below 10 ms at most one millisecond. */
export const stepUp = (delay: number): number => stepsAround(delay).find((step) => step >= delay) as number;
