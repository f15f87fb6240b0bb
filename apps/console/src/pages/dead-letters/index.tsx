import { filterOf } from '../../letters/filter';
import '../../letters/letters.css';
import type { Address } from '../../router';
import './dead-letters.css';
import { GroupList } from './group-list';
import { LetterList } from './letter-list';

/** The page `dead-letters`: groups over all dead-letter queues, or the messages of one queue (`view=messages`). */
export default function DeadLetters({ address: { query } }: { address: Address }) {
  const vhost = query.get('vhost') ?? undefined;
  const queue = query.get('queue') || undefined;
  const filter = filterOf(query);
  if (query.get('view') === 'messages' && vhost !== undefined && queue !== undefined) {
    return <LetterList vhost={vhost} queue={queue} filter={filter} cursor={query.get('cursor') ?? undefined} />;
  }
  return <GroupList vhost={vhost} queue={queue} filter={filter} query={query} />;
}
