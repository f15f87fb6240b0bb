import { describe, expect, it } from 'vitest';
import { Alarm, type Measured } from './alarm.js';

/** The changes of an alert with the limit 10 and a time of 60, measured every 10. */
function changes(...values: readonly (number | Measured | undefined)[]): string[] {
  const alarm = new Alarm(10, 60);
  return values.flatMap((value, look) => {
    const change = alarm.judge(typeof value === 'number' ? { value } : value, look * 10);
    return change === undefined ? [] : [`${change} ${look}`];
  });
}

const times = <T>(count: number, ...values: readonly T[]): T[] => Array.from({ length: count }, () => values).flat();

describe('an alert', () => {
  it('is raised once while the value goes up and down around the limit', () => {
    expect(changes(...times(50, 9, 10, 11))).toEqual(['raised 1']);
    expect(changes(...times(50, 10, 0))).toEqual(['raised 0']);
  });

  it('is cleared when the value was at 80 % of the limit for the time, and no sooner', () => {
    expect(changes(10, ...times(7, 8))).toEqual(['raised 0', 'cleared 7']);
    expect(changes(10, ...times(6, 8), 9, ...times(7, 8))).toEqual(['raised 0', 'cleared 14']);
    expect(changes(10, ...times(100, 9))).toEqual(['raised 0']);
  });

  it('is raised again after it was cleared', () => {
    expect(changes(10, ...times(7, 0), 10)).toEqual(['raised 0', 'cleared 7', 'raised 8']);
  });

  it('is not cleared by what is unknown or seen in part, and then a low value has to last again', () => {
    expect(changes(10, ...times(100, undefined))).toEqual(['raised 0']);
    expect(changes(10, ...times(100, { value: 0, isPart: true }))).toEqual(['raised 0']);
    expect(changes(10, ...times(5, 0), undefined, ...times(7, 0))).toEqual(['raised 0', 'cleared 13']);
  });

  it('is raised by what is seen in part', () => {
    expect(changes({ value: 10, isPart: true })).toEqual(['raised 0']);
  });
});
