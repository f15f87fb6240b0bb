import { loadOverview, type Overview } from '../../api/overview';
import { useResource } from '../../api/use-resource';
import { type Address, href } from '../../router';
import { count, rate } from '../../ui/format';
import { Card, Figure, PageHead } from '../../ui/parts';
import { Loaded } from '../../ui/states';
import { useVhosts, VhostChoice } from '../../ui/vhosts';
import { Alarms } from './alarms';
import { DeathChart } from './death-chart';
import { FirstSteps } from './first-steps';
import { RunningRedrives } from './running-redrives';
import { TopQueues } from './top-queues';
import './overview.css';

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
