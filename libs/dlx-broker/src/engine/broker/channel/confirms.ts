import type { Output } from '../scheduler/scheduler.js';
import type { ChannelContext, ConnectionContext } from './context.js';

/**
 * One or more confirms that are about to be sent: all tags from one to another, acked or nacked (rule K3). They are sent even if
 * their channel has failed since (rule Q9).
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

/** Consecutive publishes that wait for the journal together. */
class Waiting {
  /** The waiter of the scheduler. */
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
 * A channel's publisher confirms. Tags count publishes from 1 (rule K1); consecutive tags with the same result that
 * wait to be sent go as one confirm with `multiple`.
 */
export class Confirms {
  #last = 0;
  #open: Confirm | undefined;
  #waiting: Waiting | undefined;
  /** All publishes up to this tag are settled. A confirm with `multiple` covers no tag behind an unsettled one. */
  #settled = 0;
  /** Tags that are settled although an earlier one is not. */
  #ahead = new Set<number>();

  constructor(readonly channel: ChannelContext) {}

  /** Publishes that are neither acked nor nacked yet. */
  get pending(): number {
    return this.#last - this.#settled - this.#ahead.size;
  }

  /** The tag of the next publish. */
  next(): number {
    this.channel.vhost.globals.receivedConfirm++;
    return ++this.#last;
  }

  /** A publish is acked when all changes in the journal are durable, and nacked if they never will be. */
  settleWhenDurable(tag: number): void {
    const waiting = this.#waiting;
    if (waiting?.to === tag - 1 && this.channel.scheduler.joins(waiting.waiter)) waiting.to = tag;
    else this.#waiting = new Waiting(this, tag);
  }

  /** Acks or nacks consecutive publishes. */
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

  /** Called before another output that no later confirm may overtake: a return comes before its ack (rule K4). */
  close(): void {
    this.#open = undefined;
  }

  sent(confirm: Output): void {
    if (this.#open === confirm) this.#open = undefined;
  }

  /**
   * Groups are settled in the order in which they wait, so all tags before a group are settled. A single tag may be settled early.
   */
  #note(from: number, to: number): void {
    if (from !== this.#settled + 1) return void this.#ahead.add(from);
    this.#settled = to;
    if (this.#ahead.size === 0) return;
    while (this.#ahead.delete(this.#settled + 1)) this.#settled++;
    // In V8 a long-lived set leaves obsolete hash tables that only a full garbage collection frees.
    if (this.#ahead.size === 0) this.#ahead = new Set();
  }
}
