import { useEffect, useRef, useState } from 'preact/hooks';
import { loadLengths } from '../../api/queues';
import { useEvents } from '../../api/events';
import { hasEvents } from '../../capabilities';
import { LiveSeries, type LiveView, step } from './live-series';

/** Milliseconds between two samples of a server without events. */
const between = 5_000;

/** The counters of a queue in the last five minutes, as far as this page has seen them. */
export function useLive(vhost: string, name: string): LiveView {
  const key = JSON.stringify([vhost, name]);
  const series = useRef<{ key: string; of: LiveSeries }>(undefined);
  if (series.current?.key !== key) series.current = { key, of: new LiveSeries(vhost, name) };
  const { of } = series.current;
  const [view, setView] = useState(() => ({ key, at: of.view(Date.now()) }));
  useEvents(hasEvents() ? { vhost, queue: name, interval: 1_000 } : undefined, (event) => {
    // The first events show figures at once; the charts follow in steps.
    const isFirst = event.kind === 'state';
    series.current?.of.take(event, Date.now());
    if (isFirst) setView({ key, at: of.view(Date.now()) });
  });
  useEffect(() => {
    const controller = new AbortController();
    const load = (): void =>
      void loadLengths(vhost, name, controller.signal).then(
        (past) => of.begin(past),
        // Without the past the chart begins now.
        () => undefined,
      );
    load();
    // Without events the server's own samples are the chart.
    const timer = hasEvents() ? undefined : setInterval(() => !document.hidden && load(), between);
    return () => {
      clearInterval(timer);
      controller.abort();
    };
  }, [of]);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setView({ key, at: of.view(Date.now()) });
    }, step / 2);
    return () => clearInterval(timer);
  }, [of]);
  return view.key === key ? view.at : of.view(Date.now());
}
