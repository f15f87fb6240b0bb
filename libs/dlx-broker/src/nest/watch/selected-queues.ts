import type { Backend } from '../../backend/index.js';
import { matching } from '../queue-matching.js';

/** The most queues that one watch looks at. */
export const mostQueues = 1_000;

/** The queues that a watch looks at. */
export class SelectedQueues {
  readonly #names: readonly string[];
  readonly #patterns: readonly ((name: string) => boolean)[];
  /** Those of the handlers at the last look. */
  #known: ReadonlySet<string> | undefined;

  /**
   * @param asked undefined: the dead-letter queues of the handlers
   * @param ofHandlers those queues
   */
  constructor(
    private readonly asked: readonly (string | RegExp)[] | undefined,
    private readonly ofHandlers: () => ReadonlySet<string>,
  ) {
    const all = asked ?? [];
    this.#names = all.filter((one) => typeof one === 'string');
    this.#patterns = all.filter((one) => one instanceof RegExp).map(matching);
  }

  get hasPatterns(): boolean {
    return this.#patterns.length > 0;
  }

  has(name: string): boolean {
    if (this.asked === undefined) return (this.#known ??= this.ofHandlers()).has(name);
    return this.#names.includes(name) || this.#patterns.some((matches) => matches(name));
  }

  /** @param listed the queues of the broker; undefined if it cannot list them: then patterns select among those of the handlers */
  among(listed: ReadonlySet<string> | undefined): Set<string> {
    if (this.asked === undefined) return new Set((this.#known = this.ofHandlers()));
    const found = new Set(this.#names);
    if (!this.hasPatterns) return found;
    for (const name of listed ?? this.ofHandlers()) {
      if (this.#patterns.some((matches) => matches(name))) found.add(name);
    }
    return found;
  }
}

/**
 * The queues of a broker, asked for when they are needed, and once for each look. Undefined where they cannot be listed.
 * @param ask calls the broker
 */
export function listOnce(
  { listing }: Pick<Backend, 'listing'>,
  ask: (call: () => Promise<readonly string[]>) => Promise<readonly string[]>,
): () => Promise<ReadonlySet<string> | undefined> {
  let names: Promise<ReadonlySet<string>> | undefined;
  return async () => (names ??= listing && ask(() => listing.queueNames()).then((all) => new Set(all)));
}
