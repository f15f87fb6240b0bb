import { describe, expect, it } from 'vitest';
import { longstr } from '../../libs/dlx-broker/src/engine/message/index.js';
import { listen, publishText } from '../harnesses/listener.js';
import { valueOf } from './exposition.js';
import { metered, scraped, traffic } from './harness.js';

const protocol = 'amqp091';
const classic = { protocol, queue_type: 'rabbit_classic_queue' };
const quorum = { protocol, queue_type: 'rabbit_quorum_queue' };

describe('/metrics', () => {
  it('counts what happened, by queue type and strategy', async () => {
    const { broker, meter } = metered();
    traffic(broker);
    const page = await scraped(meter);
    const of = (name: string, labels = {}) => valueOf(page, `rabbitmq_global_messages_${name}_total`, labels);
    const death = (reason: string, type: string, strategy: string) =>
      of(`dead_lettered_${reason}`, { queue_type: `rabbit_${type}_queue`, dead_letter_strategy: strategy });
    expect(of('received', { protocol })).toBe(12);
    expect(of('received_confirm', { protocol })).toBe(12);
    expect(of('confirmed', { protocol })).toBe(12);
    expect(of('routed', { protocol })).toBe(10);
    expect(of('unroutable_dropped', { protocol })).toBe(1);
    expect(of('unroutable_returned', { protocol })).toBe(1);
    expect([of('delivered', classic), of('delivered', quorum)]).toEqual([4, 3]);
    expect([of('delivered_get_manual_ack', classic), of('delivered_get_manual_ack', quorum)]).toEqual([3, 1]);
    expect([of('delivered_get_auto_ack', classic), of('delivered_get_auto_ack', quorum)]).toEqual([1, 1]);
    expect([of('delivered_consume_manual_ack', classic), of('delivered_consume_manual_ack', quorum)]).toEqual([0, 1]);
    expect([of('redelivered', classic), of('redelivered', quorum)]).toEqual([1, 0]);
    expect([of('acknowledged', classic), of('acknowledged', quorum)]).toEqual([1, 1]);
    expect([of('get_empty', classic), of('get_empty', quorum)]).toEqual([1, 0]);
    expect(death('rejected', 'classic', 'at_most_once')).toBe(1);
    expect(death('rejected', 'quorum', 'at_least_once')).toBe(1);
    expect(death('maxlen', 'classic', 'disabled')).toBe(2);
    expect(
      of('dead_lettered_confirmed', { queue_type: 'rabbit_quorum_queue', dead_letter_strategy: 'at_least_once' }),
    ).toBe(1);
    expect(valueOf(page, 'rabbitmq_global_publishers', { protocol })).toBe(1);
    expect(valueOf(page, 'rabbitmq_message_size_bytes_bucket', { protocol, le: '100.0' })).toBe(9);
    expect(valueOf(page, 'rabbitmq_message_size_bytes_count', { protocol })).toBe(12);
    expect(valueOf(page, 'rabbitmq_message_size_bytes_sum', { protocol })).toBe(458);
    expect(valueOf(page, 'rabbitmq_queue_messages_ready')).toBe(4);
  });

  it('has every counter from the start, so that a rate sees the first step', async () => {
    const { meter } = metered();
    const page = await scraped(meter);
    const counters = page.samples.filter(({ name }) => name.startsWith('rabbitmq_global_') && name.endsWith('_total'));
    expect(counters.length).toBe(6 + 2 * 8 + 5 + 5 + 4 + 3 + 1);
    expect(counters.every(({ value }) => value === 0)).toBe(true);
  });

  it('keeps counting when channels, queues and virtual hosts are gone', async () => {
    const { broker, meter } = metered();
    broker.addVirtualHost('gone');
    const { channel } = listen(broker, { vhost: 'gone' });
    channel.declareQueue('q', { durable: true, arguments: new Map([['x-queue-type', longstr('quorum')]]) });
    publishText(channel, '', 'q', 'm');
    channel.get('q', { noAck: true });
    broker.removeVirtualHost('gone');
    const page = await scraped(meter);
    expect(valueOf(page, 'rabbitmq_global_messages_received_total', { protocol })).toBe(1);
    expect(valueOf(page, 'rabbitmq_global_messages_routed_total', { protocol })).toBe(1);
    expect(valueOf(page, 'rabbitmq_global_messages_delivered_get_auto_ack_total', quorum)).toBe(1);
    expect(valueOf(page, 'rabbitmq_message_size_bytes_count', { protocol })).toBe(1);
    expect(valueOf(page, 'rabbitmq_queues')).toBe(0);
  });

  it('names dead-letter queues, with the age of the oldest dead letter', async () => {
    const { broker, meter, clock } = metered();
    traffic(broker);
    clock.advance(90_000);
    const page = await scraped(meter);
    const dead = { vhost: '/', queue: 'dead' };
    expect(valueOf(page, 'dlx_dead_letter_messages', dead)).toBe(2);
    expect(valueOf(page, 'dlx_dead_letter_oldest_age_seconds', dead)).toBe(90);
    expect(valueOf(page, 'dlx_dead_letters_total', { vhost: '/', queue: 'full', reason: 'maxlen' })).toBe(2);
    expect(valueOf(page, 'dlx_dead_letters_total', { vhost: '/', queue: 'work', reason: 'expired' })).toBe(0);
    expect(page.samples.some(({ labels }) => labels.get('queue') === 'empty')).toBe(false);
  });

  it('has the queues that are paused, and only while they are', async () => {
    const { broker, meter, clock } = metered();
    traffic(broker);
    const paused = async (): Promise<unknown[]> =>
      (await scraped(meter)).samples
        .filter(({ name }) => name === 'dlx_queue_paused')
        .map(({ labels, value }) => [labels.get('queue'), value]);
    expect(await paused()).toEqual([]);
    const home = broker.virtualHost('/');
    home.pauseQueue(home.queues.get('work')!, { for: 60_000 });
    expect(await paused()).toEqual([['work', 1]]);
    clock.advance(60_000);
    expect(await paused()).toEqual([]);
  });

  it('escapes the names of queues', async () => {
    const { broker, meter } = metered();
    const name = 'a"b\\c{}=,\u2028é';
    listen(broker).channel.declareQueue(name, { arguments: new Map([['x-dead-letter-exchange', longstr('')]]) });
    const page = await scraped(meter);
    expect(valueOf(page, 'dlx_dead_letters_total', { vhost: '/', queue: name, reason: 'expired' })).toBe(0);
  });

  it('names a thousand queues in a family at most, and says how many it leaves out', async () => {
    const { broker, meter } = metered();
    const { channel } = listen(broker);
    const dlx = new Map([['x-dead-letter-exchange', longstr('')]]);
    for (let count = 0; count < 1_003; count++) channel.declareQueue(`q${count}`, { arguments: dlx });
    const named = ({ samples }: Awaited<ReturnType<typeof scraped>>) =>
      samples.filter(({ name }) => name === 'dlx_dead_letters_total').length / 4;
    const page = await scraped(meter);
    expect(named(page)).toBe(1_000);
    expect(valueOf(page, 'dlx_metrics_left_out', { kind: 'dying' })).toBe(3);
    expect(named(await scraped(meter, { endpoint: 'per-object' }))).toBe(1_003);
  });
});

describe('/metrics/per-object', () => {
  it('has a series for each queue, channel and connection', async () => {
    const { broker, meter } = metered();
    traffic(broker);
    const page = await scraped(meter, { endpoint: 'per-object' });
    expect(valueOf(page, 'rabbitmq_queue_messages_ready', { vhost: '/', queue: 'dead' })).toBe(2);
    expect(valueOf(page, 'rabbitmq_queue_consumers', { vhost: '/', queue: 'safe' })).toBe(1);
    expect(valueOf(page, 'rabbitmq_channel_consumers', { channel: '<host.1> (1)' })).toBe(1);
    expect(valueOf(page, 'rabbitmq_connection_channels', { connection: '<host.1>' })).toBe(1);
    expect(page.samples.find(({ name }) => name === 'rabbitmq_identity_info')?.labels.get('rabbitmq_endpoint')).toBe(
      'per-object',
    );
  });

  it('has pauses, and its objects are those of its beginning', async () => {
    const { broker, meter } = metered();
    const { channel } = listen(broker);
    for (let count = 0; count < 500; count++) channel.declareQueue(`q${count}`);
    const { pageOf } = await import('../../libs/dlx-broker/src/server/metrics/index.js');
    const work = await pageOf(meter, { endpoint: 'per-object' });
    let text = '';
    let longest = 0;
    for (const part of work) {
      if (text === '' && part !== undefined) {
        channel.deleteQueue('q0');
        channel.declareQueue('q0');
      }
      text += part ?? '';
      longest = Math.max(longest, (part ?? '').split('\n').length - 1);
    }
    expect(longest).toBeLessThan(20); // the lines of a histogram
    const { readExposition } = await import('./exposition.js');
    expect(readExposition(text).samples.filter(({ name }) => name === 'rabbitmq_queue_messages')).toHaveLength(500);
  });
});

describe('/metrics/detailed', () => {
  it('has the asked families of the asked virtual hosts, with their own prefix', async () => {
    const { broker, meter } = metered();
    traffic(broker);
    const other = broker.addVirtualHost('other');
    listen(broker, { vhost: 'other' }).channel.declareQueue('elsewhere');
    const page = await scraped(meter, { endpoint: 'detailed', families: ['queue_coarse_metrics'], vhosts: [other] });
    expect(valueOf(page, 'rabbitmq_detailed_queue_messages', { vhost: 'other', queue: 'elsewhere' })).toBe(0);
    expect([...page.types.keys()]).toEqual([
      'rabbitmq_build_info',
      'rabbitmq_identity_info',
      'rabbitmq_detailed_queue_messages_ready',
      'rabbitmq_detailed_queue_messages_unacked',
      'rabbitmq_detailed_queue_messages',
    ]);
    expect(page.samples.some(({ labels }) => labels.get('vhost') === '/')).toBe(false);
  });
});
