import { historyOf } from '../history/index.js';
import type { DeathEntry, Message } from '../message/index.js';

/** One entry of `x-death`: all deaths of a message in one queue for one reason (rule H5). */
export interface XDeath extends Omit<DeathEntry, 'time'> {
  /** When it first died there for that reason, to the second. */
  readonly time: Date;
}

export const toXDeath = (death: DeathEntry): XDeath => ({ ...death, time: new Date(death.time) });

/** The deaths of a message since it was published or redriven, the latest first: see {@link historyOf}. */
export const readDeaths = (message: Message): readonly XDeath[] => historyOf(message).map(toXDeath);
