import type { TopQueue } from '../../api/overview';
import { href } from '../../router';
import { count, rate } from '../../ui/format';
import { Age, Name } from '../../ui/parts';
import { Notice } from '../../ui/states';
import { Table } from '../../ui/table';

/** The dead-letter queues with the most messages, each with a link to its dead letters. */
export function TopQueues({ of, any }: { of: readonly TopQueue[]; any: boolean }) {
  const filled = of.filter(({ messages_ready }) => messages_ready > 0);
  if (filled.length === 0) {
    return any ? (
      <Notice title="No dead letters">
        <p>All dead-letter queues are empty.</p>
      </Notice>
    ) : (
      <Notice title="No dead-letter queues">
        <p>
          No queue has a dead-letter exchange that leads to another queue. Messages that are rejected or expire are
          gone. A policy with <code>dead-letter-exchange</code> changes that, also for existing queues.
        </p>
      </Notice>
    );
  }
  const most = Math.max(...filled.map(({ messages_ready }) => messages_ready));
  return (
    <Table
      label="Largest dead-letter queues"
      rows={filled}
      keyOf={({ vhost, name }) => JSON.stringify([vhost, name])}
      columns={[
        {
          title: 'Queue',
          cell: ({ vhost, name }) => (
            <a href={href(['dead-letters'], { vhost, queue: name })}>
              <Name of={name} />
            </a>
          ),
        },
        {
          title: 'Messages',
          numeric: true,
          cell: ({ messages_ready }) => (
            <span class="bar">
              <i style={{ width: `${Math.max(2, (messages_ready / most) * 100)}%` }} />
              <span>{count(messages_ready)}</span>
            </span>
          ),
        },
        { title: 'In/s', numeric: true, minor: true, cell: ({ dead_in_rate }) => rate(dead_in_rate) },
        { title: 'Oldest', numeric: true, cell: ({ oldest }) => <Age of={oldest} short /> },
      ]}
    />
  );
}
