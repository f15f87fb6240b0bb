import { dateAt, historyOf } from '../../platform/history/index.js';
import type { DeathEntry, Message } from '../../engine/message/index.js';

/** One entry of `x-death`: all deaths of a message in one queue for one reason (rule H5). */
export interface XDeath extends Omit<DeathEntry, 'time'> {
  /** When it first died there for that reason, to the second; 1970 for a forged time that no date can have. */
  readonly time: Date;
}

export const toXDeath = (death: DeathEntry): XDeath => ({ ...death, time: new Date(dateAt(death.time) ?? 0) });

/** The deaths of a message since it was published or redriven, the latest first: see {@link historyOf}. */
export const readDeaths = (message: Message): readonly XDeath[] => historyOf(message).map(toXDeath);
