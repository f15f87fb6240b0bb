import { isBounded, overflowPolicies } from './overflow.js';
import type { QueueSettings } from './arguments.js';

/** Whether a queue has limits of its length, and what it does when they are reached (section C of the rules). */
export class Bounds {
  /** Whether there is any limit. */
  isSet: boolean;
  /** Whether the queue refuses publishes at a limit; otherwise it drops its head. */
  refuses: boolean;
  /** A policy has set a limit that the queue exceeds: the excess is dropped first (rule C14). */
  isShortening = false;
  /**
   * A message displaced very many, which are dropped in turns and are not delivered any more. {@link isShortening} is
   * true as well.
   */
  isTooLong = false;

  constructor(settings: QueueSettings) {
    this.isSet = isBounded(settings);
    this.refuses = overflowPolicies[settings.overflow].refuses;
  }

  /** Rule C14: the length takes effect before the overflow, so what was drop-head drops once more. */
  apply(settings: QueueSettings): void {
    const droppedHead = !this.refuses;
    this.isSet = isBounded(settings);
    this.refuses = overflowPolicies[settings.overflow].refuses;
    if (this.isSet && droppedHead) this.isShortening = true;
  }

  get refusesPublishes(): boolean {
    return this.isSet && this.refuses;
  }

  get dropsHead(): boolean {
    return this.isSet && (!this.refuses || this.isShortening);
  }
}
