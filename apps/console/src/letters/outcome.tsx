import type { RedriveTask } from '../api/types';
import { href } from '../router';
import { count } from '../ui/format';
import { Name } from '../ui/parts';
import type { QueueName } from './api';
import { whyLeft } from './words';

/** Where messages go, with the number for each queue. */
export function Destinations(props: { vhost: string; of: RedriveTask['destinations']; others?: number }) {
  const { vhost, of, others = 0 } = props;
  if (of.length === 0) return null;
  const most = Math.max(...of.map((each) => each.count));
  return (
    <ul class="bars">
      {of.slice(0, 12).map((each) => (
        <li key={each.name}>
          <a href={href(['queues', vhost, each.name])}>
            <Name of={each.name} />
          </a>
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
export function LeftBehind({ name, of }: { name: QueueName; of: RedriveTask['left_at'] }) {
  if (of.length === 0) return null;
  return (
    <ul class="left-behind">
      {of.slice(0, 12).map((row) => (
        <li key={JSON.stringify([row.why, row.exchange, row.routing_key])}>
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
          <a href={href(['dead-letters', name.vhost, name.queue, row.example_id])}>example</a>
        </li>
      ))}
    </ul>
  );
}
