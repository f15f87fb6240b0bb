import { deathsOf, type DeathEntry, type FieldTable, type Message } from '../message/index.js';

/** One entry of `x-death`: all deaths of a message in one queue for one reason (rule H5). */
export interface XDeath extends Omit<DeathEntry, 'time'> {
  /** When it first died there for that reason, to the second. */
  readonly time: Date;
}

export const toXDeath = (death: DeathEntry): XDeath => ({ ...death, time: new Date(death.time) });

/** The deaths of a message, or those in a table of headers, the latest first (rule H7). */
export const readDeaths = (of: Message | FieldTable | undefined): readonly XDeath[] => deathsOf(of).map(toXDeath);
