import type { Output } from '../agenda.js';
import type { Channel } from './channel.js';
import type { Connection } from './connection.js';

/**
 * One or more confirms on their way out: everything from one tag to another, acked or nacked (rule K3). They hold also
 * when their channel has met an error since (rule Q9).
 */
class Confirm implements Output {
  constructor(
    readonly channel: Channel,
    readonly from: number,
    public to: number,
    readonly ok: boolean,
  ) {}

  get connection(): Connection {
    return this.channel.connection;
  }

  send(): void {
    this.channel.confirms?.sent(this);
    this.channel.outbox.confirmed(this.to, this.to > this.from, this.ok);
  }
}

/**
 * A channel's publisher confirms. Tags count publishes from 1 (rule K1); neighbours with the same fate that wait to go
 * out together go as one with `multiple`.
 */
export class Confirms {
  #last = 0;
  #open: Confirm | undefined;
  /** Confirmed to the client by `multiple` only when nothing before is still unsettled. */
  #unsettled = new Set<number>();

  constructor(
    readonly channel: Channel,
    readonly output: (output: Output) => void,
  ) {}

  /** Publishes whose fate is not settled yet. */
  get pending(): number {
    return this.#unsettled.size;
  }

  /** The tag of the next publish. */
  next(): number {
    this.#last++;
    this.#unsettled.add(this.#last);
    return this.#last;
  }

  /** A publish met its fate. */
  settle(tag: number, ok: boolean): void {
    this.#unsettled.delete(tag);
    if (ok) {
      this.channel.counters.confirm++;
      this.channel.vhost.counters.confirm++;
    }
    const open = this.#open;
    if (open !== undefined && open.ok === ok && open.to === tag - 1 && this.#isOldest(open.from)) {
      open.to = tag;
      return;
    }
    this.#open = new Confirm(this.channel, tag, tag, ok);
    this.output(this.#open);
  }

  /** Something else goes out now that must not be overtaken: a return comes before its ack (rule K4). */
  close(): void {
    this.#open = undefined;
  }

  sent(confirm: Output): void {
    if (this.#open === confirm) this.#open = undefined;
  }

  #isOldest(from: number): boolean {
    for (const tag of this.#unsettled) return tag > from;
    return true;
  }
}
