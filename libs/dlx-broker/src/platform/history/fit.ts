import { type Field, fieldSize, type FieldTable, isLargerThan, tableSize } from '../../engine/message/index.js';
import { readHistory, writeHistory } from './error-entries.js';
import { errorHeaders, historyHeaders, retryHeaders } from './names.js';

/** The most bytes of the headers of a successor, its own included. The headers of a message have to fit into one frame. */
export const mostHeaderBytes = 65_536;

/** What was left out of headers that were too large. */
export type LeftOutOfHistory =
  'the stack of its error' | 'the history of its errors' | 'the history of its errors and its deaths';

/**
 * Makes headers fit into {@link mostHeaderBytes}: without the stack, and if that is not enough without the history of the errors, from its
 * middle, and at last without that of the deaths. Other headers stay.
 */
export function fit(headers: Map<string, Field>): LeftOutOfHistory | undefined {
  if (!isLargerThan(headers, mostHeaderBytes)) return undefined;
  const hadStack = headers.delete(errorHeaders.stack);
  if (!isLargerThan(headers, mostHeaderBytes)) return 'the stack of its error';
  if (!headers.has(historyHeaders.errors) && !headers.has(retryHeaders.deaths))
    return hadStack ? 'the stack of its error' : undefined;
  const { errors, omitted } = readHistory(headers);
  if (errors.length > 2) {
    const ends = [errors[0]!, errors[errors.length - 1]!];
    writeHistory(headers, { errors: ends, omitted: omitted + errors.length - 2 });
    if (!isLargerThan(headers, mostHeaderBytes)) return 'the history of its errors';
  }
  writeHistory(headers, { errors: [], omitted: 0 });
  if (!isLargerThan(headers, mostHeaderBytes)) return 'the history of its errors';
  return headers.delete(retryHeaders.deaths) ? 'the history of its errors and its deaths' : 'the history of its errors';
}

/** Those headers that still fit when they are added to the headers of a message. */
export function fitting(own: FieldTable | undefined, added: FieldTable): FieldTable {
  const size = own === undefined ? 4 : tableSize(own);
  if (size + addedSize(added) <= mostHeaderBytes) return added;
  const all = new Map<string, Field>(own);
  for (const [name, field] of added) all.set(name, field);
  fit(all);
  const fits = new Map<string, Field>();
  for (const name of added.keys()) {
    const field = all.get(name);
    if (field !== undefined) fits.set(name, field);
  }
  return fits;
}

function addedSize(added: FieldTable): number {
  let size = 0;
  for (const [name, field] of added) size += 1 + name.length + fieldSize(field);
  return size;
}
