import { count } from '../ui/format';
import { Card, visible } from '../ui/parts';
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

/**
 * What the console does not show of a RabbitMQ, and why.
 * @param props.unknown parts of the topology that the console does not know; `more` is the number of the others
 */
export function NotShown({ unknown = [], more = 0 }: { unknown?: readonly string[]; more?: number }) {
  return (
    <Card title="What RabbitMQ does not show">
      <dl class="not-shown">
        {rows.map(([what, why]) => (
          <div key={what}>
            <dt>{what}</dt>
            <dd>{why}</dd>
          </div>
        ))}
        {unknown.length > 0 && (
          <div>
            <dt>What these parts of the topology do</dt>
            <dd>
              They are of a plugin or of a later release. The effective settings and the ways of dead letters are shown
              without them.
              <ul>
                {unknown.map((part) => (
                  <li key={part}>{visible(part)}</li>
                ))}
                {more > 0 && <li class="muted">and {count(more)} more</li>}
              </ul>
            </dd>
          </div>
        )}
      </dl>
    </Card>
  );
}
