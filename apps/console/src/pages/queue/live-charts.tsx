import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { loadLengths } from '../../api/queues';
import { useEvents } from '../../api/events';
import { LiveSeries, type LiveView, type RateName, step } from './live-series';
import { Chart } from '../../ui/chart';
import type { ChartSeries } from '../../ui/chart-data';
import { rate, shortCount } from '../../ui/format';
import { Card } from '../../ui/parts';

/** The counters of a queue in the last five minutes, as far as this page has seen them. */
export function useLive(vhost: string, name: string): LiveView {
  const key = JSON.stringify([vhost, name]);
  const series = useRef<{ key: string; of: LiveSeries }>(undefined);
  if (series.current?.key !== key) series.current = { key, of: new LiveSeries(vhost, name) };
  const { of } = series.current;
  const [view, setView] = useState(() => ({ key, at: of.view(Date.now()) }));
  useEvents({ vhost, queue: name, interval: 1_000 }, (event) => {
    // The first events show figures at once; the charts follow in steps.
    const isFirst = event.kind === 'state';
    series.current?.of.take(event, Date.now());
    if (isFirst) setView({ key, at: of.view(Date.now()) });
  });
  useEffect(() => {
    const controller = new AbortController();
    void loadLengths(vhost, name, controller.signal).then(
      (past) => of.begin(past),
      // Without the past the chart begins now.
      () => undefined,
    );
    return () => controller.abort();
  }, [of]);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setView({ key, at: of.view(Date.now()) });
    }, step / 2);
    return () => clearInterval(timer);
  }, [of]);
  return view.key === key ? view.at : of.view(Date.now());
}

/** Deaths in this queue, by reason: shown once there are some. */
const deaths: readonly (readonly [RateName, string])[] = [
  ['rejected', '--rejected-fill'],
  ['expired', '--expired-fill'],
  ['maxlen', '--maxlen-fill'],
  ['delivery_limit', '--delivery-limit-fill'],
];

/** The length of a queue, and its dead letters in and out, since the page was opened. */
export function LiveCharts({ view }: { view: LiveView }) {
  const lengths = useMemo(
    (): readonly ChartSeries[] => [
      { name: 'ready', color: '--ready', values: view.ready },
      { name: 'unacknowledged', color: '--unacked', values: view.unacknowledged },
    ],
    [view],
  );
  const dead = useMemo((): readonly ChartSeries[] => {
    const has = (name: RateName): boolean => view.rates[name].some((value) => value !== null && value > 0);
    const reasons = deaths.filter(([name], index) => has(name) || (index === 0 && !deaths.some(([each]) => has(each))));
    return [
      ...reasons.map(([name, color]) => ({
        name: reasons.length === 1 && !has(name) ? 'died here' : `out, ${name}`,
        color,
        values: view.rates[name],
        kind: 'stack' as const,
      })),
      { name: 'in', color: '--ready', values: view.rates.dead_letters_in },
      ...(has('redriven') ? [{ name: 'redriven', color: '--redriven', values: view.rates.redriven }] : []),
    ];
  }, [view]);
  return (
    <div class="grid">
      <Card title="Messages">
        <Chart
          label="Messages in the queue"
          times={view.times}
          series={lengths}
          unit="messages"
          format={shortCount}
          height={150}
        />
      </Card>
      <Card title="Dead letters in and out" actions={<small>since this page was opened</small>}>
        <Chart
          label="Dead letters in and out"
          times={view.times}
          series={dead}
          unit="per second"
          format={rate}
          height={150}
        />
      </Card>
    </div>
  );
}
