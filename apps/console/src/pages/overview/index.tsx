import { type Alarm, loadOverview, type Overview, type TopQueue } from '../../api/overview';
import { type Address, href } from '../../router';
import { ago, count, rate } from '../../ui/format';
import { Age, Card, Figure, Name, PageHead, visible } from '../../ui/parts';
import type { RedriveTask } from '../../api/types';
import { QueuesOf } from '../../letters/outcome';
import { Loaded, Notice } from '../../ui/states';
import { Table } from '../../ui/table';
import { useResource } from '../../api/use-resource';
import { useVhosts, VhostChoice } from '../../ui/vhosts';
import { DeathChart } from './death-chart';
import { FirstSteps } from './first-steps';
import './overview.css';

/** What each kind of alarm is called, and how urgent it is. */
const kinds: Readonly<Record<string, { readonly title: string; readonly tone: 'warn' | 'bad' }>> = {
  growing: { title: 'Growing', tone: 'warn' },
  loop: { title: 'Many rounds', tone: 'warn' },
  stuck_dlx: { title: 'Dead letters not routed', tone: 'bad' },
  memory: { title: 'Memory', tone: 'bad' },
  disk: { title: 'Disk', tone: 'bad' },
  stalled: { title: 'Stalled', tone: 'bad' },
  paused: { title: 'Paused', tone: 'warn' },
};

/** The alarms of the broker and of its dead-letter queues. Nothing if there are none. */
export function Alarms({ of, more }: { of: readonly Alarm[]; more: number }) {
  if (of.length === 0) return null;
  return (
    <ul class="alarms" aria-label="Alarms">
      {of.map(({ kind, vhost, queue, text }, index) => {
        const { title, tone } = kinds[kind] ?? { title: visible(kind), tone: 'warn' };
        return (
          <li key={index} class={`alarm alarm-${tone}`}>
            <b>{title}</b>
            <span>
              {vhost !== null && queue !== null && (
                <>
                  <a href={href(['queues', vhost, queue])}>
                    <Name of={queue} />
                  </a>{' '}
                </>
              )}
              {visible(text)}
            </span>
          </li>
        );
      })}
      {more > 0 && <li class="muted">and {count(more)} more</li>}
    </ul>
  );
}

/** Redrives that are not over, with their progress. */
export function RunningRedrives({ of }: { of: readonly RedriveTask[] }) {
  if (of.length === 0) {
    return (
      <Notice title="No redrive is running">
        <p>
          A redrive sends dead letters back to where they were first published. Start one from{' '}
          <a href={href(['dead-letters'])}>Dead letters</a>.
        </p>
      </Notice>
    );
  }
  return (
    <ul class="redrive-list">
      {of.map((task) => {
        const total = Math.max(1, Math.min(task.limit ?? Infinity, task.ids ?? task.ready_at_start));
        const done = Math.min(1, task.scanned / total);
        return (
          <li key={task.id} data-row={task.id} tabIndex={-1}>
            <div>
              <a href={href(['redrives', task.id])}>
                <QueuesOf task={task} />
              </a>
              <span class={task.state === 'running' ? 'muted' : 'redrive-state'}>{task.state}</span>
            </div>
            <div class="progress" role="progressbar" aria-label="Examined" aria-valuenow={Math.round(done * 100)}>
              <i style={{ width: `${done * 100}%` }} />
            </div>
            <small>
              {count(task.moved)} moved{task.left > 0 && `, ${count(task.left)} left`}
              {task.returned > 0 && `, ${count(task.returned)} came back`} · by <bdi>{task.by}</bdi>{' '}
              {ago(task.started_at)}
            </small>
          </li>
        );
      })}
    </ul>
  );
}

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

/** Milliseconds between two loads: the server takes a sample every five seconds. */
const every = 5_000;

/** Where messages die now, where they pile up, and what is being done about it. */
export default function Page({ address }: { address: Address }) {
  const vhost = address.query.get('vhost') ?? '';
  const vhosts = useVhosts().data ?? [];
  const overview = useResource(`overview ${vhost}`, (signal) => loadOverview(vhost, signal), every);
  return (
    <>
      <PageHead title="Overview">
        {(vhosts.length > 1 || vhost !== '') && (
          <div class="filters filters-inline">
            <VhostChoice value={vhost} names={vhosts} />
          </div>
        )}
      </PageHead>
      <Loaded of={overview} what="the overview" lines={8}>
        {(data) => (data.totals.queues === 0 ? <FirstSteps /> : <Present data={data} at={overview.at} vhost={vhost} />)}
      </Loaded>
    </>
  );
}

function Present({ data, at, vhost }: { data: Overview; at: number | undefined; vhost: string }) {
  const { totals, dead_letter_rates: rates, rates_series: series } = data;
  const dying = Object.values(rates).reduce((sum, each) => sum + each, 0);
  return (
    <>
      <Alarms of={data.alarms} more={data.more_alarms ?? 0} />
      <dl class="figures">
        <Figure
          name="Dead letters"
          value={count(totals.dead_letters)}
          of={inQueues(totals.dead_letter_queues)}
          {...(totals.dead_letters > 0 && { tone: 'dead' as const })}
        />
        <Figure name="Dying" value={rate(dying)} of="per second" />
        <Figure name="Redriven" value={rate(series.redriven.at(-1) ?? 0)} of="per second" />
        <Figure name="Ready" value={count(totals.messages_ready)} of={inQueues(totals.queues)} />
        <Figure name="Unacknowledged" value={count(totals.messages_unacknowledged)} />
      </dl>
      {totals.unproven_queues > 0 && (
        <p class="not-counted">
          Not counted: <a href={href(['queues'], { vhost, dead: true })}>{queuesText(totals.unproven_queues)}</a> whose
          dead letters are not proven.
        </p>
      )}
      <Card title="Deaths by reason">
        <DeathChart of={series} at={at ?? Date.now()} />
      </Card>
      <div class="grid">
        <Card
          title="Largest dead-letter queues"
          actions={
            <a href={href(['queues'], { vhost, dead: true, sort: 'messages_ready', sort_reverse: true })}>All</a>
          }
        >
          <TopQueues of={data.top} any={totals.dead_letter_queues > 0} />
        </Card>
        <Card title="Running redrives" actions={<a href={href(['redrives'])}>All</a>}>
          <RunningRedrives of={data.redrives} />
        </Card>
      </div>
    </>
  );
}

const queuesText = (number: number): string => `${count(number)} ${number === 1 ? 'queue' : 'queues'}`;
const inQueues = (number: number): string => `in ${queuesText(number)}`;
