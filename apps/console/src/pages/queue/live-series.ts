import type { LiveEvent, LiveQueue } from '../../api/events';
import { deathReasons } from '../../api/types';

/** Milliseconds of a step of the charts, and how many steps they show: five minutes. */
export const step = 2_000;
const steps = 150;

/** Counters that only grow, of which the charts show rates. */
export const rateNames = ['dead_letters_in', ...deathReasons, 'redriven', 'discarded'] as const;
export type RateName = (typeof rateNames)[number];

type Values = readonly (number | null)[];

/** Lengths of the queue at a time of the server, from before the page was opened. */
export interface PastLength {
  readonly time: number;
  readonly ready: number;
  readonly unacknowledged: number;
}

/** The values of the last five minutes, one for each step; null before the first event. Rates are per second. */
export interface LiveView {
  /** Milliseconds since 1970 by the clock of the browser. */
  readonly times: readonly number[];
  readonly ready: Values;
  readonly unacknowledged: Values;
  readonly rates: Readonly<Record<RateName, Values>>;
  readonly now: LiveQueue | undefined;
  /** True if the queue was deleted. */
  readonly gone: boolean;
}

/** Collects the events of one queue. An event comes when a counter has changed, so between two events the values stay. */
export class LiveSeries {
  readonly #rows = new Map<number, LiveQueue>();
  /** Steps in which the stream began again. What happened before, in the gap, is not of this step alone. */
  readonly #breaks = new Set<number>();
  #past: readonly PastLength[] = [];
  #ahead = 0;
  #last: LiveQueue | undefined;
  #gone = false;

  constructor(
    readonly vhost: string,
    readonly name: string,
  ) {}

  /** @param now milliseconds since 1970 by the clock of the browser, which may differ from the server's */
  take(event: LiveEvent, now: number): void {
    this.#ahead = event.time - now;
    const isThis = (each: { vhost: string; name: string }): boolean =>
      each.vhost === this.vhost && each.name === this.name;
    const row = event.queues.find(isThis);
    if (row !== undefined) {
      const at = Math.floor(event.time / step);
      if (event.kind === 'state' && this.#last !== undefined) this.#breaks.add(at);
      this.#rows.set(at, row);
      this.#last = row;
      this.#gone = false;
    } else if (event.gone.some(isThis)) {
      this.#gone = true;
    }
  }

  /** Gives the lengths of the time before the first event, oldest first. */
  begin(past: readonly PastLength[]): void {
    this.#past = past;
  }

  /** The view at a time. */
  view(now: number): LiveView {
    const end = Math.floor((now + this.#ahead) / step);
    const first = end - steps + 1;
    const rows = this.#until(first, end);
    const rate = (name: RateName): Values =>
      rows.slice(1).map((row, index) => {
        const before = rows[index];
        // The last step is not over yet.
        if (first + index === end || this.#breaks.has(first + index)) return null;
        if (row === undefined || before === undefined) return null;
        return Math.max(0, row[name] - before[name]) / (step / 1000);
      });
    const shown = rows.slice(1);
    return {
      times: shown.map((_, index) => (first + index) * step - this.#ahead),
      ready: shown.map((row, index) => row?.messages_ready ?? this.#before(first + index)?.ready ?? null),
      unacknowledged: shown.map(
        (row, index) => row?.messages_unacknowledged ?? this.#before(first + index)?.unacknowledged ?? null,
      ),
      rates: Object.fromEntries(rateNames.map((name) => [name, rate(name)])) as Record<RateName, Values>,
      now: this.#last,
      gone: this.#gone,
    };
  }

  #before(at: number): PastLength | undefined {
    return this.#past.findLast(({ time }) => time < (at + 1) * step);
  }

  /** The last row before or in each step, with one more step at the beginning. Forgets what is older. */
  #until(first: number, end: number): readonly (LiveQueue | undefined)[] {
    let known: { at: number; row: LiveQueue } | undefined;
    for (const [at, row] of this.#rows) {
      if (at >= first) continue;
      if (known === undefined || at > known.at) known = { at, row };
      this.#rows.delete(at);
      this.#breaks.delete(at);
    }
    if (known !== undefined) this.#rows.set(known.at, known.row);
    let last = known?.row;
    const rows: (LiveQueue | undefined)[] = [last];
    for (let at = first; at <= end; at++) {
      last = this.#rows.get(at) ?? last;
      rows.push(last);
    }
    return rows;
  }
}
