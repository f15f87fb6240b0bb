import { setImmediate as soon } from 'node:timers/promises';
import { map, mergeMap, Subscription, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { deadQueue, lettersHarness as arrange } from '../../../../../test/harnesses/letters-harness.js';
import { longstr } from '../../engine/message/index.js';
import { groupByError, groupByReason, tapDeaths } from './passing.js';
import { parkWhen, throttleRedrive } from './settling.js';

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await soon();
};
const failedWith = (name: string) => ({ headers: new Map([['dlx-error-class', longstr(name)]]) });

describe('groupByReason', () => {
  it('tells expired letters from rejected ones, and those that never died', async () => {
    const { letters, clock, die, dieIn, publish } = await arrange();
    die('r');
    dieIn('expiring', 'e');
    clock.advance(50);
    publish('n', {}, { exchange: '', routingKey: deadQueue });
    const seen: unknown[] = [];
    letters
      .from<string>(deadQueue)
      .pipe(
        groupByReason(),
        mergeMap((group) => group.pipe(map(({ payload }) => [group.key, payload]))),
      )
      .subscribe((pair) => seen.push(pair));
    expect(seen).toEqual([
      ['rejected', 'r'],
      ['expired', 'e'],
      ['', 'n'],
    ]);
  });
});

describe('groupByError', () => {
  it('makes of many failures the few errors they are; groups without a subscriber stay', async () => {
    const { letters, queue, deadWith } = await arrange();
    for (const name of ['Timeout', 'Invalid', 'Timeout', 'Timeout']) deadWith(failedWith(name), Buffer.from(name));
    const counts = new Map<string, number>();
    const groups = new Subscription();
    const subscription = letters
      .from(deadQueue, { prefetch: 1 })
      .pipe(groupByError())
      .subscribe((group) => {
        if (group.key === 'Invalid') return;
        const counting = group.subscribe((letter) => {
          counts.set(group.key, (counts.get(group.key) ?? 0) + 1);
          letter.ack();
        });
        groups.add(counting); // a stream lives as long as one of its groups does
      });
    expect([...counts]).toEqual([['Timeout', 3]]);
    subscription.unsubscribe();
    groups.unsubscribe();
    expect(queue(deadQueue).messages()).toHaveLength(1);
  });
});

describe('parkWhen', () => {
  it('parks what a test says, and lets the rest through', async () => {
    const { letters, queue, die } = await arrange();
    die('keep', 'park', 'keep too');
    const through: unknown[] = [];
    letters
      .from<string>(deadQueue)
      .pipe(
        parkWhen(({ payload }) => payload === 'park'),
        tap((letter) => letter.ack()),
      )
      .subscribe(({ payload }) => through.push(payload));
    await turns();
    expect(through).toEqual(['keep', 'keep too']);
    expect(queue('orders.parked').payloads()).toEqual(['park']);
    expect(queue(deadQueue).unacknowledged).toBe(0);
  });
});

describe('tapDeaths', () => {
  it('shows the deaths, the latest first (rule H7)', async () => {
    const { letters, die } = await arrange();
    die('a');
    const seen: unknown[] = [];
    letters
      .from<string>(deadQueue)
      .pipe(tapDeaths(([death], { payload }) => seen.push([payload, death?.queue, death?.reason])))
      .subscribe();
    expect(seen).toEqual([['a', 'orders', 'rejected']]);
  });
});

describe('throttleRedrive', () => {
  it('redrives no faster than its rate, in order', async () => {
    const { letters, clock, queue, die } = await arrange();
    die('a', 'b', 'c', 'd');
    letters
      .from(deadQueue)
      .pipe(throttleRedrive({ perSecond: 2 }))
      .subscribe();
    const counts: number[] = [];
    for (let half = 0; half < 5; half++) {
      await turns();
      counts.push(queue('orders').ready);
      clock.advance(499);
      await turns();
      counts.push(queue('orders').ready);
      clock.advance(1);
    }
    expect(counts).toEqual([1, 1, 2, 2, 3, 3, 4, 4, 4, 4]);
    expect(queue('orders').payloads()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('gives back what waits when it is unsubscribed, and leaves no timer', async () => {
    const { letters, clock, queue, die } = await arrange();
    die('a', 'b', 'c');
    const subscription = letters
      .from(deadQueue)
      .pipe(throttleRedrive({ perSecond: 1, to: 'hospital' }))
      .subscribe();
    await turns();
    subscription.unsubscribe();
    clock.advance(10_000);
    await turns();
    expect([queue('hospital').payloads(), queue(deadQueue).payloads()]).toEqual([['a'], ['b', 'c']]);
  });

  it('passes letters that were settled before their turn', async () => {
    const { letters, queue, clock, die } = await arrange();
    die('a', 'b', 'c');
    const seen: unknown[] = [];
    const failures: unknown[] = [];
    const stream = letters.from<string>(deadQueue).pipe(
      tap((letter) => letter.payload === 'b' && letter.ack()),
      throttleRedrive({ perSecond: 10 }),
    );
    const running = stream.subscribe({
      next: ({ payload }) => seen.push(payload),
      error: (error) => failures.push(error),
    });
    for (let step = 0; step < 10; step++) {
      await turns();
      clock.advance(100);
    }
    await turns();
    expect([seen, failures]).toEqual([['a', 'b', 'c'], []]);
    expect(queue('orders').payloads()).toEqual(['a', 'c']);
    running.unsubscribe();
  });

  it.each([0, -1, Number.NaN, Infinity])('refuses %d in a second', (perSecond) => {
    expect(() => throttleRedrive({ perSecond })).toThrow(/perSecond is .*; write a number above 0/);
  });
});
