import { useState } from 'preact/hooks';
import { loadQueues } from '../../api/queues';
import type { QueueRow } from '../../api/types';
import { useKeptResource } from '../../api/use-resource';
import { type Action, ActionDialog } from '../../letters/action-dialog';
import { NotShown } from '../../letters/not-shown';
import { messages } from '../../letters/words';
import { href } from '../../router';
import { isReadOnly } from '../../session';
import { TextFilter } from '../../ui/filters';
import { count } from '../../ui/format';
import { Name, PageHead, Tag, visible } from '../../ui/parts';
import { QueueTable } from '../../ui/queue-table';
import { Loaded, Notice } from '../../ui/states';
import type { Column } from '../../ui/table';
import { useVhosts, VhostChoice } from '../../ui/vhosts';
import '../queues/queues.css';

/** Milliseconds between two loads. */
const every = 5_000;

/**
 * The page `dead-letters` of a server that shows no messages: its dead-letter queues, and their redrives.
 * @param props.queue only queues with this text in their name
 */
export function DeadLetterQueues(props: { vhost: string; queue: string | undefined; query: URLSearchParams }) {
  const { vhost, query } = props;
  const name = query.get('name') ?? props.queue ?? '';
  const wanted = {
    vhost,
    name,
    dead: true,
    sort: query.get('sort') ?? 'messages_ready',
    sort_reverse: query.has('sort') ? query.get('sort_reverse') === 'true' : true,
    page: Math.max(1, Number.parseInt(query.get('page') ?? '1', 10) || 1),
  };
  const vhosts = useVhosts().data ?? [];
  const queues = useKeptResource(JSON.stringify(wanted), (signal) => loadQueues(wanted, signal), every);
  const [action, setAction] = useState<Action>();
  const redrive = ({ vhost: of, name: queue }: QueueRow): void =>
    setAction({ kind: 'redrive', what: `Messages of ${visible(queue)}`, targets: [{ vhost: of, queue }] });
  return (
    <>
      <PageHead title="Dead letters" sub="The queues that dead letters reach, and the parking lots of handlers" />
      <div class="filters" role="search">
        <TextFilter label="Name contains" name="name" value={name} />
        <VhostChoice value={vhost} names={vhosts} />
      </div>
      <section class={`card ${queues.isOld ? 'is-old' : ''}`} aria-busy={queues.isOld}>
        <Loaded of={queues} what="the dead-letter queues" lines={6}>
          {(page) => (
            <QueueTable
              label="Dead-letter queues"
              page={page}
              columns={columnsOf(vhost === '' && vhosts.length > 1, isReadOnly() ? undefined : redrive)}
              none={<None isFiltered={name !== ''} />}
            />
          )}
        </Loaded>
      </section>
      <NotShown />
      {action !== undefined && (
        <ActionDialog action={action} close={() => setAction(undefined)} done={() => queues.reload()} />
      )}
    </>
  );
}

const columnsOf = (
  withVhost: boolean,
  redrive: ((queue: QueueRow) => void) | undefined,
): readonly Column<QueueRow>[] => [
  {
    title: 'Queue',
    sort: 'name',
    cell: ({ vhost, name, type }) => (
      <span class="queue-name">
        <a href={href(['queues', vhost, name])}>
          <Name of={name} />
        </a>
        {type !== 'classic' && <Tag>{visible(type)}</Tag>}
      </span>
    ),
  },
  ...(withVhost
    ? [{ title: 'Virtual host', sort: 'vhost', minor: true, cell: ({ vhost }: QueueRow) => <Name of={vhost} /> }]
    : []),
  {
    title: 'Messages',
    sort: 'messages_ready',
    numeric: true,
    cell: ({ messages_ready }) => <b class={messages_ready === 0 ? 'muted' : undefined}>{count(messages_ready)}</b>,
  },
  {
    title: 'Unacked',
    sort: 'messages_unacknowledged',
    numeric: true,
    minor: true,
    tip: 'Messages that consumers have, also those of a redrive',
    cell: ({ messages_unacknowledged }) => count(messages_unacknowledged),
  },
  {
    title: 'Consumers',
    sort: 'consumers',
    numeric: true,
    minor: true,
    cell: ({ consumers }) => count(consumers),
  },
  ...(redrive === undefined
    ? []
    : [
        {
          title: 'Actions',
          numeric: true,
          cell: (queue: QueueRow) => (
            <button
              type="button"
              disabled={queue.messages_ready === 0}
              onClick={() => redrive(queue)}
              aria-label={`Redrive ${messages(queue.messages_ready ?? 0)} of ${visible(queue.name)}`}
            >
              Redrive…
            </button>
          ),
        },
      ]),
];

function None({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <Notice title="No dead-letter queue matches">
      <p>
        <a href={href(['dead-letters'])}>Show all dead-letter queues</a>
      </p>
    </Notice>
  ) : (
    <Notice title="No dead-letter queues">
      <p>
        No dead-letter exchange leads to a queue that this user sees. Messages that are rejected or expire are gone.
      </p>
    </Notice>
  );
}
