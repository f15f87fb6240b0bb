import { wordsOf } from '../../engine/broker/index.js';

/**
 * Whether a routing key fits a binding key of a topic exchange: `*` is exactly one word, `#` any number of words, also
 * none, both anywhere (rule P7).
 */
export function matchesPattern(pattern: string, key: string): boolean {
  if (pattern === key) return true;
  if (!pattern.includes('*') && !pattern.includes('#')) return false;
  return matches(wordsOf(pattern), wordsOf(key));
}

/**
 * Compares word by word of the pattern. `reached[n]` is true if the pattern so far matches the first n words of the key. The time is
 * linear in the product of both lengths.
 */
function matches(pattern: readonly string[], words: readonly string[]): boolean {
  let reached: boolean[] = [true, ...words.map(() => false)];
  for (const part of pattern) {
    const next: boolean[] = [part === '#' && reached[0]!];
    words.forEach((word, index) => {
      if (part === '#') next.push(reached[index + 1]! || next[index]!);
      else next.push(reached[index]! && (part === '*' || part === word));
    });
    reached = next;
  }
  return reached[words.length]!;
}
