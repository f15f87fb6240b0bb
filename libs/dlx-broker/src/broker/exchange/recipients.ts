/** From so many on a set is quicker to ask than a list. */
const many = 16;

/** What routers add to: a set will do. */
export interface Into<Destination> {
  add(destination: Destination): unknown;
}

/**
 * Who gets a message, each once, in a list that serves message after message. No `Set`: one that lives long and is emptied
 * often leaves a chain of dead tables, each of which keeps the next one alive until all of the heap is looked through.
 */
export class Recipients<Destination> implements Into<Destination> {
  readonly #list: Destination[] = [];
  #count = 0;
  /** The same, when they are many. */
  #set: Set<Destination> | undefined;

  /** Exactly those that were added; valid until the next change. */
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
    if (this.#count < many ? this.#isListed(destination) : !this.#isNew(destination)) return;
    this.#list[this.#count++] = destination;
  }

  #isListed(destination: Destination): boolean {
    for (let index = 0; index < this.#count; index++) if (this.#list[index] === destination) return true;
    return false;
  }

  /** It is in the set from now on. */
  #isNew(destination: Destination): boolean {
    const set = (this.#set ??= new Set(this.all));
    const before = set.size;
    return set.add(destination).size > before;
  }
}
