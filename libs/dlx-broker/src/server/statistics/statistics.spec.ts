import { describe, expect, it } from 'vitest';
import { listen, publishText } from '../../../../../test/harnesses/listener.js';
import { harness } from '../../nest/testing/harness.js';
import { Measures } from './measures.js';
import { channelSeries, queueSeries, vhostSeries } from './series.js';
import { History, interval, Statistics } from './statistics.js';

function arrange() {
  const { broker, clock } = harness();
  const { channel } = listen(broker);
  channel.declareQueue('q');
  const statistics = new Statistics(broker, () => clock.now());
  const measures = (query = ''): Measures => new Measures(statistics, new URLSearchParams(query), clock.now());
  const vhost = broker.virtualHost('/');
  const queue = vhost.queues.get('q')!;
  const publish = (count: number): void => {
    for (let n = 0; n < count; n++) publishText(channel, '', 'q', 'x');
  };
  const pass = (): void => {
    clock.advance(interval);
    statistics.sample();
  };
  return { broker, clock, channel, statistics, measures, vhost, queue, publish, pass };
}

describe('a rate', () => {
  it('is that of the last five to ten seconds, up to this moment', () => {
    const { clock, measures, queue, publish, pass } = arrange();
    const rate = (): number => measures().of(queue, queueSeries).details('publish').rate;
    publish(10);
    expect(rate()).toBe(0);
    clock.advance(1_000);
    expect(rate()).toBe(10);
    pass();
    publish(20);
    pass();
    expect(rate()).toBe(4);
    clock.advance(2_500);
    publish(5);
    expect(rate()).toBe(3.333);
    pass();
    pass();
    expect(rate()).toBe(0);
  });

  it('falls when a length does', () => {
    const { measures, queue, publish, pass } = arrange();
    publish(50);
    pass();
    pass();
    queue.purge();
    pass();
    expect(measures().of(queue, queueSeries).details('messages').rate).toBe(-10);
  });

  it('of something new begins at nothing, though other samples are older', () => {
    const { channel, clock, measures, vhost, pass } = arrange();
    pass();
    pass();
    channel.declareQueue('new');
    for (let n = 0; n < 5; n++) publishText(channel, '', 'new', 'x');
    clock.advance(5_000);
    expect(measures().of(vhost.queues.get('new')!, queueSeries).details('publish').rate).toBe(0.5);
  });

  it('of a virtual host is that of all its queues', () => {
    const { clock, measures, vhost, publish, pass } = arrange();
    pass();
    publish(30);
    clock.advance(5_000);
    const measure = measures().of(vhost, vhostSeries);
    expect([measure.value('messages'), measure.details('messages').rate]).toEqual([30, 3]);
  });
});

describe('the past of a number', () => {
  it('comes with samples, newest first, their average and the rate over all of it', () => {
    const { clock, measures, queue, publish, pass } = arrange();
    clock.advance(10_000 - (clock.now() % 10_000));
    for (let n = 0; n < 4; n++) {
      publish(10);
      pass();
    }
    const details = measures('lengths_age=15&lengths_incr=5').of(queue, queueSeries).details('messages');
    expect(details).toEqual({
      rate: 2,
      avg: 25,
      avg_rate: 2,
      samples: [40, 30, 20, 10].map((sample, index) => ({ sample, timestamp: clock.now() - index * 5_000 })),
    });
  });

  it('is asked for by kind', () => {
    const { measures, queue } = arrange();
    const measure = measures('msg_rates_age=10&msg_rates_incr=5').of(queue, queueSeries);
    expect(measure.details('messages').samples).toBeUndefined();
    expect(measure.details('publish').samples).toHaveLength(3);
  });

  it.each(['lengths_age=10&lengths_incr=0', 'lengths_age=-1&lengths_incr=1', 'lengths_age=501&lengths_incr=1'])(
    'cannot be had for %s',
    (query) => {
      const { measures, queue } = arrange();
      expect(() => measures(query).of(queue, queueSeries).details('messages')).toThrow('Invalid range parameters');
    },
  );

  it('is kept an hour, after ten minutes by the minute, and only where something changed', () => {
    const history = new History();
    for (let time = 0; time <= 7_200_000; time += interval) {
      history.add(time, [time]);
      history.trim(time, 3_600_000);
    }
    expect(history.length).toBeLessThan(180);
    expect(history.at(7_200_000)).toEqual([7_200_000]);
    expect(history.at(7_200_000 - 300_000)).toEqual([6_900_000]);
    const anHourAgo = history.at(3_660_000)![0]!;
    expect(3_660_000 - anHourAgo).toBeLessThan(60_000);
    for (let time = 7_205_000; time < 9_000_000; time += interval) history.add(time, [7_200_000]);
    expect(history.lastChange).toBe(7_200_000);
  });
});

describe('a channel is idle', () => {
  it('since the sample that saw its last change', () => {
    const { broker, clock, channel, measures, pass } = arrange();
    const since = (): number | undefined => measures().idleSince(channel, channelSeries);
    expect(broker.virtualHosts.size).toBe(1);
    publishText(channel, '', 'q', 'x');
    clock.advance(10_000);
    expect(since()).toBeUndefined();
    pass();
    const seen = clock.now();
    expect(since()).toBeUndefined();
    clock.advance(1_000);
    expect(since()).toBe(seen);
    publishText(channel, '', 'q', 'x');
    expect(since()).toBeUndefined();
  });
});
