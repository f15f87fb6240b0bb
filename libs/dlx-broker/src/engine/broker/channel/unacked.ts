import { Deque, firstWhereNot } from '../deque.js';
import { Timer, type Timers } from '../scheduler/timers.js';
import type { Outstanding } from './outputs.js';

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

/** How long a delivery may stay unacknowledged by default, in milliseconds (rule Q8). */
export const defaultConsumerTimeout = 1_800_000;

/** The longest time between two checks, in milliseconds. */
const interval = 60_000;
/** The shortest timeout, in milliseconds. */
export const minConsumerTimeout = 1_000;

/** What an ack timeout watches. */
interface AckTimeoutParts {
  readonly timers: Timers;
  readonly unacked: Unacked;
  readonly lastTag: () => number;
  /** How long a delivery may stay unacknowledged, in milliseconds; Infinity for ever. */
  readonly limit: number;
  /** Called when the oldest delivery has reached the limit. */
  readonly timedOut: () => void;
}

/** Watches how long the deliveries of a channel stay unacknowledged (rule Q8). */
export interface AckWatch {
  /** Called before the delivery is added. */
  watch(delivery: Outstanding, now: number): void;
  stop(): void;
}

/**
 * Watches the oldest unacknowledged delivery of a channel. It stores no time for each delivery: once a minute it stores the time with
 * the last delivery tag. So a channel ends within a minute after the limit, and never before it, as in RabbitMQ 3.10.
 */
export class AckTimeout implements AckWatch {
  readonly #timer: Timer;
  #marks: { readonly time: number; readonly tag: number }[] = [];

  constructor(private readonly parts: AckTimeoutParts) {
    this.#timer = new Timer((now) => this.#check(now));
  }

  watch(delivery: Outstanding, now: number): void {
    if (this.parts.unacked.count > 0 || this.#timer.isSet) return;
    this.#marks = [{ time: now, tag: delivery.deliveryTag }];
    this.#setTimer(now, now + this.parts.limit);
  }

  stop(): void {
    this.parts.timers.unset(this.#timer);
  }

  #check(now: number): void {
    const { unacked, lastTag, limit, timedOut } = this.parts;
    const oldest = unacked.first();
    if (oldest === undefined) return;
    const marks = this.#marks;
    if ((marks.at(-1)?.tag ?? 0) < lastTag()) marks.push({ time: now, tag: lastTag() });
    while (marks[0]!.tag < oldest.deliveryTag) marks.shift();
    const end = marks[0]!.time + limit; // the oldest was delivered at the time of this mark or earlier
    if (now >= end) return timedOut();
    this.#setTimer(now, end);
  }

  #setTimer(now: number, end: number): void {
    this.parts.timers.set(this.#timer, Math.min(now + interval, end));
  }
}
