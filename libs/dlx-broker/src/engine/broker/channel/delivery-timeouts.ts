import { Timer, type Timers } from '../scheduler/timers.js';
import type { Outstanding } from './outputs.js';
import type { AckWatch } from './unacked.js';

/** What the delivery timeouts of a channel need of it. */
interface DeliveryTimeoutsParts {
  readonly timers: Timers;
  /** Visits the deliveries that are not settled, those included that a transaction is to settle. */
  readonly each: (visit: (delivery: Outstanding) => void) => void;
  /** How long a delivery may stay unacknowledged, in milliseconds; Infinity for ever. */
  readonly limitOf: (delivery: Outstanding) => number;
  /** Called with the deliveries whose time is over, oldest first. */
  readonly timedOut: (deliveries: readonly Outstanding[], now: number) => void;
}

/** Watches each delivery of a channel by itself, as RabbitMQ 4.3 does, and only those of quorum queues (rule Q8). */
export class DeliveryTimeouts implements AckWatch {
  readonly #timer = new Timer((now) => this.#check(now));
  /** When the timer is due. */
  #next = Infinity;

  constructor(private readonly parts: DeliveryTimeoutsParts) {}

  watch(delivery: Outstanding, now: number): void {
    if (delivery.from.declared.type !== 'quorum') return;
    delivery.due = now + this.parts.limitOf(delivery);
    this.#wake(delivery.due);
  }

  stop(): void {
    this.parts.timers.unset(this.#timer);
  }

  #wake(due: number): void {
    if (due >= this.#next) return;
    this.#next = due;
    this.parts.timers.set(this.#timer, due);
  }

  #check(now: number): void {
    const late: Outstanding[] = [];
    let next = Infinity;
    this.parts.each((delivery) => {
      if (delivery.isReleased || delivery.from.deleted) return;
      if (delivery.due <= now) late.push(delivery);
      else next = Math.min(next, delivery.due);
    });
    this.#next = Infinity;
    this.#wake(next);
    if (late.length > 0) this.parts.timedOut(late, now);
  }
}
