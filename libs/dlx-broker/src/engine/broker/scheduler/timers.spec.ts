import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Timer, Timers } from './timers.js';

describe('timers', () => {
  it('fire in the order of their times, each once, moved and withdrawn as asked', () => {
    const step = fc.record({ timer: fc.nat(19), time: fc.option(fc.nat(1000), { nil: undefined }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const all = new Timers();
        const fired: number[] = [];
        const timers = Array.from({ length: 20 }, (_, index) => new Timer(() => void fired.push(index)));
        const wanted = new Map<number, number>();
        for (const { timer, time } of steps) {
          if (time === undefined) all.unset(timers[timer] as Timer);
          else all.set(timers[timer] as Timer, time);
          if (time === undefined) wanted.delete(timer);
          else wanted.set(timer, time);
          expect(all.next).toBe(wanted.size === 0 ? undefined : Math.min(...wanted.values()));
        }
        while (all.fireNext(500)) continue;
        const due = [...wanted].filter(([, time]) => time <= 500);
        expect(fired.toSorted((a, b) => a - b)).toEqual(due.map(([timer]) => timer).toSorted((a, b) => a - b));
        expect(fired.map((timer) => wanted.get(timer))).toEqual(due.map(([, time]) => time).toSorted((a, b) => a - b));
        expect(timers.filter((timer) => timer.isSet).length).toBe(wanted.size - due.length);
      }),
    );
  });

  it('are due again at once when they set themselves for now', () => {
    const all = new Timers();
    let count = 0;
    const timer = new Timer((now) => {
      if (++count < 3) all.set(timer, now);
    });
    all.set(timer, 10);
    expect(all.fireNext(9)).toBe(false);
    expect(count).toBe(0);
    while (all.fireNext(10)) continue;
    expect(count).toBe(3);
  });
});
