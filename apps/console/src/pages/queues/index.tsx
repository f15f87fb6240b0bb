import { loadQueues, type QueueQuery } from '../../api/queues';
import { useKeptResource } from '../../api/use-resource';
import { type Address, href } from '../../router';
import { CheckFilter, TextFilter } from '../../ui/filters';
import { PageHead } from '../../ui/parts';
import { QueueTable } from '../../ui/queue-table';
import { Loaded, Notice } from '../../ui/states';
import { useVhosts, VhostChoice } from '../../ui/vhosts';
import { columnsOf } from './columns';
import './queues.css';

/** Milliseconds between two loads of the page that is shown. */
const every = 5_000;

/** All queues: filtered, sorted and paged by the server, so 10,000 queues are as quick as ten. */
export default function Page({ address }: { address: Address }) {
  const query = queryOf(address);
  const vhosts = useVhosts().data ?? [];
  const queues = useKeptResource(`queues ${JSON.stringify(query)}`, (signal) => loadQueues(query, signal), every);
  return (
    <>
      <PageHead title="Queues" />
      <div class="filters" role="search">
        <TextFilter label="Name contains" name="name" value={query.name} />
        <VhostChoice value={query.vhost} names={vhosts} />
        <CheckFilter label="Dead-letter queues only" name="dead" value={query.dead} />
      </div>
      <section class={`card ${queues.isOld ? 'is-old' : ''}`} aria-busy={queues.isOld}>
        <Loaded of={queues} what="the queues" lines={10}>
          {(page) => (
            <QueueTable
              label="Queues"
              page={page}
              columns={columnsOf(query.vhost === '' && vhosts.length > 1)}
              none={<None total={page.total_count} query={query} />}
            />
          )}
        </Loaded>
      </section>
    </>
  );
}

function queryOf({ query }: Address): QueueQuery {
  return {
    vhost: query.get('vhost') ?? '',
    name: query.get('name') ?? '',
    dead: query.get('dead') === 'true',
    sort: query.get('sort') ?? '',
    sort_reverse: query.get('sort_reverse') === 'true',
    page: Math.max(1, Number.parseInt(query.get('page') ?? '1', 10) || 1),
  };
}

function None({ total, query }: { total: number; query: QueueQuery }) {
  if (total === 0 && query.vhost === '') {
    return (
      <Notice title="There are no queues">
        <p>
          Applications declare queues when they connect. <a href={href([])}>Overview</a> shows how to make the first
          ones.
        </p>
      </Notice>
    );
  }
  const filters = [query.name !== '', query.vhost !== '', query.dead].filter(Boolean).length;
  return (
    <Notice title="No queue matches">
      <p>
        {query.dead && query.name === ''
          ? 'No queue gets dead letters here: no dead-letter exchange leads to one.'
          : 'No queue has this text in its name.'}
      </p>
      {filters > 0 && (
        <p>
          <a href={href(['queues'])}>Show all queues</a>
        </p>
      )}
    </Notice>
  );
}
