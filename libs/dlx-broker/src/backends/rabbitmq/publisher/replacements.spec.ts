import { describe, expect, it } from 'vitest';
import { Replacements } from './replacements.js';

/** The times of replacements while every channel refuses from its start, in milliseconds. */
function replaced(replacements: Replacements, from: number, until: number): readonly number[] {
  const times: number[] = [];
  let since = from;
  for (let now = from; now <= until; now += 100) {
    if (!replacements.isDue(since, now)) continue;
    times.push(now);
    since = now;
  }
  return times;
}

describe('a channel that only refuses', () => {
  it('is replaced after a second, twice more after half a second, and then less and less often', () => {
    const times = replaced(new Replacements(), 0, 60_000);
    expect(times).toEqual([1_000, 1_500, 2_000, 3_000, 5_000, 9_000, 17_000, 33_000, 49_000]);
  });

  it('is replaced as soon again when the next leader dies 20 s later', () => {
    const replacements = new Replacements();
    for (const death of [0, 20_000, 40_000, 60_000]) {
      expect(replaced(replacements, death, death + 2_500)).toEqual([death + 1_000, death + 1_500, death + 2_000]);
    }
  });

  it('is not replaced more often because messages are taken in between', () => {
    const replacements = new Replacements();
    let count = 0;
    // One message is taken every 1.1 s; nacks come in between.
    for (let since = 0; since < 60_000; since += 1_100) if (replacements.isDue(since, since + 1_000)) count++;
    expect(count).toBeLessThanOrEqual(10);
  });
});
