import type { RedriveTask, RefusingQueue } from '../api/types';
import { Name } from '../ui/parts';
import { href } from '../router';
import { count } from '../ui/format';
import type { PlannedDestination, PlannedToStay } from './plan';
import { whyLeft } from './words';

/** The queue of a redrive, or how many queues its groups have. */
export function QueuesOf({ task: { queue, groups = [] } }: { task: Pick<RedriveTask, 'queue' | 'groups'> }) {
  if (queue !== null) return <Name of={queue} />;
  return <>{new Set(groups.map((group) => JSON.stringify([group.vhost, group.queue]))).size} queues</>;
}

/** Where messages go, with the number for each queue. Queues of several virtual hosts are shown with theirs. */
export function Destinations(props: { of: readonly PlannedDestination[]; others?: number }) {
  const { of, others = 0 } = props;
  if (of.length === 0) return null;
  const most = Math.max(...of.map((each) => each.count));
  const isOneVhost = of.every(({ vhost }) => vhost === of[0]?.vhost);
  return (
    <ul class="bars">
      {of.slice(0, 12).map((each) => (
        <li key={JSON.stringify([each.vhost, each.name])}>
          <span>
            <a href={href(['queues', each.vhost, each.name])}>
              <Name of={each.name} />
            </a>
            {!isOneVhost && (
              <span class="muted">
                {' in '}
                <Name of={each.vhost} />
              </span>
            )}
          </span>
          <b>{count(each.count)}</b>
          <i style={{ width: `${(each.count / most) * 100}%` }} />
        </li>
      ))}
      {of.length > 12 && <li class="muted">and {of.length - 12} more queues</li>}
      {others > 0 && <li class="muted">{count(others)} in further queues</li>}
    </ul>
  );
}

/** Messages that stay, by reason and address. Each row links to one of them. */
export function LeftBehind({ of }: { of: readonly PlannedToStay[] }) {
  if (of.length === 0) return null;
  return (
    <ul class="left-behind">
      {of.slice(0, 12).map((row) => (
        <li key={JSON.stringify([row.vhost, row.why, row.exchange, row.routing_key])}>
          <b>{count(row.count)}</b>{' '}
          <span>
            {whyLeft(row.why)}
            {row.exchange !== null && (
              <>
                {': '}
                <Name of={row.exchange} /> <span aria-hidden="true">→</span>{' '}
                <Name of={row.routing_key ?? ''} empty="(no key)" />
              </>
            )}
          </span>{' '}
          <a href={href(['dead-letters', row.vhost, row.queue, row.example_id])}>example</a>
        </li>
      ))}
    </ul>
  );
}

/** Destinations that refuse publishes when they are full. A dry run cannot know how many messages consumers take from them meanwhile. */
export function MayRefuse({ of }: { of: readonly RefusingQueue[] }) {
  if (of.length === 0) return null;
  return (
    <p class="banner">
      {of.slice(0, 5).map(({ vhost, name, messages_ready: ready, max_length: most }, index) => (
        <span key={JSON.stringify([vhost, name])}>
          {index > 0 && ', '}
          <Name of={name} /> has {count(ready)} ready
          {most === null ? ' and a limit in bytes' : ` and a limit of ${count(most)}`}
        </span>
      ))}
      {of.length > 5 && ` and ${of.length - 5} more queues have a limit`}. Messages that are refused because{' '}
      {of.length === 1 ? 'it is' : 'they are'} full stay where they are.
    </p>
  );
}
