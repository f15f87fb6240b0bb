import type { Sendable } from './api.js';

/** A publish that the server has not confirmed. */
export interface Outstanding extends Sendable {
  /** True if it replaces a delivery (rule K14). */
  readonly isReplacing?: boolean;
}

const smallest = 64;

/** From this length on the ring is emptied before it grows, if few publishes are in it. */
const sparse = 1_024;

/**
 * Outstanding publishes by their delivery tags, which count up from 1. It is a ring buffer, so a confirm allocates and hashes nothing.
 * Publishes that stay unconfirmed while many later ones are confirmed leave the ring, which would grow without end: a quorum queue without
 * a majority confirms nothing, and other queues do.
 */
export class OutstandingPublishes {
  #ring: (Outstanding | undefined)[] = Array.from({ length: smallest }, () => undefined);
  /** The publishes that have left the ring, by their tags, in their order. */
  readonly #stragglers = new Map<number, Outstanding>();
  /** The tag of the oldest publish in the ring, or the next tag if there is none. */
  #oldest = 1;
  #next = 1;
  /** The number of outstanding publishes. */
  count = 0;

  /** The places of the ring. */
  get places(): number {
    return this.#ring.length;
  }

  /** The oldest tag in the ring, and the next tag to be used. */
  get range(): readonly [oldest: number, next: number] {
    return [this.#oldest, this.#next];
  }

  add(publish: Outstanding): void {
    if (this.#next - this.#oldest === this.#ring.length) this.#makeRoom();
    this.#ring[this.#next & (this.#ring.length - 1)] = publish;
    this.#next += 1;
    this.count += 1;
  }

  /** The publish of a tag in the ring; undefined if it is confirmed. */
  at(tag: number): Outstanding | undefined {
    return tag >= this.#oldest && tag < this.#next ? this.#ring[tag & (this.#ring.length - 1)] : undefined;
  }

  take(tag: number): Outstanding | undefined {
    if (tag < this.#oldest) return this.#takeStraggler(tag);
    const publish = this.at(tag);
    if (publish === undefined) return undefined;
    this.#ring[tag & (this.#ring.length - 1)] = undefined;
    this.count -= 1;
    this.#skip();
    return publish;
  }

  /** Takes all publishes up to a tag, in their order. */
  takeTo(last: number, taken: (publish: Outstanding) => void): void {
    for (const tag of this.#stragglers.keys()) this.#takeOne(tag, last, taken);
    for (let tag = this.#oldest; tag <= last; tag++) this.#takeOne(tag, last, taken);
  }

  #takeOne(tag: number, last: number, taken: (publish: Outstanding) => void): void {
    const publish = tag <= last ? this.take(tag) : undefined;
    if (publish !== undefined) taken(publish);
  }

  #takeStraggler(tag: number): Outstanding | undefined {
    const publish = this.#stragglers.get(tag);
    if (publish === undefined) return undefined;
    this.#stragglers.delete(tag);
    this.count -= 1;
    return publish;
  }

  #makeRoom(): void {
    const inRing = this.count - this.#stragglers.size;
    if (this.#ring.length >= sparse && inRing * 4 <= this.#ring.length) this.#empty();
    else this.#grow();
  }

  /** Moves the publishes of the older half out of the ring. */
  #empty(): void {
    const middle = this.#next - this.#ring.length / 2;
    for (let tag = this.#oldest; tag < middle; tag++) {
      const index = tag & (this.#ring.length - 1);
      const publish = this.#ring[index];
      if (publish !== undefined) this.#stragglers.set(tag, publish);
      this.#ring[index] = undefined;
    }
    this.#oldest = middle;
    this.#skip();
  }

  /** Makes the oldest publish in the ring the first. */
  #skip(): void {
    while (this.#oldest < this.#next && this.#ring[this.#oldest & (this.#ring.length - 1)] === undefined)
      this.#oldest++;
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
