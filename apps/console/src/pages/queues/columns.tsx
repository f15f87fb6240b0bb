import type { QueueRow } from '../../api/types';
import { href } from '../../router';
import { Age, Features, Name, NotProven, Tag, visible } from '../../ui/parts';
import { count, rate } from '../../ui/format';
import { Sparkline } from '../../ui/sparkline';
import type { Column } from '../../ui/table';

/** The columns of the list of queues. `sort` has the server's names. */
export const columnsOf = (withVhost: boolean): readonly Column<QueueRow>[] => [
  { title: 'Name', sort: 'name', cell: (queue) => <NameCell queue={queue} /> },
  ...(withVhost
    ? [{ title: 'Virtual host', sort: 'vhost', minor: true, cell: ({ vhost }: QueueRow) => <Name of={vhost} /> }]
    : []),
  { title: 'Features', minor: true, cell: ({ features }) => <Features of={features} /> },
  {
    title: 'Ready',
    sort: 'messages_ready',
    numeric: true,
    cell: ({ messages_ready }) => <Quantity of={messages_ready} />,
  },
  {
    title: 'Last 5 min',
    minor: true,
    tip: 'Ready messages in the last five minutes',
    cell: ({ name, lengths, dead_letter_queue: isDead }) => (
      <span class={isDead ? 'trend trend-dead' : 'trend'}>
        <Sparkline of={lengths ?? []} label={`Ready messages in ${visible(name)} in the last five minutes`} />
      </span>
    ),
  },
  {
    title: 'Unacked',
    sort: 'messages_unacknowledged',
    numeric: true,
    minor: true,
    tip: 'Delivered messages that consumers have not acknowledged',
    cell: ({ messages_unacknowledged, messages_dlx }) => (
      <>
        <Quantity of={messages_unacknowledged} />
        {messages_dlx > 0 && (
          <small class="held" title="Dead letters that wait until their dead-letter exchange confirms them">
            +{count(messages_dlx)} dead
          </small>
        )}
      </>
    ),
  },
  {
    title: 'Consumers',
    sort: 'consumers',
    numeric: true,
    minor: true,
    cell: ({ consumers }) => <Quantity of={consumers} />,
  },
  {
    title: 'Dead in/s',
    sort: 'dead_in_rate',
    numeric: true,
    minor: true,
    tip: 'Dead letters of other queues that arrive, per second',
    cell: ({ dead_in_rate }) => <Rate of={dead_in_rate} />,
  },
  {
    title: 'Dead out/s',
    sort: 'dead_out_rate',
    numeric: true,
    minor: true,
    tip: 'Messages that die in this queue, per second',
    cell: ({ dead_out_rate }) => <Rate of={dead_out_rate} />,
  },
  {
    title: 'Oldest',
    sort: 'oldest',
    numeric: true,
    tip: 'The time of death of the message at the head of the queue',
    cell: ({ oldest }) => <Age of={oldest} short />,
  },
];

function NameCell({ queue }: { queue: QueueRow }) {
  const { vhost, name, type, state, dead_letter_queue: isDead, dead_letter_proven: isProven } = queue;
  return (
    <span class="queue-name">
      <a href={href(['queues', vhost, name])}>
        <Name of={name} />
      </a>
      {isDead && (
        <a
          class="dead-link"
          href={href(['dead-letters'], { vhost, queue: name })}
          title={`Dead letters in ${visible(name)}`}
        >
          dead letters
          <span class="visually-hidden"> in {visible(name)}</span>
        </a>
      )}
      {isProven === false && <NotProven />}
      {type !== 'classic' && <Tag>{visible(type)}</Tag>}
      {state !== 'running' && state !== 'idle' && (
        <span class="tag tag-warn" title={queue.paused?.reason ? visible(queue.paused.reason) : undefined}>
          {visible(state)}
        </span>
      )}
    </span>
  );
}

const Quantity = ({ of }: { of: number | null }) => (
  <span class={of === 0 || of === null ? 'muted' : undefined}>{count(of)}</span>
);

const Rate = ({ of }: { of: number | null }) =>
  of === 0 || of === null ? <span class="muted">–</span> : <span class="dying">{rate(of)}</span>;
