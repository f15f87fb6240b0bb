/** The window is as exact as one of its buckets. */
const buckets = 10;

/** Counts how messages ended, within the last part of the time. Older ends are forgotten one bucket at a time. */
export class Window {
  readonly #all = new Float64Array(buckets);
  readonly #failed = new Float64Array(buckets);
  readonly #length: number;
  /** The number of the newest bucket since 1970. */
  #newest = 0;

  /** @param within milliseconds */
  constructor(within: number) {
    this.#length = Math.max(1, within / buckets);
  }

  add(now: number, failed: boolean): void {
    const slot = this.#move(now);
    this.#all[slot]! += 1;
    if (failed) this.#failed[slot]! += 1;
  }

  /** True if at least so many messages ended, and at least this share of them failed. */
  isOver(now: number, atLeast: number, share: number): boolean {
    this.#move(now);
    const all = sum(this.#all);
    return all >= atLeast && sum(this.#failed) >= share * all;
  }

  clear(): void {
    this.#all.fill(0);
    this.#failed.fill(0);
  }

  /** Empties the buckets that became too old. @returns the place of the newest one */
  #move(now: number): number {
    const newest = Math.max(this.#newest, Math.floor(now / this.#length));
    if (newest - this.#newest >= buckets) this.clear();
    else {
      for (let each = this.#newest + 1; each <= newest; each++) {
        this.#all[each % buckets] = 0;
        this.#failed[each % buckets] = 0;
      }
    }
    this.#newest = newest;
    return newest % buckets;
  }
}

function sum(counts: Float64Array): number {
  let total = 0;
  for (const count of counts) total += count;
  return total;
}

/** The most outages that are remembered. */
const most = 100;

/** When a circuit was not closed, so that an outage takes nothing of the deadline of a message. */
export class Outages {
  readonly #ended: (readonly [from: number, to: number])[] = [];
  #from: number | undefined;

  begin(now: number): void {
    this.#from ??= now;
  }

  end(now: number): void {
    if (this.#from === undefined) return;
    this.#ended.push([this.#from, now]);
    if (this.#ended.length > most) this.#ended.shift();
    this.#from = undefined;
  }

  /** The milliseconds of outages since a time. */
  since(time: number, now: number): number {
    let all = this.#from === undefined ? 0 : Math.max(0, now - Math.max(time, this.#from));
    for (const [from, to] of this.#ended) all += Math.max(0, to - Math.max(time, from));
    return all;
  }
}
