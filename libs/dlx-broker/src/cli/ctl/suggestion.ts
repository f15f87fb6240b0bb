/** The least similarity for a suggestion, between 0 and 1. */
const alike = 0.77;

/** The most similar known word, if any is similar enough. */
export function suggestionFor(typed: string, known: readonly string[]): string | undefined {
  let best: { name: string; likeness: number } | undefined;
  for (const name of known) {
    const likeness = jaro(typed, name);
    if (likeness > (best?.likeness ?? alike)) best = { name, likeness };
  }
  return best?.name;
}

/** The Jaro similarity of two words: counts matching letters at nearby places, and half of the transposed ones against it. */
export function jaro(one: string, other: string): number {
  if (one === other) return 1;
  const reach = Math.max(0, Math.floor(Math.max(one.length, other.length) / 2) - 1);
  const taken = new Set<number>();
  const matches: string[] = [];
  for (let at = 0; at < one.length; at += 1) {
    for (let there = Math.max(0, at - reach); there <= at + reach && there < other.length; there += 1) {
      if (taken.has(there) || other[there] !== one[at]) continue;
      taken.add(there);
      matches.push(one[at] as string);
      break;
    }
  }
  if (matches.length === 0) return 0;
  const theirs = [...taken].sort((a, b) => a - b).map((at) => other[at]);
  const moved = matches.filter((letter, at) => letter !== theirs[at]).length / 2;
  return (matches.length / one.length + matches.length / other.length + (matches.length - moved) / matches.length) / 3;
}
