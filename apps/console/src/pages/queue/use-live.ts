import { useEffect, useRef, useState } from 'preact/hooks';
import { loadLengths } from '../../api/queues';
import { useEvents } from '../../api/events';
import { LiveSeries, type LiveView, step } from './live-series';

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
