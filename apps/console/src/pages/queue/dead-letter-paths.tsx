import type { ComponentChildren } from 'preact';
import type { DeadLettersFrom, DeadLettersTo, QueueDetails } from '../../api/queues';
import { href } from '../../router';
import { duration } from '../../ui/format';
import { Name, Reason } from '../../ui/parts';
import { noSendersText, waitQueuesText } from './paths-text';

/** Where the dead letters of a queue come from and go to, as one line from left to right. */
export function DeadLetterPaths({ of }: { of: QueueDetails }) {
  const { vhost, name, dead_letters_from: from, dead_letters_to: to } = of;
  const waiting = from.filter(isReturn);
  const senders = from.filter((each) => !isReturn(each));
  return (
    <div class="paths">
      <Part title="Dead letters come from">
        {senders.length === 0 ? <p class="muted">{noSendersText(of)}</p> : <Sources vhost={vhost} of={senders} />}
        {waiting.length > 0 && <WaitQueues vhost={vhost} of={waiting} />}
      </Part>
      <Arrow none={senders.length === 0} />
      <Part title="This queue">
        <p class="paths-here">
          <Name of={name} />
        </p>
        {to !== null && <Deaths of={to} />}
      </Part>
      <Arrow none={to === null} />
      <Part title="Its dead letters go to">
        {to === null ? (
          <p class="muted">
            Nowhere: without a dead-letter exchange, messages that die here are gone. A{' '}
            <a href={href(['policies'])}>policy</a> can set one.
          </p>
        ) : (
          <To vhost={vhost} of={to} />
        )}
      </Part>
    </div>
  );
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="paths-part">
      <h3>{title}</h3>
      {children}
    </div>
  );
}

const Arrow = ({ none }: { none: boolean }) => (
  <svg class={`paths-arrow ${none ? 'paths-arrow-none' : ''}`} viewBox="0 0 40 16" aria-hidden="true">
    <path d="M1 8h34m-6-6 6 6-6 6" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" />
  </svg>
);

/** True for a wait queue that returns each message to the queue that the message names. Every queue may be such a one. */
const isReturn = ({ exchange, routing_key: key, certain, delay }: DeadLettersFrom): boolean =>
  exchange === '' && key === null && !certain && delay !== null;

/** The wait queues of retries, which any queue may have messages in. */
function WaitQueues({ vhost, of }: { vhost: string; of: readonly DeadLettersFrom[] }) {
  return (
    <details class="paths-waits">
      <summary>{waitQueuesText(of.length)}</summary>
      <p class="muted">
        Messages that are tried again wait there, and return to the queue that each message names. Any queue may be that
        one.
      </p>
      <QueueLinks vhost={vhost} of={of.toSorted((one, other) => (one.delay ?? 0) - (other.delay ?? 0))} />
    </details>
  );
}

const QueueLink = ({ vhost, name }: { vhost: string; name: string }) => (
  <a href={href(['queues', vhost, name])}>
    <Name of={name} />
  </a>
);

/** Queues one after another, without what they send. */
function QueueLinks({ vhost, of }: { vhost: string; of: readonly DeadLettersFrom[] }) {
  return (
    <ul class="paths-others">
      {of.map(({ queue }) => (
        <li key={queue}>
          <QueueLink vhost={vhost} name={queue} />
        </li>
      ))}
    </ul>
  );
}

/** The most queues that are listed on a line of their own. */
const mostLines = 12;

/** First the queues whose every dead letter comes here, then those of which only some do. */
function Sources({ vhost, of }: { vhost: string; of: readonly DeadLettersFrom[] }) {
  const certain = of.filter((each) => each.certain);
  const possible = of.filter((each) => !each.certain);
  const listed = [...certain, ...(possible.length > 3 ? [] : possible)].slice(0, mostLines);
  const others = of.filter((each) => !listed.includes(each));
  return (
    <>
      {listed.length > 0 && (
        <ul>
          {listed.map((each) => (
            <From key={each.queue} vhost={vhost} of={each} />
          ))}
        </ul>
      )}
      {others.length > 0 && (
        <details>
          <summary>
            {listed.length > 0 ? 'and ' : ''}
            {others.length} {others.every((each) => !each.certain) ? 'that may send some' : 'more'}
          </summary>
          <QueueLinks vhost={vhost} of={others} />
        </details>
      )}
    </>
  );
}

function From({ vhost, of }: { vhost: string; of: DeadLettersFrom }) {
  return (
    <li>
      <QueueLink vhost={vhost} name={of.queue} />
      {!of.certain && <Sometimes />}
      <span class="paths-reasons">
        {of.reasons.map((reason) => (
          <Reason key={reason} of={reason} />
        ))}
      </span>
    </li>
  );
}

/** How messages die in this queue. */
function Deaths({ of: { automatic, delay } }: { of: DeadLettersTo }) {
  return (
    <p class="paths-reasons">
      <Reason of="rejected" />
      {automatic.map((reason) => (
        <span key={reason}>
          <Reason of={reason} />
          {reason === 'expired' && delay !== null && <small> after {duration(delay)}</small>}
        </span>
      ))}
    </p>
  );
}

function To({ vhost, of }: { vhost: string; of: DeadLettersTo }) {
  const { exchange, routing_key: key, by, policy, reaches, dangling } = of;
  return (
    <>
      <p>
        Exchange <Name of={exchange} />
        <br />
        <small>
          {key === null ? (
            'with the routing keys of each message'
          ) : (
            <>
              with the routing key <Name of={key} empty="(empty)" />
            </>
          )}
          , by {by}
          {typeof policy === 'string' && (
            <>
              {' '}
              <bdi>{policy}</bdi>
            </>
          )}
        </small>
      </p>
      {dangling ? (
        <p class="banner banner-failed">This exchange does not exist. Messages that die here are dropped.</p>
      ) : reaches.length === 0 ? (
        <p class="banner">No queue gets them: no binding of the exchange matches. They are dropped.</p>
      ) : (
        <ul>
          {reaches.map(({ queue, certain }) => (
            <li key={queue}>
              <QueueLink vhost={vhost} name={queue} />
              {!certain && <Sometimes />}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

const Sometimes = () => (
  <span class="tag" title="It depends on the routing key or the headers of the message">
    possibly
  </span>
);
