/** From this number of recipients on, a set is faster to search than a list. */
const minForSet = 16;

/** Collects the destinations that a router finds, such as a `Set`. */
export interface Into<Destination> {
  add(destination: Destination): unknown;
}

/**
 * The destinations of a message, each once. One list is used for all messages, and not a `Set`: in V8, a long-lived set that
 * is emptied often leaves a chain of obsolete hash tables, which only a full garbage collection frees.
 */
export class Recipients<Destination> implements Into<Destination> {
  readonly #list: Destination[] = [];
  #count = 0;
  /** The recipients as a set; undefined while they are few. */
  #set: Set<Destination> | undefined;

  /** Those that were added; valid until the next change. */
  get all(): readonly Destination[] {
    if (this.#list.length !== this.#count) this.#list.length = this.#count;
    return this.#list;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  clear(): void {
    this.#count = 0;
    this.#set = undefined;
  }

  add(destination: Destination): void {
    if (this.#count < minForSet ? this.#isListed(destination) : !this.#isNew(destination)) return;
    this.#list[this.#count++] = destination;
  }

  #isListed(destination: Destination): boolean {
    for (let index = 0; index < this.#count; index++) if (this.#list[index] === destination) return true;
    return false;
  }

  /** Adds a destination to the set. @returns false when the set had it */
  #isNew(destination: Destination): boolean {
    const set = (this.#set ??= new Set(this.all));
    const before = set.size;
    return set.add(destination).size > before;
  }
}
