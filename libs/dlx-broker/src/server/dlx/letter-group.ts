import type { Entry } from '../../engine/broker/index.js';
import type { Message } from '../../engine/message/index.js';
import { timeOf } from './letter-facts.js';
import { idOf } from './message-json.js';

/** The largest number of groups in an answer. Messages of further groups are counted together. */
export const mostGroups = 1_000;

/** Messages that have something in common. */
export interface LetterGroup {
  count: number;
  /** The id of the first message of the group. */
  readonly example: string;
  oldest: number | undefined;
  newest: number | undefined;
}

/** A group of one message. */
export function groupOf(entry: Entry): LetterGroup {
  const time = timeOf(entry.message);
  return { count: 1, example: idOf(entry), oldest: time, newest: time };
}

/** Adds a message to a group. */
export function addTo(known: LetterGroup, message: Message): void {
  known.count++;
  const time = timeOf(message);
  if (time === undefined) return;
  if (known.oldest === undefined || time < known.oldest) known.oldest = time;
  if (known.newest === undefined || time > known.newest) known.newest = time;
}

/** A group as JSON; times are milliseconds since 1970. */
export const groupToJson = ({ count, example, oldest, newest }: LetterGroup): object => ({
  count,
  example_id: example,
  oldest: oldest ?? null,
  newest: newest ?? null,
});
