import { shownUnits } from '../../platform/options/index.js';

/** A time of the API (milliseconds since 1970) in UTC; empty if there is none. */
export const when = (time: number | null | undefined): string =>
  time === null || time === undefined
    ? ''
    : new Date(time)
        .toISOString()
        .replace('T', ' ')
        .replace(/\.000Z$|Z$/, '');

/** A string in one line, cut at a length. */
export function oneLine(text: string, length: number): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

/** A duration in its two largest units, such as `2h 5m`; below a second in milliseconds. */
export function duration(milliseconds: number): string {
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
