import { Deque } from '../deque.js';
import { firstWhereNot } from '../queue/position-search.js';
import type { Outstanding } from './outstanding.js';

/**
 * A channel's unsettled deliveries in the order of their tags. A settled delivery stays as a gap until it is at the front, or gaps
 * outnumber the rest. So settling costs the same in any order, and a delivery that is never settled keeps no other one in memory.
 */
export class Unacked {
  #records = new Deque<Outstanding>();
  #gaps = 0;

  get count(): number {
    return this.#records.length - this.#gaps;
  }

  add(record: Outstanding): void {
    this.#records.push(record);
  }

  /** The oldest unsettled one. */
  first(): Outstanding | undefined {
    return this.#records.first();
  }

  /** Removes and returns the delivery with this tag; undefined when it is not outstanding (rule A4). */
  take(tag: number): Outstanding | undefined {
    const record = this.#find(tag);
    if (record === undefined || record.settled) return undefined;
    record.settled = true;
    this.#gaps++;
    this.#trim();
    return record;
  }

  /** The delivery with this tag; undefined when it is not outstanding. */
  get(tag: number): Outstanding | undefined {
    const record = this.#find(tag);
    return record?.settled === false ? record : undefined;
  }

  /** Whether the delivery with this tag is outstanding. */
  has(tag: number): boolean {
    return this.get(tag) !== undefined;
  }

  /** Whether there is an outstanding delivery with this tag or a later one. */
  reaches(tag: number): boolean {
    for (let index = this.#records.length - 1; index >= 0; index--) {
      const record = this.#records.at(index) as Outstanding;
      if (!record.settled) return record.deliveryTag >= tag;
    }
    return false;
  }

  /** Takes records back that {@link take} or {@link takeUpTo} had removed. */
  restore(records: readonly Outstanding[]): void {
    for (const record of records) record.settled = false;
    const all = new Set(records);
    this.#records.each((record) => {
      if (!record.settled) all.add(record);
    });
    this.#records.clear();
    this.#gaps = 0;
    for (const record of [...all].sort((a, b) => a.deliveryTag - b.deliveryTag)) this.#records.push(record);
  }

  /** The number of records up to a tag, settled ones included. @param tag 0 for all */
  reachOf(tag: number): number {
    const records = this.#records;
    if (tag === 0) return records.length;
    return firstWhereNot(0, records.length, (index) => (records.at(index) as Outstanding).deliveryTag <= tag);
  }

  /**
   * Removes the first records and returns them, settled ones included, which the caller skips. Until the caller has settled them,
   * none of them may be given to {@link restore}.
   */
  handOver(places: number): Deque<Outstanding> {
    const records = this.#records.takeFirst(places);
    if (this.#records.length === 0) this.#gaps = 0;
    else if (this.#gaps > 0) records.each(({ settled }) => void (settled && this.#gaps--));
    this.#trim();
    return records;
  }

  /** Removes and returns all up to and including the tag, 0 for all there are, in the order of the tags (rule A3). */
  takeUpTo(tag: number): Outstanding[] {
    const taken: Outstanding[] = [];
    if (tag === 0) {
      this.each((record) => void taken.push(record));
      for (const record of taken) record.settled = true;
      this.#records.clear();
      this.#gaps = 0;
      return taken;
    }
    for (let record = this.#records.first(); record !== undefined; record = this.#records.first()) {
      if (record.deliveryTag > tag) break;
      this.#records.shift();
      if (record.settled) {
        this.#gaps--;
      } else {
        record.settled = true;
        taken.push(record);
      }
    }
    this.#trim();
    return taken;
  }

  /** From the oldest to the newest, without changing anything. */
  each(visit: (record: Outstanding) => void): void {
    this.#records.each((record) => {
      if (!record.settled) visit(record);
    });
  }

  #find(tag: number): Outstanding | undefined {
    const first = this.#records.first();
    if (first === undefined || tag < first.deliveryTag) return undefined;
    // Tags are consecutive unless there were no-ack deliveries or gaps were cleared: then the first guess finds the record.
    const guess = this.#records.at(tag - first.deliveryTag);
    if (guess?.deliveryTag === tag) return guess;
    let low = 0;
    let high = this.#records.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const record = this.#records.at(middle) as Outstanding;
      if (record.deliveryTag === tag) return record;
      if (record.deliveryTag < tag) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }

  #trim(): void {
    for (let first = this.#records.first(); first?.settled; first = this.#records.first()) {
      this.#records.shift();
      this.#gaps--;
    }
    if (this.#gaps > 64 && this.#gaps > this.count) {
      this.#records.filter((record) => !record.settled);
      this.#gaps = 0;
    }
  }
}
