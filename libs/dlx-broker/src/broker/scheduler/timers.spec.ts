import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Alarm, Wakeups } from './timers.js';

describe('wake-ups', () => {
  it('ring in the order of their times, each once, moved and withdrawn as asked', () => {
    const step = fc.record({ alarm: fc.nat(19), time: fc.option(fc.nat(1000), { nil: undefined }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const wakeups = new Wakeups();
        const rung: number[] = [];
        const alarms = Array.from({ length: 20 }, (_, index) => new Alarm(() => void rung.push(index)));
        const wanted = new Map<number, number>();
        for (const { alarm, time } of steps) {
          if (time === undefined) wakeups.unset(alarms[alarm] as Alarm);
          else wakeups.set(alarms[alarm] as Alarm, time);
          if (time === undefined) wanted.delete(alarm);
          else wanted.set(alarm, time);
          expect(wakeups.next).toBe(wanted.size === 0 ? undefined : Math.min(...wanted.values()));
        }
        while (wakeups.ringNext(500)) continue;
        const due = [...wanted].filter(([, time]) => time <= 500);
        expect(rung.toSorted((a, b) => a - b)).toEqual(due.map(([alarm]) => alarm).toSorted((a, b) => a - b));
        expect(rung.map((alarm) => wanted.get(alarm))).toEqual(due.map(([, time]) => time).toSorted((a, b) => a - b));
        expect(alarms.filter((alarm) => alarm.isSet).length).toBe(wanted.size - due.length);
      }),
    );
  });

  it('are due again at once when they set themselves for now', () => {
    const wakeups = new Wakeups();
    let count = 0;
    const alarm = new Alarm((now) => {
      if (++count < 3) wakeups.set(alarm, now);
    });
    wakeups.set(alarm, 10);
    expect(wakeups.ringNext(9)).toBe(false);
    expect(count).toBe(0);
    while (wakeups.ringNext(10)) continue;
    expect(count).toBe(3);
  });
});
