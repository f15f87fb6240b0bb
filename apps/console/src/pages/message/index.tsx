import { useEffect, useState } from 'preact/hooks';
import type { Letter } from '../../api/types';
import { canEdit } from '../../capabilities';
import { useResource } from '../../api/use-resource';
import { type Action, ActionDialog } from '../../letters/action-dialog';
import { loadLetter, type QueueName } from '../../letters/api';
import { filterOf, type LetterFilter } from '../../letters/filter';
import '../../letters/letters.css';
import { letterHref, lettersHref } from '../../letters/links';
import { type Neighbours, neighboursOf } from '../../letters/trail';
import { diedAt, reasonOf } from '../../letters/words';
import { type Address, href, navigate, setQuery } from '../../router';
import { isReadOnly } from '../../session';
import { useKeys } from '../../keyboard';
import { dateTime } from '../../ui/format';
import { Age, Card, Name, PageHead, Reason, visible } from '../../ui/parts';
import { Loading, Failure, Notice } from '../../ui/states';
import { toast } from '../../ui/toasts';
import { Attempts } from './attempts';
import { Body } from './body';
import { longestBody } from './draft';
import { Editor } from './editor';
import { Headers } from './headers';
import './message.css';
import { Preview } from './preview';
import { Timeline } from './timeline-card';

/** The bytes of a body that are loaded before the user asks for all. */
const firstBytes = 262_144;

/** The page of one message. */
export default function Message({ address: { segments, query } }: { address: Address }) {
  const [, vhost = '', queue = '', id = ''] = segments;
  return <MessageView key={JSON.stringify([vhost, queue, id])} name={{ vhost, queue }} id={id} query={query} />;
}

function MessageView({ name, id, query }: { name: QueueName; id: string; query: URLSearchParams }) {
  const { vhost, queue } = name;
  const filter = filterOf(query);
  const mayEdit = canEdit() && !isReadOnly();
  const [isWhole, setWhole] = useState(query.get('edit') === '1' && mayEdit);
  const letter = useResource(`${vhost}\n${queue}\n${id} ${isWhole}`, (signal) =>
    loadLetter({ vhost, queue, id, truncate: isWhole ? undefined : firstBytes }, signal),
  );
  const neighbours = useNeighbours(name, id, filter);
  const [action, setAction] = useState<Action>();
  const { data } = letter;
  const isTooLong = data !== undefined && data.payload_bytes > longestBody;
  const isEditing = query.get('edit') === '1' && mayEdit && !isTooLong;

  const toLetter = (to: string | undefined): string | undefined => to && letterHref(vhost, queue, to, filter);
  const go = (to: string | undefined): void => {
    if (to !== undefined) navigate(letterHref(vhost, queue, to, filter));
  };
  const leave = (): void =>
    neighbours.next === undefined ? navigate(lettersHref(vhost, queue, filter)) : go(neighbours.next);
  const edit = (): void => {
    if (data === undefined || !mayEdit || isTooLong) return;
    setWhole(true);
    setQuery({ edit: 1 }, { replace: false });
  };
  const begin = (kind: Action['kind']): void => {
    if (data !== undefined && !isReadOnly()) {
      setAction({ kind, what: `Message ${id}`, targets: [{ vhost, queue, ids: [id] }] });
    }
  };
  useKeys([
    { key: 'j', text: 'Next message', run: () => go(neighbours.next) },
    { key: 'k', text: 'Previous message', run: () => go(neighbours.previous) },
    { key: 'r', text: 'Redrive the message', run: () => begin('redrive') },
    { key: 'e', text: 'Edit and redrive the message', run: edit },
    { key: 'p', text: 'Park the message', run: () => begin('park') },
    { key: 'd', text: 'Delete the message', run: () => begin('delete') },
    { key: 'u', text: 'Back to the list', run: () => navigate(lettersHref(vhost, queue, filter)) },
  ]);

  return (
    <>
      <nav class="crumbs" aria-label="Path">
        <a href={href(['dead-letters'])}>Dead letters</a> <span aria-hidden="true">/</span>{' '}
        <a href={lettersHref(vhost, queue, filter)}>
          <Name of={queue} />
        </a>{' '}
        <span aria-hidden="true">/</span> <span>{visible(id)}</span>
      </nav>
      <PageHead title={<Title of={data} id={id} />} sub={data === undefined ? undefined : <Sub of={data} />}>
        {data !== undefined && !isReadOnly() && !isEditing && (
          <>
            <button type="button" class="primary" onClick={() => begin('redrive')}>
              Redrive…
            </button>
            {canEdit() && (
              <button
                type="button"
                disabled={isTooLong}
                title={isTooLong ? 'Messages with bodies up to 2 MB can be edited' : undefined}
                onClick={edit}
              >
                Edit
              </button>
            )}
            <button type="button" onClick={() => begin('park')}>
              Park…
            </button>
            <button type="button" class="danger" onClick={() => begin('delete')}>
              Delete…
            </button>
          </>
        )}
        <span class="steps">
          <Step to={toLetter(neighbours.previous)} rel="prev" label="Previous message" text="←" />
          <Step to={toLetter(neighbours.next)} rel="next" label="Next message" text="→" />
        </span>
      </PageHead>
      {data === undefined && letter.error === undefined && <Loading lines={9} />}
      {letter.error?.status === 404 && data === undefined && <Gone list={lettersHref(vhost, queue, filter)} />}
      {letter.error !== undefined && letter.error.status !== 404 && data === undefined && (
        <Failure error={letter.error} retry={letter.reload} what="this message" />
      )}
      {data !== undefined && (
        <div class={`message-page ${isEditing ? 'editing' : ''}`}>
          <div class="message-error">
            <ErrorCard of={data} name={name} />
            <Attempts of={data} />
            <State of={data} />
          </div>
          <aside aria-label="Way and destination">
            {!isReadOnly() && <Preview of={data} name={name} />}
            <Timeline of={data} vhost={vhost} queue={queue} />
            <Properties of={data} />
          </aside>
          <div class="message-content">
            {isEditing ? (
              <Editor
                key={String(data.payload_truncated)}
                of={data}
                name={name}
                cancel={() => setQuery({ edit: undefined })}
                sent={({ destinations, audit }) => {
                  const record = typeof audit === 'number' ? ` Audit record ${audit}.` : '';
                  toast(`Sent to ${destinations.map(visible).join(', ')}.${record}`);
                  leave();
                }}
              />
            ) : (
              <>
                <Body of={data} view={query.get('view')} loadAll={() => setWhole(true)} />
                <Headers of={data} />
              </>
            )}
          </div>
        </div>
      )}
      {action !== undefined && (
        <ActionDialog action={action} close={() => setAction(undefined)} done={() => (setAction(undefined), leave())} />
      )}
    </>
  );
}

/** The neighbours of a message among those that match the filter. */
function useNeighbours({ vhost, queue }: QueueName, id: string, filter: LetterFilter): Neighbours {
  const [found, setFound] = useState<Neighbours>({ previous: undefined, next: undefined });
  useEffect(() => {
    const controller = new AbortController();
    neighboursOf({ vhost, queue, id, filter }, controller.signal).then(
      (neighbours) => controller.signal.aborted || setFound(neighbours),
      // Without neighbours the page still shows the message.
      () => undefined,
    );
    return () => controller.abort();
  }, [vhost, queue, id, JSON.stringify(filter)]);
  return found;
}

/** A link to a neighbour, which can also be opened in another tab; a quiet arrow where there is none. */
function Step({ to, rel, label, text }: { to: string | undefined; rel: string; label: string; text: string }) {
  return to === undefined ? (
    <span class="button step-none" aria-hidden="true">
      {text}
    </span>
  ) : (
    <a class="button" href={to} rel={rel} aria-label={label} title={label}>
      {text}
    </a>
  );
}

function Title({ of, id }: { of: Letter | undefined; id: string }) {
  return of?.error ? <>{visible(of.error.class)}</> : <>Message {visible(id)}</>;
}

function Sub({ of }: { of: Letter }) {
  const [death] = of.deaths;
  return (
    <span class="sub">
      {reasonOf(of) === 'parked' ? (
        <>
          <Reason of="parked" /> after its last attempt
        </>
      ) : death === undefined ? (
        'never died'
      ) : (
        <>
          <Reason of={death.reason} /> in <Name of={death.queue} /> <Age of={diedAt(of)} />
        </>
      )}
      {of.redrives > 0 && <span class="tag">redriven {of.redrives === 1 ? 'once' : `${of.redrives} times`}</span>}
      {of.returns > 0 && <span class="tag">redelivered</span>}
      {of.expires_at !== null && <span class="tag tag-strong">expires {dateTime(of.expires_at)}</span>}
    </span>
  );
}

/** The error that a handler recorded, with its stack. */
function ErrorCard({ of: { error, headers, fingerprint }, name }: { of: Letter; name: QueueName }) {
  if (error === null) return null;
  const stack = headers['dlx-error-stack']?.value;
  return (
    <Card title="Error">
      <div class="card-body failure">
        <p>{visible(error.message ?? error.class)}</p>
        {typeof fingerprint === 'string' && (
          <small>
            Messages of the same fingerprint:{' '}
            <a href={lettersHref(name.vhost, name.queue, { fingerprint })}>
              <Name of={fingerprint} />
            </a>
          </small>
        )}
        {typeof stack === 'string' && (
          <details>
            <summary>Stack</summary>
            <pre class="code" tabIndex={0}>
              {stack.split('\n').map(visible).join('\n')}
            </pre>
          </details>
        )}
      </div>
    </Card>
  );
}

/** What an attempt left for the next one: JSON of an application. */
function State({ of: { headers } }: { of: Letter }) {
  const state = headers['dlx-state']?.value;
  if (typeof state !== 'string') return null;
  return (
    <Card id="state" title="State" actions={<small>for the next attempt</small>}>
      <pre class="code card-body" tabIndex={0}>
        {visible(state)}
      </pre>
    </Card>
  );
}

/** The properties that the publisher set. */
function Properties({ of: { properties, exchange, routing_key } }: { of: Letter }) {
  const rows: readonly (readonly [string, unknown])[] = [
    ['exchange', exchange === '' ? '(default)' : exchange],
    ['routing_key', routing_key],
    ...Object.entries(properties),
  ];
  return (
    <Card title="Properties">
      <dl class="properties card-body">
        {rows.map(([property, value]) => (
          <div key={property}>
            <dt>{visible(property.replaceAll('_', ' '))}</dt>
            <dd>
              <code>{visible(String(value))}</code>
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

function Gone({ list }: { list: string }) {
  return (
    <Notice title="The message has left the queue">
      <p>It was delivered, redriven, deleted, or it expired. A message that a consumer holds is not shown either.</p>
      <p>
        <a href={list}>The other messages of the queue</a>
      </p>
    </Notice>
  );
}
