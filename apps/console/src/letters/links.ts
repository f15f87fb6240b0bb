import { filterOf, type LetterFilter, writeFilter } from './filter';
import { address, href, navigate } from '../router';

/** The address of the messages of a queue that match a filter. */
export const lettersHref = (vhost: string, queue: string, filter: LetterFilter = {}): string =>
  href(['dead-letters'], writeFilter(new URLSearchParams({ vhost, queue, view: 'messages' }), filter));

/** The address of the groups that match a filter. */
export function groupsHref(place: { vhost?: string; queue?: string }, filter: LetterFilter = {}): string {
  const query = new URLSearchParams();
  if (place.vhost !== undefined) query.set('vhost', place.vhost);
  if (place.queue !== undefined) query.set('queue', place.queue);
  return href(['dead-letters'], writeFilter(query, filter));
}

/** The address of a message. The filter stays in it for the previous and the next message. */
export const letterHref = (vhost: string, queue: string, id: string, filter: LetterFilter = {}): string =>
  href(['dead-letters', vhost, queue, id], writeFilter(new URLSearchParams(), filter));

/** Changes the filter of the present address (an undefined part is removed), and begins at the first page. */
export function changeFilter(change: (filter: LetterFilter) => LetterFilter): void {
  const { segments, query } = address.value;
  const next = writeFilter(query, change(filterOf(query)));
  next.delete('cursor');
  navigate(href(segments, next), { replace: true });
}

/** Changes other parts of the present address, and begins at the first page. An undefined value removes a part. */
export function changePlace(changes: Readonly<Record<string, string | undefined>>): void {
  const { segments, query } = address.value;
  const next = new URLSearchParams(query);
  next.delete('cursor');
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) next.delete(name);
    else next.set(name, value);
  }
  navigate(href(segments, next), { replace: true });
}
