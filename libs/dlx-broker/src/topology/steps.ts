/** Renard's series R10: ten steps for each power of ten, some 26 % apart. */
const series: readonly number[] = [100, 125, 160, 200, 250, 315, 400, 500, 630, 800];

/**
 * A delay rounded to the nearest of a fixed series of delays, for each distinct one is a queue of its own: at most 13 %
 * off, and below 10 ms at most a whole millisecond.
 * @param delay milliseconds, 1 at least
 * @param most no step above this is taken
 */
export function nearestStep(delay: number, most = Infinity): number {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, delay))));
  let nearest = 1;
  for (const scale of [power, power * 10]) {
    for (const step of series) {
      const candidate = Math.max(1, Math.round((step * scale) / 100));
      if (candidate <= most && Math.abs(candidate - delay) < Math.abs(nearest - delay)) nearest = candidate;
    }
  }
  return nearest;
}

/** The next step that is not below a delay: at most 28 % later, and below 10 ms at most a whole millisecond. */
export function stepUp(delay: number): number {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, delay))));
  for (const step of series) {
    const candidate = Math.round((step * power) / 100);
    if (candidate >= delay) return Math.max(1, candidate);
  }
  return power * 10;
}
