import { useState } from 'preact/hooks';
import { loadQueue, type QueueDetails } from '../../api/queues';
import { useResource } from '../../api/use-resource';
import { type Address, href, navigate } from '../../router';
import { isReadOnly } from '../../session';
import { Age, Card, Features, Figure, Name, NotProven, PageHead, visible } from '../../ui/parts';
import { count } from '../../ui/format';
import { Loaded, Notice } from '../../ui/states';
import { DeadLetterPaths } from './dead-letter-paths';
import { Handlers } from './handlers';
import { Bindings, Consumers } from './lists';
import { LiveCharts, useLive } from './live-charts';
import type { LiveView } from './live-series';
import { PauseBanner, PauseDialog } from './pause';
import { Publish } from './publish';
import { Removal } from './removal';
import { Settings } from './settings';
import './queue.css';

/** Milliseconds between two loads. Counters come live; settings and neighbours change seldom. */
const every = 5_000;

/** One queue: its numbers live, the paths of its dead letters, settings, consumers, bindings, and what can be done with it. */
export default function Page({ address }: { address: Address }) {
  const [, vhost = '', name = ''] = address.segments;
  return <Queue key={JSON.stringify([vhost, name])} vhost={vhost} name={name} />;
}

function Queue({ vhost, name }: { vhost: string; name: string }) {
  const queue = useResource('queue', (signal) => loadQueue(vhost, name, signal), every);
  const live = useLive(vhost, name);
  if (live.gone || (queue.error?.status === 404 && queue.data !== undefined)) return <Gone vhost={vhost} name={name} />;
  if (queue.data !== undefined) {
    return <Loaded of={queue}>{(data) => <Present data={data} live={live} reload={queue.reload} />}</Loaded>;
  }
  return (
    <>
      <PageHead title={<Name of={name} empty="(empty)" />} />
      {queue.error?.status === 404 ? (
        <Missing vhost={vhost} name={name} />
      ) : (
        <Loaded of={queue} what="this queue" lines={10}>
          {() => null}
        </Loaded>
      )}
    </>
  );
}

function Missing({ vhost, name }: { vhost: string; name: string }) {
  return (
    <Notice title="There is no such queue">
      <p>
        The virtual host <Name of={vhost} /> has no queue <Name of={name} empty="(empty)" />. It may have been deleted,
        or it expired.
      </p>
      <p>
        <a href={href(['queues'], { vhost })}>Show the queues</a>
      </p>
    </Notice>
  );
}

function Gone({ vhost, name }: { vhost: string; name: string }) {
  return (
    <Notice title="This queue has been deleted">
      <p>
        <Name of={name} /> is no longer in the virtual host <Name of={vhost} />.
      </p>
      <p>
        <a href={href(['queues'], { vhost })}>Show the queues</a>
      </p>
    </Notice>
  );
}

function Present({ data, live, reload }: { data: QueueDetails; live: LiveView; reload: () => void }) {
  const { vhost, name, type, features, dead_letter_queue: isDead } = data;
  const [removal, setRemoval] = useState<'purge' | 'delete'>();
  const [asksToPause, setAsksToPause] = useState(false);
  const paused = data.paused ?? undefined;
  const mayChange = !isReadOnly();
  return (
    <>
      <PageHead
        title={<Name of={name} empty="(empty)" />}
        sub={
          <span class="queue-sub">
            {visible(type)} queue in <Name of={vhost} /> <Features of={features} />
            {data.dead_letter_proven === false && <NotProven />}
          </span>
        }
      >
        {isDead && (
          <a class="button" href={href(['dead-letters'], { vhost, queue: name })}>
            Dead letters
          </a>
        )}
        <a class="button" href={href(['topology'], { vhost, queue: name })}>
          In the topology
        </a>
        {mayChange && (
          <>
            {!data.exclusive && (
              <button type="button" onClick={() => setAsksToPause(true)}>
                {paused === undefined ? 'Pause' : 'Change the pause'}
              </button>
            )}
            <button type="button" class="danger" onClick={() => setRemoval('purge')}>
              Purge
            </button>
            <button type="button" class="danger" onClick={() => setRemoval('delete')}>
              Delete
            </button>
          </>
        )}
      </PageHead>
      {paused !== undefined && (
        <PauseBanner of={paused} vhost={vhost} name={name} mayChange={mayChange} done={reload} />
      )}
      <State data={data} />
      <Figures data={data} live={live} />
      <Card title="Ways of dead letters">
        <DeadLetterPaths of={data} />
      </Card>
      <LiveCharts view={live} />
      <div class="grid queue-parts">
        <Card title="Settings">
          <Settings of={data.settings} />
        </Card>
        <div>
          <Card title="Consumers">
            <Consumers of={data.consumers_list} />
          </Card>
          <Handlers vhost={vhost} name={name} />
          <Card title="Bindings">
            <Bindings of={data.bindings} />
          </Card>
          {mayChange && (
            <Card title="Publish a message">
              <Publish vhost={vhost} name={name} done={reload} />
            </Card>
          )}
        </div>
      </div>
      {asksToPause && (
        <PauseDialog
          vhost={vhost}
          name={name}
          close={() => setAsksToPause(false)}
          done={() => {
            setAsksToPause(false);
            reload();
          }}
        />
      )}
      {removal !== undefined && (
        <Removal
          kind={removal}
          vhost={vhost}
          name={name}
          close={() => setRemoval(undefined)}
          done={() => {
            setRemoval(undefined);
            if (removal === 'delete') navigate(href(['queues'], { vhost }));
            else reload();
          }}
        />
      )}
    </>
  );
}

function State({ data: { state, paused, messages_dlx } }: { data: QueueDetails }) {
  const isPaused = paused !== undefined && paused !== null;
  if (state !== 'running' && state !== 'idle' && !isPaused) {
    return (
      <p class="banner banner-failed">
        The queue is {visible(state)}
        {state === 'stalled' ? ': the body of its next message cannot be read from the disk now.' : '.'}
      </p>
    );
  }
  if (messages_dlx === 0) return null;
  return (
    <p class="banner">
      {count(messages_dlx)} dead {messages_dlx === 1 ? 'letter waits' : 'letters wait'} in this queue until the
      dead-letter exchange confirms {messages_dlx === 1 ? 'it' : 'them'}.
    </p>
  );
}

/** The figures of the event stream; until its first event, those of the page. */
function Figures({ data, live }: { data: QueueDetails; live: LiveView }) {
  const now = live.now ?? data;
  return (
    <dl class="figures">
      <Figure
        name="Ready"
        value={count(now.messages_ready)}
        {...(data.dead_letter_queue && (now.messages_ready ?? 0) > 0 && { tone: 'dead' as const })}
      />
      <Figure name="Unacknowledged" value={count(now.messages_unacknowledged)} />
      <Figure name="Consumers" value={count(now.consumers)} />
      <Figure name="Dead letters received" value={count(now.dead_letters_in)} of="since the broker started" />
      <div class="figure">
        <dt>Oldest dead letter</dt>
        <dd>
          <Age of={data.oldest} short />
        </dd>
      </div>
    </dl>
  );
}
