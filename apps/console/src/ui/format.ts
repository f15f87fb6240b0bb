const counts = new Intl.NumberFormat('en-GB');
const compact = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumFractionDigits: 1 });

/** A whole number with separators: `12,345`; a dash for a number that the server does not have. */
export const count = (value: number | null): string => (value === null ? '–' : counts.format(value));

/** A large number in short: `12.3K`. */
export const shortCount = (value: number): string => (value < 10_000 ? counts.format(value) : compact.format(value));

/** A rate per second: `0`, `0.4`, `12`; a dash for one that the server does not count. */
export function rate(value: number | null): string {
  if (value === null) return '–';
  if (value === 0) return '0';
  return value < 10 ? String(Number(value.toFixed(1)) || '<0.1') : counts.format(Math.round(value));
}

/** Bytes in the largest fitting unit: `1.2 kB`. */
export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let rest = value;
  let unit = 0;
  while (rest >= 1000 && unit < units.length - 1) {
    rest /= 1000;
    unit++;
  }
  return `${unit === 0 ? rest : rest.toFixed(1)} ${units[unit]}`;
}

const steps = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;

/** A span of milliseconds in at most two units: `3 h 20 min`, `250 ms`. */
export function duration(milliseconds: number): string {
  let rest = Math.max(0, Math.round(milliseconds));
  if (rest === 0) return '0 s';
  const parts: string[] = [];
  for (const [unit, size] of steps) {
    if (parts.length === 0 ? rest < size : parts.length === 2 || unit === 'ms') continue;
    const whole = Math.floor(rest / size);
    rest -= whole * size;
    if (whole > 0) parts.push(`${whole} ${unit}`);
    else if (parts.length > 0) break;
  }
  return parts.join(' ');
}

/** How long ago a time was: `3 min ago`. Clocks of server and browser may differ, so a future time is `just now`. */
export function ago(time: number, now = Date.now()): string {
  const span = now - time;
  if (span < 1_500) return 'just now';
  return `${duration(span < 60_000 ? Math.floor(span / 1000) * 1000 : Math.floor(span / 60_000) * 60_000)} ago`;
}

/** How long ago a time was, in its largest unit: `3 h`. */
export function shortAge(time: number, now = Date.now()): string {
  const span = Math.max(1_000, now - time);
  return duration(span).split(' ').slice(0, 2).join(' ');
}

/** A point in time in the local zone, to the second. */
export const dateTime = (time: number): string =>
  new Date(time).toLocaleString('sv-SE', { dateStyle: 'short', timeStyle: 'medium' });
