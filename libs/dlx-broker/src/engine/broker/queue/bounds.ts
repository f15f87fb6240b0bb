import type { Message } from '../../message/index.js';
import type { QueueSettings } from './arguments.js';
import type { Ahead, Contents } from './contents.js';
import type { Entry } from './entry.js';
import { isBounded, type LengthLimits, loweredLimits, overflowPolicies } from './overflow.js';
import type { Retained, RetainedLetter } from './retained.js';

/** Why a queue has more messages than its limits allow. */
const enum Excess {
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
  /** The limits above which the queue refuses: lower ones while a quorum queue refuses (rule D7). */
  #limits: LengthLimits;
  #settings: QueueSettings;

  constructor(
    settings: QueueSettings,
    readonly isQuorum: boolean,
    readonly contents: Contents,
    readonly letters: { readonly retained: Retained<RetainedLetter> | undefined },
  ) {
    this.#settings = settings;
    this.#limits = settings;
    this.#set(settings);
  }

  /** Rule C14: in a classic queue new limits take effect before a new overflow policy: one that dropped heads drops messages once more. */
  apply(settings: QueueSettings): void {
    const droppedHead = !this.refuses;
    const isRefusing = this.#limits !== this.#settings;
    this.#set(settings);
    if (isRefusing && this.refusesPublishes) this.#limits = loweredLimits(settings);
    if (!this.isSet || !droppedHead || this.excess !== Excess.None) return;
    if (!this.isQuorum || !this.refuses) this.excess = Excess.OfPolicy;
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

  /** See {@link Queue.wouldRefuse}. A quorum queue takes the message that exceeds its limit, and refuses the next (rule D7). */
  wouldRefuse(message: Message, without: Entry | undefined, ahead: Ahead | undefined): boolean {
    if (!this.refusesPublishes) return false;
    this.observe();
    const count = (ahead?.count ?? 0) + (this.isQuorum ? 0 : 1);
    const bytes = (ahead?.bytes ?? 0) + (this.isQuorum ? 0 : message.size);
    if (without === undefined) return this.#exceeds(count, bytes);
    return this.#exceeds(count - 1, bytes - this.contents.ready.sizeOf(without.message));
  }

  /** Decides whether a quorum queue refuses. Called when its length has passed a minimum or a maximum (rule D7). */
  observe(): void {
    if (!this.isQuorum || !this.refusesPublishes) return;
    const wasRefusing = this.#limits !== this.#settings;
    const refuses = this.#exceeds(0, 0);
    if (refuses !== wasRefusing) this.#limits = refuses ? loweredLimits(this.#settings) : this.#settings;
  }

  #exceeds(count: number, bytes: number): boolean {
    return this.contents.wouldExceed(this.#limits, this.letters.retained, count, bytes);
  }

  #set(settings: QueueSettings): void {
    this.isSet = isBounded(settings);
    this.refuses = overflowPolicies[settings.overflow].refuses;
    this.#settings = settings;
    this.#limits = settings;
  }
}

/** The most steps of dropping in the command whose publish causes the excess; the rest follows in turns. */
const droppedPerCommand = 256;

/** Drops that count as one step of the scheduler, because a drop is less work than a dead letter. */
const dropsPerStep = 16;

/** Drops messages from the head of a queue until it is within its limits (rules C1, C3, C14). */
export class HeadDropping {
  constructor(
    readonly bounds: Bounds,
    readonly contents: Contents,
    readonly drop: (entry: Entry, now: number) => void,
    /** Asks for a call of {@link shorten}. */
    readonly schedule: () => void,
  ) {}

  /** Drops messages after a message was added; very many are dropped in turns. @returns whether any were dropped */
  fit(settings: QueueSettings, now: number): boolean {
    const steps = this.#drop(settings, now, droppedPerCommand);
    if (steps >= droppedPerCommand) {
      this.bounds.excess = Excess.OfPublish;
      this.schedule();
    }
    return steps > 0;
  }

  /** @param limit steps at most @returns steps taken; as many as the limit when there may be more to do */
  shorten(settings: QueueSettings, now: number, limit: number): number {
    const { bounds } = this;
    const steps = this.#drop(settings, now, limit);
    if (steps < limit) bounds.excess = Excess.None;
    return steps;
  }

  #drop(settings: QueueSettings, now: number, limit: number): number {
    if (!this.bounds.dropsHead) return 0;
    const { contents } = this;
    const inStep = settings.deadLetterExchange === undefined ? dropsPerStep : 1;
    const most = limit * inStep;
    let count = 0;
    for (; count < most && contents.exceedsLimit(settings); count++) this.drop(contents.ready.shift() as Entry, now);
    return Math.ceil(count / inStep);
  }
}
