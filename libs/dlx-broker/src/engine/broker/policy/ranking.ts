import type { Policy, QueueType } from '../declarations.js';
import type { Matcher } from '../patterns.js';

/** A policy, and what it applies to. */
export interface Ranked {
  readonly policy: Policy;
  readonly matcher: Matcher;
  readonly fits: Readonly<Record<QueueType, boolean>>;
}

/** The highest priority first, and then by name (rule F7). */
export const byRank = ({ policy: one }: Ranked, { policy: other }: Ranked): number =>
  other.priority - one.priority || (one.name < other.name ? -1 : 1);

/**
 * The policies by rank. They are found by the beginnings of names: a policy with the pattern `^orders\.` is looked at only for names that
 * begin with `orders.`, so that many such policies cost a name no more than one.
 */
export class Ranking {
  readonly #byStart = new Map<string, Ranked[]>();
  readonly #lengths: readonly number[];

  constructor(policies: Iterable<Ranked>) {
    for (const ranked of [...policies].sort(byRank)) {
      const start = ranked.matcher.start ?? '';
      if (this.#byStart.get(start)?.push(ranked) === undefined) this.#byStart.set(start, [ranked]);
    }
    this.#lengths = [...new Set([...this.#byStart.keys()].map(({ length }) => length))];
  }

  /** The first policy by rank for which the test is true. The test includes the match of the pattern. */
  first(name: string, test: (ranked: Ranked) => boolean): Ranked | undefined {
    let best: Ranked | undefined;
    for (const length of this.#lengths) {
      if (length > name.length) continue;
      for (const ranked of this.#byStart.get(name.slice(0, length)) ?? []) {
        if (best !== undefined && byRank(best, ranked) < 0) break;
        if (!test(ranked)) continue;
        best = ranked;
        break;
      }
    }
    return best;
  }
}
