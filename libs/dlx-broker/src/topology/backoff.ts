import { DlxConfigurationError } from './configuration-error.js';
import { longestDuration, parseDuration } from './duration.js';
import { mostWaitQueues } from './wait-queues.js';

/** How long to wait before the next attempt. Durations are milliseconds, or texts such as `'200ms'`. */
export interface Backoff {
  /** `fixed`: always `delay`. `exponential`: `delay`, then twice that, and so on. */
  readonly type: 'fixed' | 'exponential';
  readonly delay: number | string;
  /** No wait is longer than this. */
  readonly max?: number | string;
  /**
   * Spreads the waits, so that what failed together does not come back together: a share between 0 and 1. Each wait is
   * then drawn from five fixed steps, evenly from `delay * (1 - jitter)` to `delay * (1 + jitter)`, never above `max`.
   * Fixed, because every distinct delay is a queue of its own. Default: `none`.
   */
  readonly jitter?: number | 'none';
}

/** The waits of a policy, worked out once. */
export interface Delays {
  /** Every delay that can occur, in milliseconds, ascending. */
  readonly all: readonly number[];
  /** The delay before an attempt (the second is the first that waits), drawn by `random` when there is jitter. */
  before(attempt: number, random: () => number): number;
}

/** Where the five steps of a jitter stand, as shares of it. */
const jitterSteps: readonly number[] = [-1, -0.5, 0, 0.5, 1];

/**
 * @param attempts how many attempts there are, the first included
 * @param origin who asked, for errors
 * @throws DlxConfigurationError for waits that cannot be
 */
export function planDelays(backoff: Backoff, attempts: number, origin: string): Delays {
  const { type } = backoff;
  if (type !== 'fixed' && type !== 'exponential') {
    throw new DlxConfigurationError(`${origin}: backoff.type is '${String(type)}'; write 'fixed' or 'exponential'`);
  }
  const delay = wait(backoff.delay, `${origin}: backoff.delay`);
  const max = backoff.max === undefined ? undefined : wait(backoff.max, `${origin}: backoff.max`);
  if (max !== undefined && max < delay) {
    throw new DlxConfigurationError(
      `${origin}: backoff.max (${max} ms) is below backoff.delay (${delay} ms); raise max or leave it out`,
    );
  }
  const jitter = readJitter(backoff.jitter, origin);
  const base = (attempt: number): number => {
    const grown = type === 'fixed' ? delay : delay * 2 ** (attempt - 2);
    return max === undefined ? grown : Math.min(grown, max);
  };
  const steps = (attempt: number): number[] => {
    if (jitter === 0) return [base(attempt)];
    const spread = jitterSteps.map((share) => Math.max(1, Math.round(base(attempt) * (1 + share * jitter))));
    return max === undefined ? spread : spread.map((step) => Math.min(step, max));
  };

  const all = new Set<number>();
  for (let attempt = 2, last = 0; attempt <= attempts && base(attempt) !== last; attempt++) {
    last = base(attempt); // once it stands still (fixed, or at max) no further delay can come
    for (const step of steps(attempt)) all.add(within(step, attempt, origin));
  }
  if (all.size > mostWaitQueues) {
    throw new DlxConfigurationError(
      `${origin}: backoff needs ${all.size} different delays, each a queue of its own, and ${mostWaitQueues} is the most; ` +
        `lower attempts or backoff.max, or leave jitter out`,
    );
  }
  return {
    all: [...all].sort((a, b) => a - b),
    before: (attempt, random) => pick(steps(attempt), random),
  };
}

function wait(value: number | string, origin: string): number {
  const milliseconds = parseDuration(value, origin);
  if (milliseconds > 0) return milliseconds;
  throw new DlxConfigurationError(`${origin} is 0; write at least 1 ms, or attempts: 1 for no retries`);
}

function within(delay: number, attempt: number, origin: string): number {
  if (delay <= longestDuration) return delay;
  throw new DlxConfigurationError(
    `${origin}: the backoff before attempt ${attempt} is longer than ten years; write backoff.max, such as max: '1h'`,
  );
}

function readJitter(jitter: number | 'none' | undefined, origin: string): number {
  if (jitter === undefined || jitter === 'none') return 0;
  if (typeof jitter === 'number' && jitter >= 0 && jitter <= 1) return jitter;
  throw new DlxConfigurationError(
    `${origin}: backoff.jitter is ${String(jitter)}; write 'none' or a share between 0 and 1, such as 0.2`,
  );
}

function pick(steps: readonly number[], random: () => number): number {
  if (steps.length === 1) return steps[0]!;
  return steps[Math.min(steps.length - 1, Math.max(0, Math.floor(random() * steps.length)))]!;
}
