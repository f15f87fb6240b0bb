import type { Letter } from '../../api/types';
import { href } from '../../router';
import { count, dateTime, duration } from '../../ui/format';
import { Age, Card, Name, Reason, visible } from '../../ui/parts';
import { diedAt, reasonOf } from '../../letters/words';
import { type Hop, hopsOf, publishedAt } from './timeline';

/** The most hops that are shown at once. */
const most = 40;

/** The way of a message from its publish through its deaths to the queue where it waits. */
export function Timeline({ of, vhost, queue }: { of: Letter; vhost: string; queue: string }) {
  const { origin, deaths, properties } = of;
  const start = publishedAt(properties);
  const hops = hopsOf(deaths, start);
  const hidden = Math.max(0, hops.length - most);
  const total = deaths.reduce((sum, death) => sum + death.count, 0);
  return (
    <Card
      id="timeline"
      title="Its way"
      actions={
        <small>
          {total === 0
            ? reasonOf(of) === 'parked'
              ? 'parked'
              : 'never died'
            : total === 1
              ? '1 death'
              : `${count(total)} deaths`}
        </small>
      }
    >
      <ol class="timeline">
        <li>
          <span class="hop-title">Published</span>
          {origin === null ? (
            <span class="muted">by an unknown publisher</span>
          ) : (
            <span>
              to <Name of={origin.exchange} /> <span class="muted">→</span>{' '}
              <Name of={origin.routing_key} empty="(no key)" />
              {!origin.proven && <small class="unproven"> not proven: only headers say so</small>}
            </span>
          )}
          {start !== undefined && <small>{dateTime(start)}, says the publisher</small>}
        </li>
        {hidden > 0 && <li class="muted">{count(hidden)} earlier hops are in its headers</li>}
        {hops.slice(hidden).map((hop, index) => (
          <HopView key={index} of={hop} vhost={vhost} />
        ))}
        <li class="here">
          <span class="hop-title">Waits</span>
          <span>
            in{' '}
            <a href={href(['queues', vhost, queue])}>
              <Name of={queue} />
            </a>
          </span>
          {deaths[0] !== undefined && (diedAt(of) ?? 0) > 0 && (
            <small>
              since <Age of={diedAt(of)} />
            </small>
          )}
        </li>
      </ol>
    </Card>
  );
}

function HopView({ of: { death, waited }, vhost }: { of: Hop; vhost: string }) {
  return (
    <>
      {waited !== undefined && waited >= 1 && <li class="waited">waited {duration(waited)}</li>}
      <li data-reason={death.reason}>
        <span class="hop-title">
          <Reason of={death.reason} />
          {death.count > 1 && <span class="tag tag-strong">{count(death.count)} times</span>}
        </span>
        <span>
          in{' '}
          <a href={href(['queues', vhost, death.queue])}>
            <Name of={death.queue} />
          </a>
        </span>
        <small>
          came by <Name of={death.exchange} /> → {death.routing_keys.length === 0 && '(no key)'}
          {death.routing_keys.slice(0, 8).map((key, index) => (
            <span key={index}>
              {index > 0 && ', '}
              <Name of={key} empty="(no key)" />
            </span>
          ))}
          {death.routing_keys.length > 8 && ` and ${death.routing_keys.length - 8} more`}
        </small>
        <small>
          {death.time > 0 ? `${death.count > 1 ? 'first ' : ''}${dateTime(death.time)}` : 'at an unknown time'}
          {death.original_expiration !== undefined && `, expiration was ${visible(death.original_expiration)} ms`}
        </small>
      </li>
    </>
  );
}
