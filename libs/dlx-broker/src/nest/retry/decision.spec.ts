import { describe, expect, it } from 'vitest';
import { decideRetry, type FailedAttempt } from './decision.js';
import { planRetry, type RetryPolicy } from './policy.js';

const error = new Error('no');
const failed: FailedAttempt = { attempt: 1, error, now: 10_000, failingSince: undefined };
const decide = (policy: Partial<RetryPolicy>, more: Partial<FailedAttempt> = {}, nearest = (delay: number) => delay) =>
  decideRetry(
    planRetry({ attempts: 3, backoff: '1s', ...policy }, { queue: 'orders', origin: 'here' }),
    { ...failed, ...more },
    nearest,
  );

describe('a failed attempt', () => {
  it('is followed by another after the wait for which there is a queue', () => {
    expect(decide({})).toEqual({ kind: 'retry', delay: 1_000 });
    expect(decide({}, {}, () => 1_260)).toEqual({ kind: 'retry', delay: 1_260 });
    expect(decide({ immediate: 1 }, {}, () => 99)).toEqual({ kind: 'retry', delay: 0 });
  });

  it('is the last when attempts or time are used up, or the error is not worth another', () => {
    expect(decide({}, { attempt: 3 })).toEqual({ kind: 'park', why: 'attempts' });
    expect(decide({ neverRetry: Error })).toEqual({ kind: 'park', why: 'error' });
    expect(decide({ deadline: '5s' }, { failingSince: 6_000 })).toEqual({ kind: 'retry', delay: 1_000 });
    expect(decide({ deadline: '5s' }, { failingSince: 5_999 })).toEqual({ kind: 'park', why: 'deadline' });
  });

  it('waits as long as its handler asks, within the attempts and the deadline', () => {
    expect(decide({ retryOn: TypeError, neverRetry: Error }, { asked: 7 })).toEqual({ kind: 'retry', delay: 7 });
    expect(decide({}, { asked: 0, attempt: 3 })).toEqual({ kind: 'park', why: 'attempts' });
    expect(decide({ deadline: '5s' }, { asked: 5_001 })).toEqual({ kind: 'park', why: 'deadline' });
  });

  it('is parked when a function of its policy throws or answers no duration: each failure uses an attempt', () => {
    const fault = new Error('a mistake in the policy');
    const fails = (): never => {
      throw fault;
    };
    expect(decide({ retryOn: fails })).toEqual({ kind: 'park', why: 'policy', fault });
    expect(decide({ neverRetry: [fails] })).toEqual({ kind: 'park', why: 'policy', fault });
    expect(decide({ backoff: fails })).toEqual({ kind: 'park', why: 'policy', fault });
    for (const answer of ['soon', '', -1, NaN, Infinity, undefined, null, {}, Promise.resolve(1)]) {
      expect(decide({ backoff: () => answer as number })).toMatchObject({ kind: 'park', why: 'policy' });
    }
  });

  it('is parked when an error test answers neither true nor false, or later', async () => {
    for (const answer of ['yes', 1, NaN, {}, Promise.resolve(true), Promise.reject(new Error('too late'))]) {
      expect(decide({ retryOn: () => answer as never })).toMatchObject({ kind: 'park', why: 'policy' });
    }
    expect(decide({ backoff: () => Promise.reject(new Error('too late')) as never })).toMatchObject({ why: 'policy' });
    await Promise.resolve(); // a rejection that nothing handles would fail this test
    expect(decide({ retryOn: () => undefined as never })).toEqual({ kind: 'park', why: 'error' });
  });
});
