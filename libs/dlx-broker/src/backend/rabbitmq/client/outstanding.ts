import type { Done } from './api.js';
import type { ReturnedError } from './errors.js';

/** A publish that the server has not confirmed. */
export interface Outstanding {
  readonly exchange: string;
  readonly routingKey: string;
  readonly messageId: string | undefined;
  readonly correlationId: string | undefined;
  readonly body: Uint8Array;
  readonly mandatory: boolean;
  readonly done: Done;
  /** It came back; its confirm follows. */
  returned: ReturnedError | undefined;
}

const smallest = 64;

/**
 * Outstanding publishes by their delivery tags, which count up from 1: a ring, so that nothing is made or hashed for a
 * confirm.
 */
export class OutstandingPublishes {
  #ring: (Outstanding | undefined)[] = Array.from({ length: smallest }, () => undefined);
  /** Tag of the oldest that is outstanding, or the next tag. */
  #oldest = 1;
  #next = 1;
  /** Confirmed, behind the oldest. */
  count = 0;

  /** The oldest tag in use, and the one behind the last. */
  get range(): readonly [oldest: number, next: number] {
    return [this.#oldest, this.#next];
  }

  add(publish: Outstanding): void {
    if (this.#next - this.#oldest === this.#ring.length) this.#grow();
    this.#ring[this.#next & (this.#ring.length - 1)] = publish;
    this.#next += 1;
    this.count += 1;
  }

  /** Undefined when it was confirmed. */
  at(tag: number): Outstanding | undefined {
    return tag >= this.#oldest && tag < this.#next ? this.#ring[tag & (this.#ring.length - 1)] : undefined;
  }

  /** Whether a tag was given to a publish at all, confirmed or not. */
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

  /** Twice as many places; each goes where its tag now belongs. */
  #grow(): void {
    const old = this.#ring;
    const ring = Array.from<Outstanding | undefined>({ length: old.length * 2 });
    for (let tag = this.#oldest; tag < this.#next; tag++) {
      ring[tag & (ring.length - 1)] = old[tag & (old.length - 1)];
    }
    this.#ring = ring;
  }
}
