import type { Output } from '../scheduler/scheduler.js';
import type { ChannelContext, ConnectionContext } from './context.js';

/**
 * One or more confirms on their way out: everything from one tag to another, acked or nacked (rule K3). They hold also
 * when their channel has met an error since (rule Q9).
 */
class Confirm implements Output {
  constructor(
    readonly confirms: Confirms,
    readonly from: number,
    public to: number,
    readonly ok: boolean,
  ) {}

  get connection(): ConnectionContext {
    return this.confirms.channel.connection;
  }

  send(): void {
    this.confirms.sent(this);
    this.confirms.channel.outbox.confirmed(this.to, this.to > this.from, this.ok);
  }
}

/** Publishes in a row that wait for the journal together. */
class Waiting {
  /** As the scheduler knows it. */
  readonly waiter: object;
  to: number;

  constructor(
    confirms: Confirms,
    readonly from: number,
  ) {
    this.to = from;
    this.waiter = confirms.channel.scheduler.onDurable((failure) =>
      confirms.settle(this.from, this.to, failure === undefined),
    );
  }
}

/**
 * A channel's publisher confirms. Tags count publishes from 1 (rule K1); neighbours with the same fate that wait to go
 * out together go as one with `multiple`.
 */
export class Confirms {
  #last = 0;
  #open: Confirm | undefined;
  #waiting: Waiting | undefined;
  /** All up to this tag are settled: by `multiple` nothing is confirmed to the client before that. */
  #settled = 0;
  /** Those that are settled although one before them is not. */
  #ahead = new Set<number>();

  constructor(readonly channel: ChannelContext) {}

  /** Publishes whose fate is not settled yet. */
  get pending(): number {
    return this.#last - this.#settled - this.#ahead.size;
  }

  /** The tag of the next publish. */
  next(): number {
    return ++this.#last;
  }

  /** A publish is acked when all changes in the journal are durable, and nacked if they never will be. */
  settleWhenDurable(tag: number): void {
    const waiting = this.#waiting;
    if (waiting?.to === tag - 1 && this.channel.scheduler.joins(waiting.waiter)) waiting.to = tag;
    else this.#waiting = new Waiting(this, tag);
  }

  /** Publishes in a row met their fate. */
  settle(from: number, to: number, ok: boolean): void {
    this.#note(from, to);
    if (ok) {
      const count = to - from + 1;
      this.channel.counters.confirm += count;
      this.channel.vhost.counters.confirm += count;
    }
    const open = this.#open;
    if (open !== undefined && open.ok === ok && open.to === from - 1 && this.#settled >= open.from) {
      open.to = to;
      return;
    }
    this.#open = new Confirm(this, from, to, ok);
    this.channel.scheduler.output(this.#open);
  }

  /** Something else goes out now that must not be overtaken: a return comes before its ack (rule K4). */
  close(): void {
    this.#open = undefined;
  }

  sent(confirm: Output): void {
    if (this.#open === confirm) this.#open = undefined;
  }

  /**
   * Groups are settled in the order in which they wait, so nothing before them is unsettled; a single one may be ahead.
   */
  #note(from: number, to: number): void {
    if (from !== this.#settled + 1) return void this.#ahead.add(from);
    this.#settled = to;
    if (this.#ahead.size === 0) return;
    while (this.#ahead.delete(this.#settled + 1)) this.#settled++;
    // A set that is used for ever leaves a chain of dead tables that keep one another alive.
    if (this.#ahead.size === 0) this.#ahead = new Set();
  }
}
