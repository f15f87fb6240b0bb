import { NEVER, Subject, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { deadQueue, lettersHarness as arrange } from '../../../../../test/harnesses/letters-harness.js';
import { ManualClock } from '../testing/manual-clock.js';
import { DeadLetters } from './dead-letters.js';
import { type Failed, runForever } from './run-forever.js';

const failures = (begin: () => ReturnType<typeof throwError>, pause = 1_000) => {
  const clock = new ManualClock();
  const start = clock.now();
  const told: (Failed & { readonly at: number })[] = [];
  const run = runForever(clock, begin, pause, (_, failed) => told.push({ ...failed, at: clock.now() - start }));
  return { clock, told, run };
};

describe('a pipeline that fails', () => {
  it('begins anew after a pause that doubles, up to a minute', () => {
    const { clock, told } = failures(() => throwError(() => new Error('down')));
    clock.advance(170_000);
    expect(told.map(({ pause }) => pause / 1_000)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    expect(told.map(({ at }) => at / 1_000)).toEqual([0, 1, 3, 7, 15, 31, 63, 123]);
    expect(told.map(({ isNew }) => isNew).filter(Boolean)).toHaveLength(1);
  });

  it('also when its function throws, and tells anew when it fails of something else', () => {
    let round = 0;
    const { clock, told } = failures(() => {
      throw round++ < 2
        ? new Error('down')
        : {
            toString: () => {
              throw new Error('cannot be shown');
            },
          };
    });
    clock.advance(3_000);
    expect(told.map(({ times, isNew }) => [times, isNew])).toEqual([
      [1, true],
      [2, false],
      [3, true],
    ]);
  });

  it('has recovered when it ran for longer than its last pause', () => {
    let running = new Subject<never>();
    const { clock, told } = failures(() => (running = new Subject<never>()));
    for (const ran of [10, 10, 2_000, 4_000]) {
      clock.advance(ran);
      running.error(new Error('down'));
      clock.advance(told.at(-1)!.pause);
    }
    expect(told.map(({ times }) => times)).toEqual([1, 2, 3, 4]);
    clock.advance(8_001);
    running.error(new Error('down'));
    expect(told.at(-1)).toMatchObject({ times: 1, pause: 1_000 });
  });

  it('leaves no timer behind when it is unsubscribed while it rests', () => {
    const { clock, told, run } = failures(() => throwError(() => new Error('down')));
    run.unsubscribe();
    expect(clock.nextWakeUp()).toBeUndefined();
    clock.advance(600_000);
    expect(told).toHaveLength(1);
  });
});

describe('DeadLetters.close', () => {
  it('ends what runs, gives back what is in hand, and lets nothing begin', async () => {
    const { backend, clock, queue, die } = await arrange();
    const letters = new DeadLetters(backend);
    die('one', 'two');
    let begun = 0;
    letters.run(deadQueue, (stream) => (begun++, stream));
    letters.run('orders', () => (begun++, throwError(() => new Error('down'))));
    letters.run('none', () => (begun++, NEVER));
    expect([begun, queue(deadQueue).unacknowledged]).toEqual([3, 2]);
    letters.close();
    expect(queue(deadQueue)).toMatchObject({ ready: 2, unacknowledged: 0, consumers: 0 });
    expect(letters.run(deadQueue, (stream) => (begun++, stream)).closed).toBe(true);
    clock.advance(600_000);
    expect(begun).toBe(3);
    letters.close();
  });
});
