import { Card } from '../ui/parts';
import './not-shown.css';

const rows: readonly (readonly [what: string, why: string])[] = [
  [
    'Messages, groups of messages, filters, edits, exports',
    'RabbitMQ shows a message only by taking it out of its queue. Taking counts as a delivery: a queue with a delivery limit can lose messages by it.',
  ],
  [
    'Deaths by reason, the time of the oldest death',
    'RabbitMQ has no counters of dead letters for each queue. The lengths of the dead-letter queues are on the page Queues.',
  ],
  [
    'A redrive of chosen messages, parking with the history kept, deleting chosen messages',
    'Consumers get messages from the head of a queue. A redrive moves all messages, or the first of them.',
  ],
];

/** What the console does not show of a RabbitMQ, and why. */
export function NotShown() {
  return (
    <Card title="What RabbitMQ does not show">
      <dl class="not-shown">
        {rows.map(([what, why]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>{why}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}
