import {
  DlxConfigurationError,
  longestDuration,
  notAPromise,
  optionsOf,
  parseDuration,
  refuseUnknown,
  shown,
} from '../../platform/options/index.js';

import { nearestStep, stepUp } from './steps.js';
import { mostWaitQueues } from './wait-queue-names.js';

/** A wait as users write it: milliseconds, or a string such as `'200ms'`. */
export type Wait = number | string;

/**
 * How long to wait before the next attempt: always the same, a list (its last one repeats), a rule that grows, or a
 * function of the attempt to come (2 is the first retry) and the error.
 */
export type BackoffSetting = Wait | readonly Wait[] | Backoff | BackoffFunction;

/** Returns the wait before an attempt, rounded up to steps: never earlier, at most 28 % later; 0 is at once. */
export type BackoffFunction = (attempt: number, error: unknown) => Wait;

export interface Backoff {
  /**
   * `fixed`: always `delay`. `linear`: `delay`, and `increment` more each time. `exponential`: `delay`, and `factor` times
   * as long each time.
   */
  readonly type: 'fixed' | 'linear' | 'exponential';
  readonly delay: Wait;
  /** Of a linear backoff. Default: `delay`. */
  readonly increment?: Wait;
  /** Of an exponential backoff, above 1. Default: 2. */
  readonly factor?: number;
  /** Of a linear or exponential backoff: no wait is longer than this. */
  readonly max?: Wait;
  /**
   * Spreads the waits, so that what failed together does not come back together. `full`: evenly between nothing and the
   * wait; `equal`: between half of it and all of it. Each is then rounded to steps at most 13 % off, because every
   * distinct delay needs a queue of its own. Default: `none`, where every wait is exact.
   */
  readonly jitter?: 'full' | 'equal' | 'none';
}

/** The waits of a policy, calculated once. */
export interface Schedule {
  /** The delays that can occur and are known beforehand, in milliseconds, ascending. */
  readonly exact: readonly number[];
  /** True when delays occur that are not in `exact`, such as random ones. */
  readonly drawn: boolean;
  /**
   * Milliseconds to wait before a retry, 0 for at once.
   * @param retry 1 is the first
   * @throws DlxConfigurationError when a function of the user returns no duration
   */
  before(retry: number, error: unknown, random: () => number): number;
  /**
   * The longest wait that is possible before a retry, in milliseconds.
   * @returns undefined for a function of the user, which may return any wait
   */
  longest(retry: number): number | undefined;
}

const backoffOptions: readonly string[] = [
  'type',
  'delay',
  'increment',
  'factor',
  'max',
  'jitter',
] satisfies readonly (keyof Backoff)[];

const types: readonly unknown[] = ['fixed', 'linear', 'exponential'];
/** The options that only some types have. */
const typesWith = {
  increment: ['linear'],
  factor: ['exponential'],
  max: ['linear', 'exponential'],
} as const satisfies Partial<Record<keyof Backoff, readonly Backoff['type'][]>>;
const jitters: readonly unknown[] = ['full', 'equal', 'none'];

/**
 * @param retries how many retries with a wait there are
 * @param origin where the policy is written, for errors
 * @param option the name of the setting, for errors
 * @throws DlxConfigurationError for impossible waits
 */
export function planWaits(setting: BackoffSetting, retries: number, origin: string, option = 'backoff'): Schedule {
  const place = `${origin}: ${option}`;
  if (typeof setting === 'function') return functionSchedule(setting, place);
  if (typeof setting === 'number' || typeof setting === 'string') {
    return listSchedule([wait(setting, place)], retries, place);
  }
  if (isList(setting)) {
    if (setting.length === 0) throw new DlxConfigurationError(`${place} is an empty list; write one wait`);
    return listSchedule(
      setting.map((each, index) => wait(each, `${place}[${index}]`)),
      retries,
      place,
    );
  }
  return ruleSchedule(setting, retries, place);
}

const isList = (setting: Backoff | readonly Wait[]): setting is readonly Wait[] => Array.isArray(setting);

/** The schedule of a function. Its waits are not known beforehand. */
function functionSchedule(waitBefore: BackoffFunction, place: string): Schedule {
  return {
    exact: [],
    drawn: true,
    before(retry, error) {
      const where = `${place}(${retry + 1})`;
      const delay = parseDuration(notAPromise(waitBefore(retry + 1, error), where), where);
      return delay === 0 ? 0 : Math.min(stepUp(delay), longestDuration);
    },
    longest: () => undefined,
  };
}

function listSchedule(waits: readonly number[], retries: number, place: string): Schedule {
  const used = waits.slice(0, Math.max(0, retries));
  const before = (retry: number): number => waits[Math.min(retry, waits.length) - 1] as number;
  return { exact: bounded(new Set(used), place), drawn: false, before, longest: before };
}

function ruleSchedule(backoff: Backoff, retries: number, place: string): Schedule {
  const remedy = "write '5s', ['1s', '5s'], { type: 'exponential', delay: '1s' } or a function";
  refuseUnknown(optionsOf(backoff, place, remedy), backoffOptions, place);
  const { type, jitter = 'none' } = backoff;
  if (!types.includes(type)) {
    const text = `${place}.type is '${String(type)}'; write 'fixed', 'linear' or 'exponential'`;
    throw new DlxConfigurationError(text);
  }
  if (!jitters.includes(jitter)) {
    const text = `${place}.jitter is ${shown(jitter)}; write 'full', 'equal' or 'none'`;
    throw new DlxConfigurationError(text);
  }
  refuseForeign(backoff, place);
  const base = growth(backoff, place);
  if (jitter === 'none') {
    return { exact: distinctDelays(base, retries, place), drawn: false, before: base, longest: base };
  }
  const tooLong = firstAbove(base, longestDuration, 1, retries);
  if (tooLong !== undefined) within(base(tooLong), tooLong, place);
  const least = jitter === 'equal' ? 0.5 : 0;
  return {
    exact: [],
    drawn: true,
    before(retry, _error, random) {
      const whole = base(retry);
      return nearestStep(Math.max(1, whole * (least + (1 - least) * random())), whole);
    },
    longest: base,
  };
}

/**
 * The delays before the retries, each once. As no delay is below an earlier one, the search skips those that repeat: all after `max`,
 * and the first ones of a slow growth, which are rounded to the same.
 * @param base the delay before a retry
 */
function distinctDelays(base: (retry: number) => number, retries: number, place: string): readonly number[] {
  const exact = new Set<number>();
  let retry = firstAbove(base, 0, 1, retries);
  while (retry !== undefined && exact.size <= mostWaitQueues) {
    const delay = within(base(retry), retry, place);
    exact.add(delay);
    retry = firstAbove(base, delay, retry + 1, retries);
  }
  return bounded(exact, place);
}

/** The first retry, from `first` to `last`, whose delay is above this one; a bisection, as there may be millions of retries. */
function firstAbove(base: (retry: number) => number, delay: number, first: number, last: number): number | undefined {
  if (last < first || base(last) <= delay) return undefined;
  let low = first;
  let high = last;
  while (low < high) {
    const middle = low + Math.floor((high - low) / 2);
    if (base(middle) > delay) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** @throws DlxConfigurationError for an option of another type, which would have no effect */
function refuseForeign(backoff: Backoff, place: string): void {
  for (const option of ['increment', 'factor', 'max'] as const) {
    const allowed: readonly Backoff['type'][] = typesWith[option];
    if (backoff[option] === undefined || allowed.includes(backoff.type)) continue;
    const all = allowed.map((type) => `type: '${type}'`).join(' or ');
    throw new DlxConfigurationError(
      `${place}.${option} has no effect on type '${backoff.type}'; write ${all}, or leave ${option} out`,
    );
  }
}

function growth(backoff: Backoff, place: string): (retry: number) => number {
  const { type, factor = 2 } = backoff;
  const delay = wait(backoff.delay, `${place}.delay`);
  const max = backoff.max === undefined ? Infinity : wait(backoff.max, `${place}.max`);
  if (max < delay) {
    throw new DlxConfigurationError(`${place}.max (${max} ms) is below delay (${delay} ms); raise max or leave it out`);
  }
  if (typeof factor !== 'number' || !(factor > 1) || factor === Infinity) {
    const text = `${place}.factor is ${shown(factor)}; write a number above 1, or type: 'fixed' without factor`;
    throw new DlxConfigurationError(text);
  }
  const increment = backoff.increment === undefined ? delay : wait(backoff.increment, `${place}.increment`);
  const grown: Readonly<Record<Backoff['type'], (retry: number) => number>> = {
    fixed: () => delay,
    linear: (retry) => delay + increment * (retry - 1),
    exponential: (retry) => Math.round(delay * factor ** (retry - 1)),
  };
  return (retry) => Math.min(max, grown[type](retry));
}

function wait(value: Wait, place: string): number {
  const milliseconds = parseDuration(value, place);
  if (milliseconds > 0) return milliseconds;
  throw new DlxConfigurationError(`${place} is 0; write at least 1 ms, or 'immediate' for retries without a wait`);
}

function within(delay: number, retry: number, place: string): number {
  if (delay <= longestDuration) return delay;
  throw new DlxConfigurationError(
    `${place} before attempt ${retry + 1} is longer than ten years; write ${place.split(': ').at(-1)}.max, such as max: '1h'`,
  );
}

function bounded(delays: ReadonlySet<number>, place: string): readonly number[] {
  if (delays.size <= mostWaitQueues) return [...delays].sort((one, other) => one - other);
  throw new DlxConfigurationError(
    `${place} needs more than ${mostWaitQueues} different delays, each a queue of its own; ` +
      `lower attempts or its max, or write jitter: 'equal', whose waits are rounded to few`,
  );
}
