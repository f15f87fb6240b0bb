import type { QueueBinding, QueueConsumer } from '../../api/queues';
import { count } from '../../ui/format';
import { Name, visible } from '../../ui/parts';
import { Table } from '../../ui/table';

/** The consumers of a queue. */
export function Consumers({ of }: { of: readonly QueueConsumer[] }) {
  if (of.length === 0) return <p class="card-body muted">No consumer. Messages wait here until one connects.</p>;
  return (
    <Table
      label="Consumers"
      rows={of}
      keyOf={({ channel, consumer_tag }) => JSON.stringify([channel, consumer_tag])}
      columns={[
        { title: 'Consumer tag', cell: ({ consumer_tag }) => <Name of={consumer_tag} empty="(empty)" /> },
        { title: 'User', cell: ({ user }) => <bdi class="nowrap">{visible(user)}</bdi> },
        { title: 'Channel', minor: true, cell: ({ channel }) => <Name of={channel} empty="–" /> },
        { title: 'Acknowledges', minor: true, cell: ({ ack_required }) => (ack_required ? 'yes' : 'no') },
        {
          title: 'Prefetch',
          numeric: true,
          cell: ({ prefetch_count }) => (prefetch_count === 0 ? 'no limit' : count(prefetch_count)),
        },
      ]}
    />
  );
}

/** The bindings of a queue. */
export function Bindings({ of }: { of: readonly QueueBinding[] }) {
  return (
    <Table
      label="Bindings"
      rows={of}
      keyOf={({ source, properties_key }) => JSON.stringify([source, properties_key])}
      columns={[
        { title: 'Exchange', cell: ({ source }) => <Name of={source} /> },
        { title: 'Routing key', cell: ({ routing_key }) => <Name of={routing_key} empty="(empty)" /> },
        {
          title: 'Arguments',
          minor: true,
          cell: ({ arguments: args }) =>
            Object.keys(args).length === 0 ? <span class="muted">–</span> : <Name of={JSON.stringify(args)} />,
        },
      ]}
    />
  );
}
