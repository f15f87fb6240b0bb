import { describe, expect, it } from 'vitest';
import { settledOf } from '../../bench/soak/figures.js';
import { Ledger } from '../../bench/soak/ledger.js';
import { faultsOf, plotOf, tablesOf } from '../../bench/soak/report.js';
import type { Sample, SoakResult } from '../../bench/soak/run.js';
import { scheduleOf } from '../../bench/soak/schedule.js';

/** A ledger with one confirmed message that a worker has acked. */
function acked(): { readonly ledger: Ledger; readonly message: number } {
  const ledger = new Ledger();
  const message = ledger.publish();
  ledger.confirmed(message);
  ledger.delivered(message);
  ledger.handled(message);
  return { ledger, message };
}

describe('the account of a soak', () => {
  it('has nothing against a message that was confirmed and handled', () => {
    const { ledger, message } = acked();
    ledger.safe([message]);
    expect(ledger.close()).toEqual([]);
    expect(ledger.totals()).toEqual({ published: 1, confirmed: 1, handled: 1, again: 0, unconfirmedLost: 0 });
  });

  it('misses a message that was confirmed and never came', () => {
    const ledger = new Ledger();
    ledger.confirmed(ledger.publish());
    ledger.publish();
    expect(ledger.close()).toEqual(['message 1 was confirmed, and is lost']);
    expect(ledger.totals().unconfirmedLost).toBe(1);
  });

  it('refuses a message that comes again after its ack was safe', () => {
    const { ledger, message } = acked();
    ledger.safe([message]);
    ledger.delivered(message);
    expect(ledger.close()).toEqual(['message 1 came again although its ack was safe']);
  });

  it('refuses a message that comes again although no connection was lost', () => {
    const { ledger, message } = acked();
    ledger.delivered(message);
    ledger.handled(message);
    expect(ledger.close()).toEqual(['message 1 came again although no connection was lost']);
  });

  it('refuses a message that was never published', () => {
    const ledger = new Ledger();
    ledger.delivered(5);
    expect(ledger.close()).toEqual(['message 5 was never published']);
  });

  it('allows one more delivery for an ack whose connection was lost, and wants it handled', () => {
    const { ledger, message } = acked();
    ledger.uncertain([message]);
    ledger.delivered(message);
    expect(ledger.close()).toEqual(['message 1 was confirmed, and is lost']);
    ledger.handled(message);
    expect(ledger.close()).toEqual([]);
    expect(ledger.totals().again).toBe(1);
    ledger.delivered(message);
    expect(ledger.close()).toHaveLength(2);
  });

  it('allows a delivery that is seen before the loss of the connection, and that one to be lost as well', () => {
    const { ledger, message } = acked();
    ledger.delivered(message);
    ledger.uncertain([message]);
    expect(ledger.close()).toEqual(['message 1 was confirmed, and is lost']);
    ledger.delivered(message);
    ledger.handled(message);
    expect(ledger.close()).toEqual([]);
  });

  it('grows with the number of messages', () => {
    const ledger = new Ledger();
    for (let count = 0; count < 70_000; count++) ledger.confirmed(ledger.publish());
    ledger.handled(70_000);
    expect(ledger.close()).toHaveLength(69_999);
  });
});

describe('the schedule of a soak', () => {
  it('is decided by its seed', () => {
    expect(scheduleOf(1, 3_600, 12)).toEqual(scheduleOf(1, 3_600, 12));
    expect(scheduleOf(1, 3_600, 12)).not.toEqual(scheduleOf(2, 3_600, 12));
  });

  it('has every kind of event, in order, and no start of the server in the part that is judged', () => {
    const events = scheduleOf(7, 3_600, 12);
    const times = events.map(({ at }) => at);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    const kinds = (from: number, to: number): string[] =>
      [...new Set(events.filter(({ at }) => at >= from && at < to).map(({ kind }) => kind))].sort();
    expect(kinds(0, 3_600)).toEqual(['kill a client', 'kill the server', 'policy', 'redrive', 'stop the server']);
    expect(kinds(0.4 * 3_600, 0.9 * 3_600)).toEqual(['kill a client', 'policy', 'redrive']);
    expect(events.length).toBeGreaterThan(1_000);
  });
});

/** A soak of an hour with a sample every minute. @param resident bytes of memory at a second */
function resultWith(resident: (time: number) => number, wrong: readonly string[] = []): SoakResult {
  const samples = Array.from({ length: 60 }, (_, index): Sample => {
    const time = index * 60;
    const life = time < 540 ? 3 : time < 3_240 ? 4 : 5;
    const steady = {
      used: 3e7,
      descriptors: 40,
      disk: 5e7,
      delivered: 1,
      deliveredLate: 5,
      confirmed: 2,
      confirmedLate: 9,
    };
    return { time, life, resident: resident(time), handled: 400, ...steady };
  });
  return {
    seconds: 3_600,
    planned: 3_600,
    samples,
    totals: { published: 1_000, confirmed: 990, handled: 995, again: 3, unconfirmedLost: 5 },
    wrong,
    happened: { redrive: 4 },
    starts: [0, 180, 3_240].map((time) => ({ time, took: 400 })),
    connections: 20,
  };
}

describe('the report of a soak', () => {
  it('judges the long life of the server without its warm-up', () => {
    const samples = settledOf(resultWith(() => 1e8));
    expect(samples[0]?.time).toBe(1_440);
    expect(samples.at(-1)?.time).toBe(3_180);
  });

  it('has no fault where all figures are flat', () => {
    expect(faultsOf(resultWith(() => 1e8))).toEqual([]);
  });

  it('names a figure that grows, and every message that is wrong', () => {
    const faults = faultsOf(resultWith((time) => 1e8 + 1e4 * time, ['message 7 was confirmed, and is lost']));
    expect(faults).toEqual([
      'message 7 was confirmed, and is lost',
      'resident (MB) grows: +14.1 % (+14.1 % to +14.1 %)',
    ]);
  });

  it('leaves out what the system does not say', () => {
    const result = resultWith(() => NaN);
    expect(faultsOf(result)).toEqual([]);
    expect(tablesOf(result)).toContain('| memory: resident | MB |  | too few samples |  |');
    expect(plotOf(result, 'x')).not.toContain('NaN');
  });

  it('has a table of figures and one of messages', () => {
    const tables = tablesOf(resultWith(() => 1e8));
    expect(tables).toContain('| memory: resident | MB | 100 | 0.0 % (0.0 % to 0.0 %) | flat |');
    expect(tables).toContain('| never confirmed, and lost with their connection | 5 |');
    expect(tables).toContain('| **wrong: lost, unknown, or again without a reason** | **0** |');
  });
});
