import { deathsOf, type DeathEntry, type FieldTable } from '../message/index.js';

/** One entry of `x-death`: all deaths of a message in one queue for one reason (rule H5). */
export interface XDeath extends Omit<DeathEntry, 'time'> {
  /** When it first died there for that reason, to the second. */
  readonly time: Date;
}

/** The deaths in the headers, the latest first (rule H7). */
export function readDeaths(headers: FieldTable | undefined): readonly XDeath[] {
  return deathsOf(headers).map((death) => ({ ...death, time: new Date(death.time) }));
}
