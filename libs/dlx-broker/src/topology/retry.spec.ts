import { describe, expect, it } from 'vitest';
import { DlxConfigurationError } from './configuration-error.js';
import { planRetry, type RetryPolicy } from './retry.js';

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

  it('knows no wait before the first attempt nor after the last', () => {
    const { delayBefore } = plan(fixed(10, 2));
    for (const attempt of [0, 1, 3, 1.5, Number.NaN]) expect(() => delayBefore(attempt)).toThrow(RangeError);
  });

  it('needs no wait queue for a single attempt', () => {
    expect(plan(fixed(10, 1)).topology).toMatchObject({ exchanges: [], queues: [{ name: 'orders.parked' }] });
  });

  it('draws jitter from five fixed steps, so that the queues are the same in every process', () => {
    const policy = { attempts: 3, backoff: { type: 'exponential', delay: 1_000, max: 2_200, jitter: 0.5 } } as const;
    const steps = [500, 750, 1_000, 1_250, 1_500];
    const drawn = [0, 0.2, 0.4, 0.6, 0.999].map((value) => plan(policy, () => value).delayBefore(2));
    expect(drawn).toEqual(steps);
    expect(plan(policy, () => 0.999).delayBefore(3)).toBe(2_200);
    expect(plan(policy).delays).toEqual([...new Set([...steps, 1_000, 1_500, 2_000, 2_200])].sort((a, b) => a - b));
    expect(plan({ attempts: 2, backoff: { type: 'fixed', delay: 1, jitter: 1 } }).delays).toEqual([1, 2]);
  });
});

describe('the topology of a retry plan', () => {
  it('has a fanout exchange and a durable queue per delay, which brings back by the default exchange (rule B5)', () => {
    const { topology } = plan(fixed('5s'));
    expect(topology.exchanges).toMatchObject([{ name: 'wait.5000', type: 'fanout', durable: true, autoDelete: false }]);
    expect(topology.bindings).toMatchObject([
      { source: 'wait.5000', destination: 'wait.5000', destinationType: 'queue', origin },
    ]);
    const wait = topology.queues.find(({ name }) => name === 'wait.5000')!;
    expect(wait).toMatchObject({ durable: true, exclusive: false, autoDelete: false, origin });
    expect([...wait.arguments].map(([name, field]) => [name, field.value])).toEqual([
      ['x-message-ttl', 5_000],
      ['x-dead-letter-exchange', ''],
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
    expect(args).toEqual([
      ['x-dead-letter-exchange', 'x-dead-letter-strategy', 'x-message-ttl', 'x-overflow', 'x-queue-type'],
      ['x-queue-type'],
    ]);
  });
});

describe('an impossible policy is refused', () => {
  const exponential = { type: 'exponential', delay: '1s' } as const;
  it.each<[string, unknown, RegExp]>([
    ['no attempts', fixed(1, 0), /attempts is 0; write a whole number/],
    ['half an attempt', fixed(1, 1.5), /attempts is 1\.5/],
    ['attempts that are no number', { ...fixed(1), attempts: '3' }, /attempts is 3/],
    ['endless attempts', fixed(1, Infinity), /attempts is Infinity/],
    ['no delay', fixed(0), /backoff\.delay is 0; write at least 1 ms/],
    ['a negative delay', fixed(-5), /backoff\.delay: -5 is negative/],
    ['a delay that is none', fixed('soon'), /backoff\.delay: 'soon' is not a duration/],
    ['a delay beyond ten years (rule B1)', fixed(315_360_000_001), /longer than ten years/],
    ['a growth beyond ten years', { attempts: 60, backoff: exponential }, /before attempt 31 .* write backoff\.max/],
    [
      'max below delay',
      { attempts: 2, backoff: { ...exponential, max: 999 } },
      /max \(999 ms\) is below .* \(1000 ms\)/,
    ],
    [
      'a backoff of no type',
      { attempts: 2, backoff: { type: 'linear', delay: 1 } },
      /backoff\.type is 'linear'; write/,
    ],
    ['jitter above 1', { attempts: 2, backoff: { ...exponential, jitter: 2 } }, /jitter is 2; write 'none' or/],
    ['jitter of no number', { attempts: 2, backoff: { ...exponential, jitter: 'full' } }, /jitter is full/],
    [
      'too many delays',
      { attempts: 20, backoff: { ...exponential, jitter: 0.3 } },
      /different delays.* 64 is the most/,
    ],
    ['parking in the work queue', { ...fixed(1), parkingLot: 'orders' }, /the work queue itself/],
    ['parking in a wait queue', { ...fixed(1), parkingLot: 'wait.5000' }, /the name of a wait queue/],
    ['a reserved parking lot (rule O3)', { ...fixed(1), parkingLot: 'amq.parked' }, /reserved/],
    ['a nameless parking lot', { ...fixed(1), parkingLot: '' }, /is empty; name a queue/],
    ['a parking lot of 256 bytes', { ...fixed(1), parkingLot: 'é'.repeat(128) }, /longer than 255 bytes/],
  ])('%s', (_, policy, text) => {
    const attempt = () => plan(policy as RetryPolicy);
    expect(attempt).toThrow(DlxConfigurationError);
    expect(attempt).toThrow(text);
    expect(attempt).toThrow(/^@Retry on OrdersController\.created: /);
  });
});
