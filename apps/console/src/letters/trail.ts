import type { LetterFilter } from './filter';
import { ofSession } from '../session';
import { loadLetters, type QueueName } from './api';

/** The messages of the list that was shown last, in order, for the previous and the next message of a message. */
interface Trail extends QueueName {
  readonly filter: LetterFilter;
  readonly ids: readonly string[];
  /** Where the list continues; null at its end. */
  readonly cursor: string | null;
}

const trail = ofSession<Trail | undefined>(undefined);

/** Remembers a page of a list. A page that continues the remembered one is added to it. */
export function remember(page: Trail, continues: string | undefined): void {
  const before = trail.peek();
  const isNext = before !== undefined && isSame(before, page) && continues !== undefined && before.cursor === continues;
  trail.value = isNext ? { ...page, ids: [...before.ids, ...page.ids] } : page;
}

/** The ids of the messages before and after a message. */
export interface Neighbours {
  readonly previous: string | undefined;
  readonly next: string | undefined;
}

/** The most pages that are read to find a message whose list was not shown. */
const mostPages = 4;
const pageSize = 500;

/** Finds the neighbours of a message among those that match the filter. Both are undefined if it is not found. */
export async function neighboursOf(
  at: QueueName & { readonly id: string; readonly filter: LetterFilter },
  signal: AbortSignal,
): Promise<Neighbours> {
  const { vhost, queue, id, filter } = at;
  const before = trail.peek();
  const isKnown = before !== undefined && isSame(before, at) && before.ids.includes(id);
  let known: Trail = isKnown ? before : { vhost, queue, filter, ids: [], cursor: '' };
  for (let page = 0; page < mostPages && known.cursor !== null; page++) {
    const index = known.ids.indexOf(id);
    if (index >= 0 && index < known.ids.length - 1) break;
    const cursor = known.cursor === '' ? {} : { cursor: known.cursor };
    const more = await loadLetters({ vhost, queue, filter, ...cursor }, signal, { pageSize, truncate: 0 });
    known = { ...known, ids: [...known.ids, ...more.items.map((item) => item.id)], cursor: more.cursor };
  }
  if (!signal.aborted) trail.value = known;
  const index = known.ids.indexOf(id);
  return { previous: known.ids[index - 1], next: index < 0 ? undefined : known.ids[index + 1] };
}

const isSame = (one: QueueName & { filter: LetterFilter }, other: QueueName & { filter: LetterFilter }): boolean =>
  one.vhost === other.vhost && one.queue === other.queue && JSON.stringify(one.filter) === JSON.stringify(other.filter);
