import { describe, expect, it } from 'vitest';
import { ManualClock, startOfTime } from './manual-clock.js';

const arrange = (start = 1_000) => {
  const clock = new ManualClock(start);
  const log: string[] = [];
  const tick = (name: string) => () => void log.push(`${name}@${clock.now()}`);
  return { clock, log, tick };
};

describe('a manual clock', () => {
  it('starts at a fixed instant and stands still', () => {
    expect(new ManualClock().now()).toBe(startOfTime);
    expect(new ManualClock(new Date(7)).now()).toBe(7);
    expect(() => new ManualClock(Number.NaN)).toThrow(RangeError);
  });

  it('stops at every wake-up on the way, the earliest first, and ends where it was sent', () => {
    const { clock, log, tick } = arrange();
    clock.wakeAt(1_300, tick('late'));
    clock.wakeAt(1_100, tick('early'));
    clock.wakeAt(1_501, tick('beyond'));
    clock.advance(500);
    expect(log).toEqual(['early@1100', 'late@1300']);
    expect(clock.now()).toBe(1_500);
    clock.advanceTo(1_501);
    expect(log.at(-1)).toBe('beyond@1501');
  });

  it('runs ticks of one instant in the order of the requests', () => {
    const { clock, log, tick } = arrange();
    const first = tick('first');
    clock.wakeAt(1_200, first);
    clock.wakeAt(1_200, tick('second'));
    clock.wakeAt(1_200, first); // asked again: it goes to the end
    clock.advance(200);
    expect(log).toEqual(['second@1200', 'first@1200']);
  });

  it('keeps one request per tick: a later one replaces, undefined withdraws', () => {
    const { clock, log, tick } = arrange();
    const moved = tick('moved');
    const withdrawn = tick('withdrawn');
    clock.wakeAt(1_100, moved);
    clock.wakeAt(1_400, moved);
    clock.wakeAt(1_100, withdrawn);
    clock.wakeAt(undefined, withdrawn);
    expect(clock.nextWakeUp()).toBe(1_400);
    clock.advance(1_000);
    expect(log).toEqual(['moved@1400']);
    expect(clock.nextWakeUp()).toBeUndefined();
  });

  it('runs what a tick asks for on the way, at the same instant too', () => {
    const { clock, log } = arrange();
    let left = 3;
    const again = () => {
      log.push(`again@${clock.now()}`);
      if (--left > 0) clock.wakeAt(left === 2 ? clock.now() : clock.now() + 50, again);
    };
    clock.wakeAt(1_010, again);
    clock.advance(60);
    expect(log).toEqual(['again@1010', 'again@1010', 'again@1060']);
  });

  it('runs a request for the past at the next move and never goes back', () => {
    const { clock, log, tick } = arrange();
    clock.wakeAt(1_000, tick('due'));
    clock.wakeAt(10, tick('overdue'));
    expect(log).toEqual([]);
    clock.advance(0);
    expect(log).toEqual(['due@1000', 'overdue@1000']);
    expect(() => clock.advanceTo(999)).toThrow('time only moves forward');
    expect(() => clock.advanceTo(Number.NaN)).toThrow('time only moves forward');
  });

  it('takes durations as texts and can be stepped', () => {
    const { clock, log, tick } = arrange(0);
    clock.wakeAt(5, tick('a'));
    clock.wakeAt(5, tick('b'));
    expect(clock.step(10)).toBe(true);
    expect(log).toEqual(['a@5']);
    expect(clock.step(10)).toBe(true);
    expect(clock.step(10)).toBe(false);
    expect(clock.now()).toBe(10);
    clock.advance('2m');
    expect(clock.now()).toBe(120_010);
  });

  it('refuses to be moved by a tick, and stays usable after a tick threw', () => {
    const { clock, log, tick } = arrange();
    clock.wakeAt(1_001, () => clock.advance(1));
    expect(() => clock.advance(10)).toThrow('a tick must not move it');
    clock.wakeAt(1_002, tick('fine'));
    clock.advance(10);
    expect(log).toEqual(['fine@1002']);
  });
});
