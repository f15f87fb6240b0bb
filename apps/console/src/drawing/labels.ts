import { duration } from '../ui/format';

/** How messages die in a queue: `rejected, maxlen`, `expired after 30 s`. */
export function deathsText(
  { automatic, delay }: { automatic: readonly string[]; delay: number | null },
  isConsumed: boolean,
): string {
  const reasons = automatic.map((reason) =>
    reason === 'expired' && delay !== null ? `expired after ${duration(delay)}` : reason,
  );
  // A queue whose messages expire, and that has no consumer now, is usually a wait queue: no consumer rejects its messages.
  return (
    delay === null || isConsumed ? ['rejected', ...reasons] : reasons.filter((reason) => reason !== 'maxlen')
  ).join(', ');
}

/** The keys of bindings in short. */
export function keysText(keys: readonly string[]): string {
  const named = keys.filter((key) => key !== '');
  const [first = '', second] = named;
  if (named.length <= 2)
    return [first, second]
      .filter((key) => key !== undefined)
      .map((key) => short(key, 20))
      .join(', ');
  return `${short(first, 20)} +${named.length - 1}`;
}

/** The lines of a label: one for each reason or key. */
export const linesOf = (label: string): readonly string[] => (label === '' ? [] : label.split(', '));

/** A text of at most so many characters; its middle is left out. */
export function short(text: string, most: number): string {
  const characters = [...text];
  if (characters.length <= most) return text;
  const end = Math.floor((most - 1) / 2);
  return `${characters.slice(0, most - 1 - end).join('')}…${characters.slice(-end).join('')}`;
}
