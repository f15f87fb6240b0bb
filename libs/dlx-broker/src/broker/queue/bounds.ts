import { isBounded, overflowPolicies } from './overflow.js';
import type { QueueSettings } from './arguments.js';

/** Why a queue has more messages than its limits allow. */
export const enum Excess {
  None,
  /** A policy has set a limit that the queue exceeds: the excess is dropped first (rule C14). */
  OfPolicy,
  /** A publish displaced very many messages: these are dropped in turns, and are not delivered any more. */
  OfPublish,
}

/** Whether a queue has limits of its length, and what it does when they are reached (section C of the rules). */
export class Bounds {
  /** Whether there is any limit. */
  isSet = false;
  /** Whether the queue refuses publishes at a limit; otherwise it drops its head. */
  refuses = false;
  /** Why messages are still to be dropped. */
  excess: Excess = Excess.None;

  constructor(settings: QueueSettings) {
    this.#set(settings);
  }

  /** Rule C14: new limits take effect before a new overflow policy, so a queue that was drop-head drops messages once more. */
  apply(settings: QueueSettings): void {
    const droppedHead = !this.refuses;
    this.#set(settings);
    if (this.isSet && droppedHead && this.excess === Excess.None) this.excess = Excess.OfPolicy;
  }

  /** Whether a publish displaces messages in its command. While an excess is being dropped in turns, the publish waits for that. */
  get fitsPublishes(): boolean {
    return this.isSet && this.excess === Excess.None;
  }

  get isTooLong(): boolean {
    return this.excess === Excess.OfPublish;
  }

  get refusesPublishes(): boolean {
    return this.isSet && this.refuses;
  }

  get dropsHead(): boolean {
    return this.isSet && (!this.refuses || this.excess !== Excess.None);
  }

  #set(settings: QueueSettings): void {
    this.isSet = isBounded(settings);
    this.refuses = overflowPolicies[settings.overflow].refuses;
  }
}
