import { refused } from './refused.js';

/** The longest time AMQP knows for a TTL: ten years of 365 days, in milliseconds (rule B1). */
export const longestDuration = 315_360_000_000;

/** Units in which durations are shown, the largest first, in milliseconds. */
const shownUnits = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** A duration in its two largest units, such as `2h 5m`; below a second in milliseconds. */
export function shownDuration(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.max(0, Math.round(milliseconds))}ms`;
  let rest = milliseconds;
  const parts: string[] = [];
  for (const [unit, size] of shownUnits) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count}${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(' ');
}

/**
 * Reads a duration as users write it: a number of milliseconds, or a string with a unit such as `'200ms'`, `'30s'`, `'1h'`.
 * @param value what the user wrote
 * @param origin where it is written, for the error: `retry.backoff.delay of OrdersController.created`
 * @returns whole milliseconds, 0 up to ten years (rule B1)
 * @throws DlxConfigurationError naming origin and value
 */
export function parseDuration(value: string | number, origin: string): number {
  if (typeof value === 'string' && bareNumber.test(value)) {
    const number = value.trim();
    throw refused(value, origin, `has no unit; write ${number} for milliseconds, or a string such as '${number}s'`);
  }
  const milliseconds = typeof value === 'string' ? read(value) : value;
  if (milliseconds === undefined || !Number.isFinite(milliseconds)) {
    throw refused(
      value,
      origin,
      "is not a duration; write milliseconds or a string such as '200ms', '30s', '5m' or '1h'",
    );
  }
  if (milliseconds < 0) throw refused(value, origin, 'is negative; a duration is 0 or more');
  if (!Number.isInteger(milliseconds)) throw refused(value, origin, 'is not a whole number of milliseconds');
  if (milliseconds > longestDuration) throw refused(value, origin, 'is longer than ten years (of 365 days)');
  return milliseconds;
}

/** Like {@link parseDuration}, but refuses what is shorter than `least` milliseconds. */
export function parseDurationFrom(least: number, value: unknown, origin: string): number {
  const milliseconds = parseDuration(value as string | number, origin);
  if (milliseconds < least) throw refused(value, origin, `is less than ${least} ms`);
  return milliseconds;
}

const bareNumber = /^\s*-?\d*\.?\d+\s*$/;

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Milliseconds of each unit. A year has the length of the Julian calendar, so that four of them have their leap day. */
const units: ReadonlyMap<string, number> = new Map(
  (
    [
      [1, 'ms msec msecs millisecond milliseconds'],
      [second, 's sec secs second seconds'],
      [minute, 'm min mins minute minutes'],
      [hour, 'h hr hrs hour hours'],
      [day, 'd day days'],
      [7 * day, 'w week weeks'],
      [365.25 * day, 'y yr yrs year years'],
    ] as const
  ).flatMap(([size, names]) => names.split(' ').map((name) => [name, size])),
);

const withUnit = /^(-?\d*\.?\d+) *([a-z]+)$/i;

/** The longest text that is read: a client may have written it. */
const longestText = 100;

/** Milliseconds of a string with a unit; undefined for a string that is no duration. */
function read(text: string): number | undefined {
  const [, amount, unit = ''] = (text.length <= longestText && withUnit.exec(text)) || [];
  const size = units.get(unit.toLowerCase());
  return size === undefined ? undefined : Number(amount) * size;
}

/**
 * Reads a time limit as users write it: a duration, or false for no limit.
 * @param least the shortest one, in milliseconds
 * @returns milliseconds; Infinity for no limit
 * @throws DlxConfigurationError naming origin and value
 */
export function parseTimeLimit(value: unknown, origin: string, least: number): number {
  if (value === false) return Infinity;
  if (typeof value !== 'number' && typeof value !== 'string') {
    throw refused(value, origin, "is no duration; write milliseconds, a string such as '30m', or false for no limit");
  }
  const milliseconds = parseDuration(value, origin);
  if (milliseconds >= least) return milliseconds;
  throw refused(value, origin, `is less than ${least} ms; write false for no limit`);
}

const byteUnits: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['b', 1],
  ...['k', 'm', 'g', 't'].flatMap((letter, index): [string, number][] => [
    [`${letter}b`, 1_000 ** (index + 1)],
    [`${letter}ib`, 1_024 ** (index + 1)],
  ]),
]);

/**
 * A number of bytes, or one with a unit: `500MB` are 500,000,000, `64MiB` 67,108,864.
 * @returns NaN for a string that is no number of bytes
 */
export function bytesIn(text: string): number {
  const [, number, unit = ''] = /^([0-9]+) ?([A-Za-z]*)$/.exec(text) ?? [];
  const bytes = Number(number) * (byteUnits.get(unit.toLowerCase()) ?? NaN);
  return Number.isSafeInteger(bytes) ? bytes : NaN;
}
