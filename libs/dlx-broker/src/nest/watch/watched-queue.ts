import { Alarm, type Measured } from './alarm.js';
import type { DlxAlert, WatchRule } from './alert.js';
import { Arrivals } from './arrivals.js';
import type { ResolvedWatch } from './options.js';

/** What a look found in a queue. What is undefined is unknown. */
export interface Found {
  readonly messages: number | undefined;
  readonly age: Measured | undefined;
  /** Messages that came in so far. */
  readonly arrivals: number | undefined;
}

export const nothingKnown: Found = { messages: undefined, age: undefined, arrivals: undefined };

/** The alerts of one queue. */
export class WatchedQueue {
  /** True when the messages that it had at first were looked at for their fingerprints. */
  isRead = false;
  readonly #alarms = new Map<WatchRule, Alarm>();
  readonly #arrivals = new Arrivals();
  readonly #news: Alarm | undefined;
  #newFingerprints = 0;
  #newest = -Infinity;

  constructor(
    readonly name: string,
    private readonly options: ResolvedWatch,
    private readonly emit: (alert: DlxAlert) => void,
  ) {
    const { clearAfter, newFingerprint } = options;
    for (const rule of ['olderThan', 'atLeast', 'perMinute'] as const) {
      const limit = options[rule];
      if (limit !== undefined) this.#alarms.set(rule, new Alarm(limit, clearAfter));
    }
    // A new fingerprint is a value for one instant. The alert ends when no further one came within `clearAfter`.
    if (newFingerprint) this.#news = new Alarm(1, 0);
  }

  get isRaised(): boolean {
    return this.#news?.isRaised === true || [...this.#alarms.values()].some(({ isRaised }) => isRaised);
  }

  /** Notes how many messages came in before the queue was looked at. */
  begin(arrivals: number, at: number): void {
    this.#arrivals.add(arrivals, at);
  }

  judge({ messages, age, arrivals }: Found, now: number): void {
    this.#judge('olderThan', age, now);
    this.#judge('atLeast', messages === undefined ? undefined : { value: messages }, now);
    this.#judge('perMinute', arrivals === undefined ? undefined : { value: this.#arrivals.add(arrivals, now) }, now);
    if (messages === undefined) return;
    const isQuiet = now < this.#newest || now - this.#newest >= this.options.clearAfter;
    if (isQuiet && this.#news?.judge({ value: 0 }, now) === 'cleared') {
      this.#emit('cleared', 'newFingerprint', this.#newFingerprints, 1, now);
    }
  }

  /** A message with a new fingerprint was parked here. */
  newFingerprint(fingerprint: string, now: number): void {
    this.#newest = now;
    this.#newFingerprints++;
    if (this.#news?.judge({ value: 1 }, now) !== 'raised') return;
    this.#newFingerprints = 1;
    this.#emit('raised', 'newFingerprint', 1, 1, now, { fingerprint });
  }

  #judge(rule: WatchRule, measured: Measured | undefined, now: number): void {
    const alarm = this.#alarms.get(rule);
    const change = alarm?.judge(measured, now);
    if (change !== undefined) this.#emit(change, rule, measured!.value, alarm!.limit, now);
  }

  #emit(
    kind: DlxAlert['kind'],
    rule: WatchRule,
    value: number,
    limit: number,
    at: number,
    more: Pick<DlxAlert, 'fingerprint'> = {},
  ): void {
    this.emit({ kind, rule, queue: this.name, at, value, limit, ...more });
  }
}
