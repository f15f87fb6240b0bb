import { describe, expect, it } from 'vitest';
import { refuses } from '../../../../../test/harnesses/refuses.js';
import { planRetry, type RetryPolicy } from './policy.js';

const origin = '@Retry on OrdersController.created';
const plan = (policy: RetryPolicy, random = () => 0.5) => planRetry(policy, { queue: 'orders', origin, random });
const fixed = (delay: number | string, attempts = 3): RetryPolicy => ({ attempts, backoff: { type: 'fixed', delay } });

describe('a retry plan', () => {
  it('waits the same each time when the backoff is fixed, in one wait queue', () => {
    const { delays, delayBefore } = plan(fixed('5s', 1_000_000));
    expect(delays).toEqual([5_000]);
    expect([delayBefore(2), delayBefore(3), delayBefore(1_000_000)]).toEqual([5_000, 5_000, 5_000]);
  });

  it('doubles the wait when the backoff is exponential, up to max', () => {
    const backoff = { type: 'exponential', delay: '200ms', max: '1s' } as const;
    const { delays, delayBefore } = plan({ attempts: 1_000_000, backoff });
    expect(delays).toEqual([200, 400, 800, 1_000]);
    expect([2, 3, 4, 5, 6, 1_000_000].map(delayBefore)).toEqual([200, 400, 800, 1_000, 1_000, 1_000]);
  });

  it('has a wait queue for every delay of a growth whose first waits are rounded to the same', () => {
    const backoff = { type: 'exponential', delay: 4, factor: 1.1 } as const;
    const { delays, only } = plan({ attempts: 9, backoff });
    expect(delays).toEqual([4, 5, 6, 7, 8]);
    expect(only).toBeUndefined();
    const slow = plan({ attempts: 50_000_000, backoff: { type: 'exponential', delay: 1, factor: 1 + 2e-8 } });
    expect(slow.delays).toEqual([1, 2, 3]);
    expect(slow.delayBefore(50_000_000)).toBe(3);
  });

  it('knows no wait before the first attempt nor after the last', () => {
    const { delayBefore } = plan(fixed(10, 2));
    for (const attempt of [0, 1, 3, 1.5, Number.NaN]) expect(() => delayBefore(attempt)).toThrow(RangeError);
  });

  it('needs no wait queue for a single attempt', () => {
    expect(plan(fixed(10, 1)).topology).toMatchObject({ exchanges: [], queues: [{ name: 'orders.parked' }] });
  });

  it('grows by the same each time when the backoff is linear', () => {
    const linear = { type: 'linear', delay: '1s', max: '4s' } as const;
    expect([2, 3, 4, 5, 6].map((attempt) => plan({ attempts: 6, backoff: linear }).delayBefore(attempt))).toEqual([
      1_000, 2_000, 3_000, 4_000, 4_000,
    ]);
    const steeper = { ...linear, increment: 1_500 };
    expect(plan({ attempts: 4, backoff: steeper }).delays).toEqual([1_000, 2_500, 4_000]);
  });

  it('takes options of another type that are undefined, as one that is put together has', () => {
    const backoff = { type: 'fixed', delay: '1s', factor: undefined, increment: undefined, max: undefined };
    expect(plan({ attempts: 2, backoff } as RetryPolicy).delays).toEqual([1_000]);
  });

  it('follows a list, whose last wait repeats', () => {
    const { delays, delayBefore } = plan({ attempts: 6, backoff: ['1s', '5s', 60_000] });
    expect(delays).toEqual([1_000, 5_000, 60_000]);
    expect([2, 3, 4, 5, 6].map((attempt) => delayBefore(attempt))).toEqual([1_000, 5_000, 60_000, 60_000, 60_000]);
    expect(plan({ attempts: 1, backoff: ['1s', '5s'], immediate: 9 }).delays).toEqual([]);
    expect(plan({ attempts: 3, backoff: '2s' }).delays).toEqual([2_000]);
  });

  it('asks a function, and rounds its answer up to steps: a time that a service names is never undercut', () => {
    const asked: unknown[] = [];
    const backoff = (attempt: number, error: unknown): number => {
      asked.push([attempt, error]);
      return attempt * 1_111;
    };
    const { delays, delayBefore } = plan({ attempts: 4, backoff });
    expect(delays).toEqual([]);
    expect([2, 3, 4].map((attempt) => delayBefore(attempt, 'why'))).toEqual([2_500, 4_000, 5_000]);
    expect(asked).toEqual([2, 3, 4].map((attempt) => [attempt, 'why']));
    expect(plan({ attempts: 2, backoff: () => 0 }).delayBefore(2)).toBe(0);
    expect(() => plan({ attempts: 2, backoff: () => 'soon' }).delayBefore(2)).toThrow(/backoff\(2\): 'soon' is not/);
  });

  it('begins with retries that do not wait, and counts the waits from there', () => {
    const { delays, delayBefore } = plan({ attempts: 5, immediate: 2, backoff: { type: 'exponential', delay: 100 } });
    expect(delays).toEqual([100, 200]);
    expect([2, 3, 4, 5].map((attempt) => delayBefore(attempt))).toEqual([0, 0, 100, 200]);
  });

  it('doubles from a second to an hour when nothing is said', () => {
    const { delayBefore } = plan({ attempts: 20 });
    expect([2, 3, 4, 20].map((attempt) => delayBefore(attempt))).toEqual([1_000, 2_000, 4_000, 3_600_000]);
  });

  it.each([
    ['full', [0, 0.25, 0.5, 0.999], [1, 250, 500, 1_000]],
    ['equal', [0, 0.25, 0.5, 0.999], [500, 630, 800, 1_000]],
  ] as const)('draws %s jitter, rounded to steps that all policies share', (jitter, drawn, waits) => {
    const policy = { attempts: 2, backoff: { type: 'fixed', delay: 1_000, jitter } } as const;
    expect(drawn.map((value) => plan(policy, () => value).delayBefore(2))).toEqual(waits);
    expect(plan(policy).delays).toEqual([]);
    expect(plan({ attempts: 2, backoff: { ...policy.backoff, delay: 3_000 } }, () => 0.999).delayBefore(2)).toBe(2_500);
  });

  it('looks at the longest wait only when jitter rounds the others, however many attempts there are', () => {
    const backoff = { type: 'linear', delay: '1s', jitter: 'full' } as const;
    expect(plan({ attempts: 300_000_000, backoff }, () => 1 - 2 ** -53).delayBefore(300_000_000)).toBe(250_000_000_000);
    expect(() => plan({ attempts: 400_000_000, backoff })).toThrow(/before attempt 315360002 is longer than ten years/);
  });

  it('knows which errors are worth another attempt', () => {
    class Invalid extends Error {}
    class Slow {}
    const retries = (policy: Partial<RetryPolicy>, error: unknown, neverRetry: RetryPolicy['neverRetry'] = []) =>
      planRetry({ ...fixed(1), ...policy }, { queue: 'orders', origin, neverRetry }).retries(error);
    expect(retries({}, new Invalid())).toBe(true);
    expect(retries({ neverRetry: Invalid }, new Invalid())).toBe(false);
    expect(retries({ retryOn: [Slow, (error) => error === 'busy'] }, new Slow())).toBe(true);
    expect(retries({ retryOn: [Slow, (error) => error === 'busy'] }, 'busy')).toBe(true);
    expect(retries({ retryOn: [Slow] }, new Invalid())).toBe(false);
    expect(retries({ retryOn: Error, neverRetry: [Invalid] }, new Invalid())).toBe(false);
    expect(retries({}, new Invalid(), Invalid)).toBe(false);
    expect(retries({ neverRetry: [] }, new Invalid(), Invalid)).toBe(true);
  });
});

describe('the topology of a retry plan', () => {
  it('has a fanout exchange and a durable queue per delay, which brings back by the default exchange (rule B5)', () => {
    const { topology } = plan(fixed('5s'));
    expect(topology.exchanges).toMatchObject([{ name: 'wait.5000', type: 'fanout', durable: true, autoDelete: true }]);
    expect(topology.bindings).toMatchObject([
      { source: 'wait.5000', destination: 'wait.5000', destinationType: 'queue', origin },
    ]);
    const wait = topology.queues.find(({ name }) => name === 'wait.5000')!;
    expect(wait).toMatchObject({ durable: true, exclusive: false, autoDelete: false, origin });
    expect([...wait.arguments].map(([name, field]) => [name, field.value])).toEqual([
      ['x-message-ttl', 5_000],
      ['x-dead-letter-exchange', ''],
      ['x-expires', 3_605_000], // it outlives its last use by an hour and its delay
    ]);
  });

  it('ends in a parking lot that keeps everything', () => {
    expect(plan(fixed(1)).topology.queues.at(-1)).toMatchObject({ name: 'orders.parked', durable: true });
    const named = plan({ ...fixed(1), parkingLot: 'hospital' });
    expect(named.parkingLot).toBe('hospital');
    expect(named.topology.queues.at(-1)!.arguments.size).toBe(0);
  });

  it('can be of quorum queues that dead-letter at least once (rule M1)', () => {
    const { topology } = planRetry(fixed(1_000), { queue: 'orders', origin, waitQueueType: 'quorum' });
    const args = topology.queues.map((queue) => [...queue.arguments.keys()].sort());
    const waiting = ['x-dead-letter-exchange', 'x-dead-letter-strategy', 'x-message-ttl', 'x-overflow', 'x-queue-type'];
    expect(args).toEqual([...topology.exchanges.map(() => waiting), ['x-delivery-limit', 'x-queue-type']]);
    expect(topology.exchanges.map(({ name, autoDelete }) => [name, autoDelete])).toEqual(
      [1, 5, 15, 60, 300, 900, 3600, 21_600, 86_400].map((seconds) => [`wait.keep.${seconds}000`, false]),
    );
  });
});

describe('an impossible policy is refused', () => {
  const exponential = { type: 'exponential', delay: '1s' } as const;
  const attempt = (policy: unknown): void => {
    try {
      plan(policy as RetryPolicy);
    } catch (error) {
      expect((error as Error).message).toMatch(/^@Retry on OrdersController\.created: /);
      throw error;
    }
  };
  refuses(attempt, [
    [fixed(1, 0), /attempts is 0; write a whole number/],
    [fixed(1, 1.5), /attempts is 1\.5/],
    [{ ...fixed(1), attempts: '3' }, /attempts: '3' is a string; write the number 3$/],
    [{ ...fixed(1), attempts: '0' }, /attempts is '0'; write a whole number from 1 up/],
    [fixed(1, Infinity), /attempts is Infinity/],
    [fixed(0), /backoff\.delay is 0; write at least 1 ms/],
    [fixed(-5), /backoff\.delay: -5 is negative/],
    [fixed('soon'), /backoff\.delay: 'soon' is not a duration/],
    [fixed(315_360_000_001), /longer than ten years/], // rule B1
    [{ attempts: 60, backoff: exponential }, /before attempt 31 .* write backoff\.max/],
    [{ attempts: 2, backoff: { ...exponential, max: 999 } }, /max \(999 ms\) is below .* \(1000 ms\)/],
    [{ attempts: 2, backoff: { type: 'cubic', delay: 1 } }, /backoff\.type is 'cubic'; write/],
    [{ attempts: 2, backoff: { ...exponential, jitter: 0.2 } }, /jitter is 0\.2; write 'full'/],
    [{ attempts: 2, backoff: { ...exponential, factor: 1 } }, /factor is 1; write/],
    [
      { attempts: 2, backoff: { ...exponential, increment: '1s' } },
      /increment has no effect on type 'exponential'; write type: 'linear', or leave/,
    ],
    [
      { attempts: 2, backoff: { ...exponential, type: 'linear', factor: 3 } },
      /factor has no effect on type 'linear'; write type: 'exponential', or leave/,
    ],
    [
      { attempts: 2, backoff: { type: 'fixed', delay: '1s', factor: 3, max: '5s' } },
      /factor has no effect on type 'fixed'; write type: 'exponential', or leave/,
    ],
    [
      { attempts: 2, backoff: { type: 'fixed', delay: '1s', max: '5s' } },
      /max has no effect on type 'fixed'; write type: 'linear' or type: 'exponential', or/,
    ],
    [{ attempts: 2, backoff: [] }, /backoff is an empty list/],
    [
      { attempts: 2, backoff: ['1s', '5s', '1m', '5m'] },
      /4 waits, and attempts: 2 allows 1 retry .*; write attempts: 5, or leave the last 3/,
    ],
    [
      { attempts: 4, immediate: 1, backoff: ['1s', '5s', '1m'] },
      /3 waits, and .* allow 2 retries with a wait; write attempts: 5, or leave the last 1 out$/,
    ],
    [
      { attempts: 3, immediate: 2, backoff: ['1s'] },
      /1 wait, and attempts: 3 and immediate: 2 allow 0 .*; write attempts: 4, or leave backoff/,
    ],
    [
      { attempts: 2, immediate: 9 },
      /immediate is 9, and attempts: 2 allows 1 retry; write attempts: 10, or immediate: 1$/,
    ],
    [{ attempts: 3, backoff: ['1s', 0] }, /backoff\[1\] is 0/],
    [{ attempts: 80, backoff: { type: 'linear', delay: 1 } }, /more than 64 different delays/],
    [{ attempts: 301, backoff: { type: 'exponential', delay: 1, factor: 1.2 } }, /more than 64 different delays/],
    [{ attempts: 2 ** 40, backoff: { type: 'linear', delay: 1 } }, /more than 64 different delays/],
    [{ ...fixed(1), immediate: -1 }, /immediate is -1/],
    [{ ...fixed(1), timeout: 0 }, /timeout is 0, which nothing can meet/],
    [{ ...fixed('1m'), deadline: '30s' }, /deadline \(30000 ms\) is over before/],
    [{ ...fixed(1), neverRetry: ['Invalid'] }, /neverRetry: 'Invalid' is neither a class/],
    [{ ...fixed(1), tries: 3 }, /'tries' is no option; there are attempts, /],
    [{ ...fixed(1), parkingLot: 'orders' }, /the work queue itself/],
    [{ ...fixed(1), parkingLot: 'wait.5000' }, /the name of a wait queue/],
    [{ ...fixed(1), parkingLot: 'amq.parked' }, /reserved/], // rule O3
    [{ ...fixed(1), parkingLot: '' }, /is empty; name a queue/],
    [{ ...fixed(1), parkingLot: 'é'.repeat(128) }, /longer than 255 bytes/],
  ]);
});
