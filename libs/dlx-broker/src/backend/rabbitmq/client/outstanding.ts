import type { Sendable } from './api.js';

/** A publish that the server has not confirmed. */
export interface Outstanding extends Sendable {
  /** True if it replaces a delivery (rule K14). */
  readonly isReplacing?: boolean;
}

const smallest = 64;

/**
 * Outstanding publishes by their delivery tags, which count up from 1. It is a ring buffer, so a confirm allocates and hashes nothing.
 */
export class OutstandingPublishes {
  #ring: (Outstanding | undefined)[] = Array.from({ length: smallest }, () => undefined);
  /** The tag of the oldest outstanding publish, or the next tag if there is none. */
  #oldest = 1;
  #next = 1;
  /** The number of outstanding publishes. */
  count = 0;

  /** The oldest outstanding tag, and the next tag to be used. */
  get range(): readonly [oldest: number, next: number] {
    return [this.#oldest, this.#next];
  }

  add(publish: Outstanding): void {
    if (this.#next - this.#oldest === this.#ring.length) this.#grow();
    this.#ring[this.#next & (this.#ring.length - 1)] = publish;
    this.#next += 1;
    this.count += 1;
  }

  /** The publish of a tag; undefined if it is confirmed. */
  at(tag: number): Outstanding | undefined {
    return tag >= this.#oldest && tag < this.#next ? this.#ring[tag & (this.#ring.length - 1)] : undefined;
  }

  /** True if the tag was used, confirmed or not. */
  isKnown(tag: number): boolean {
    return tag < this.#next;
  }

  take(tag: number): Outstanding | undefined {
    const publish = this.at(tag);
    if (publish === undefined) return undefined;
    this.#ring[tag & (this.#ring.length - 1)] = undefined;
    this.count -= 1;
    while (this.#oldest < this.#next && this.#ring[this.#oldest & (this.#ring.length - 1)] === undefined)
      this.#oldest++;
    return publish;
  }

  /** Doubles the ring, and moves each publish to its new index. */
  #grow(): void {
    const old = this.#ring;
    const ring = Array.from<Outstanding | undefined>({ length: old.length * 2 });
    for (let tag = this.#oldest; tag < this.#next; tag++) {
      ring[tag & (ring.length - 1)] = old[tag & (old.length - 1)];
    }
    this.#ring = ring;
  }
}
