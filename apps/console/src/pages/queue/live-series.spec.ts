import { describe, expect, it } from 'vitest';
import type { LiveEvent, LiveQueue } from '../../api/events';
import { LiveSeries } from './live-series';

const row = (more: Partial<LiveQueue>): LiveQueue => ({
  vhost: '/',
  name: 'q',
  messages_ready: 0,
  messages_unacknowledged: 0,
  messages_dlx: 0,
  consumers: 0,
  dead_letters_in: 0,
  rejected: 0,
  expired: 0,
  maxlen: 0,
  delivery_limit: 0,
  redriven: 0,
  discarded: 0,
  lost: 0,
  ...more,
});
const event = (time: number, more: Partial<LiveQueue>, kind = 'change'): LiveEvent => ({
  kind,
  time,
  queues: [row(more)],
  gone: [],
  redrives: [],
});
const start = 1_000_000;

describe('series of live events', () => {
  it('keeps values between events, and has none before the first', () => {
    const series = new LiveSeries('/', 'q');
    series.take(event(start, { messages_ready: 5 }, 'state'), start);
    series.take(event(start + 6_000, { messages_ready: 7 }), start + 6_000);
    const { ready, times } = series.view(start + 8_000);
    expect(ready.slice(-6)).toEqual([null, 5, 5, 5, 7, 7]);
    expect(ready).toHaveLength(150);
    expect(times.at(-1)).toBe(start + 8_000);
  });

  it('shows rates per second from counters that grow', () => {
    const series = new LiveSeries('/', 'q');
    series.take(event(start, { dead_letters_in: 100 }, 'state'), start);
    series.take(event(start + 1_000, { dead_letters_in: 104 }), start + 1_000);
    series.take(event(start + 2_000, { dead_letters_in: 110 }), start + 2_000);
    expect(series.view(start + 6_000).rates.dead_letters_in.slice(-5)).toEqual([null, null, 3, 0, null]);
  });

  it('knows no rate of the step in which a lost stream began again', () => {
    const series = new LiveSeries('/', 'q');
    series.take(event(start, { rejected: 1 }, 'state'), start);
    series.take(event(start + 60_000, { rejected: 601 }, 'state'), start + 60_000);
    series.take(event(start + 62_000, { rejected: 603 }), start + 62_000);
    expect(series.view(start + 64_000).rates.rejected.slice(-4, -1)).toEqual([0, null, 1]);
  });

  it('uses the clock of the browser for times', () => {
    const series = new LiveSeries('/', 'q');
    series.take(event(start + 500_000, { messages_ready: 1 }, 'state'), start);
    const { times, ready } = series.view(start + 2_000);
    expect(times.at(-1)).toBe(start + 2_000);
    expect(ready.slice(-3)).toEqual([null, 1, 1]);
  });

  it('remembers old values after their step has left the chart', () => {
    const series = new LiveSeries('/', 'q');
    series.take(event(start, { messages_ready: 3 }, 'state'), start);
    expect(series.view(start + 3_600_000).ready).toEqual(Array.from({ length: 150 }, () => 3));
    expect(series.view(start + 7_200_000).ready[0]).toBe(3);
  });

  it('begins with the lengths of the time before the first event', () => {
    const series = new LiveSeries('/', 'q');
    series.begin([
      { time: start - 8_000, ready: 1, unacknowledged: 4 },
      { time: start - 3_000, ready: 2, unacknowledged: 5 },
    ]);
    series.take(event(start, { messages_ready: 9, messages_unacknowledged: 8 }, 'state'), start);
    const { ready, unacknowledged } = series.view(start);
    expect(ready.slice(-6)).toEqual([null, 1, 1, 2, 2, 9]);
    expect(unacknowledged.slice(-6)).toEqual([null, 4, 4, 5, 5, 8]);
  });

  it('ignores other queues, and says when the queue is gone', () => {
    const series = new LiveSeries('/', 'q');
    series.take({ ...event(start, { name: 'other' }, 'state') }, start);
    expect(series.view(start).now).toBeUndefined();
    series.take({ kind: 'change', time: start, queues: [], gone: [{ vhost: '/', name: 'q' }], redrives: [] }, start);
    expect(series.view(start).gone).toBe(true);
  });
});
