import type { FieldTable, Message } from '../../engine/message/index.js';
import { type Field } from '../../engine/message/index.js';
import { notedErrorOf } from './attempts.js';
import { addEntry, entryTexts, readHistory, writeHistory } from './error-entries.js';

/**
 * The header `dlx-errors` with the error that `dlx-error-class` names, if the history lacks it: a consumer in another language,
 * or an older version, wrote the error. Undefined if there is nothing to add.
 * @param attempt the number of the failed attempt
 * @param at milliseconds since 1970
 * @param limit entries at most; 0 adds none
 */
export function notedEntry(message: Message, attempt: number, at: number, limit: number): FieldTable | undefined {
  const error = notedErrorOf(message);
  if (error === undefined || limit === 0) return undefined;
  const history = readHistory(message.own.headers);
  const latest = history.errors.find(({ redrive }) => redrive === undefined);
  const texts = entryTexts(error);
  if (latest?.name === texts.name && latest.message === texts.message) return undefined;
  const headers = new Map<string, Field>();
  writeHistory(headers, addEntry(history, { attempt, at: new Date(at), ...texts }, limit));
  return headers;
}
