/** The most fingerprints that a watch remembers. The ones that were seen least recently are forgotten first. */
const mostRemembered = 10_000;

/** The fingerprints that the queues of a watch have had. */
export class KnownFingerprints {
  /** The most recently seen are last. */
  readonly #known = new Set<string>();

  /** Remembers a fingerprint of a queue. @returns true if it is new there */
  add(queue: string, fingerprint: string): boolean {
    const key = `${fingerprint} ${queue}`;
    const isNew = !this.#known.delete(key);
    this.#known.add(key);
    if (this.#known.size > mostRemembered) {
      for (const first of this.#known) {
        this.#known.delete(first);
        break;
      }
    }
    return isNew;
  }
}
