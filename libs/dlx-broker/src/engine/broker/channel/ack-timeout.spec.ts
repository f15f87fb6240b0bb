import { describe, expect, it } from 'vitest';
import { listen, publishText } from '../../../../../../test/harnesses/listener.js';
import { int32, longstr } from '../../message/index.js';
import { CountedNames } from '../../../nest/testing/counted-names.js';
import { ManualClock } from '../../../nest/testing/manual-clock.js';
import { Broker, type BrokerOptions } from '../broker.js';
import { silentOutbox } from '../ports.js';

const minute = 60_000;
const quorum = { 'x-queue-type': 'quorum' };

/** A queue `q`, and a channel that is asked when and why it was closed, or its consumer cancelled. */
function arrange(
  options: Pick<BrokerOptions, 'consumerTimeout' | 'rabbitmq'>,
  args: Record<string, number | string> = {},
  knowsCancel = true,
) {
  const clock = new ManualClock();
  const patterns = { compile: (pattern: string) => ({ matches: (name: string) => name === pattern }) };
  const broker = new Broker({ rabbitmq: '3.10', clock, names: new CountedNames(), patterns, ...options });
  const { channel: publishing } = listen(broker);
  const table = Object.entries(args).map(
    ([name, value]) => [name, typeof value === 'number' ? int32(value) : longstr(value)] as const,
  );
  const declare = (more: typeof table = []) =>
    publishing.declareQueue('q', { durable: true, arguments: new Map([...table, ...more]) });
  declare();
  const began = clock.now();
  const ends: { at: number; text: string }[] = [];
  const channel = broker.connect().openChannel({
    ...silentOutbox,
    closed: ({ message: text }) => ends.push({ at: clock.now() - began, text }),
    cancelled: (text) => {
      if (knowsCancel) ends.push({ at: clock.now() - began, text });
      return knowsCancel;
    },
  });
  const send = (): void => publishText(publishing, '', 'q', 'one');
  const ready = () => broker.virtualHost('/').queues.get('q')?.length;
  /** @returns after how many milliseconds the channel was closed; undefined if it is open */
  const wait = (milliseconds: number): number | undefined => {
    clock.advance(milliseconds);
    return ends[0]?.at;
  };
  return { broker, clock, channel, declare, send, ready, wait, ends };
}

describe('rule Q8: a delivery that is not settled in time', () => {
  it('closes the channel after 30 minutes, and returns the messages', () => {
    const { channel, send, wait, ready, ends } = arrange({});
    channel.consume('q');
    send();
    expect(wait(30 * minute - 1)).toBeUndefined();
    expect(wait(1)).toBe(30 * minute);
    expect(ready()).toBe(1);
    expect(ends[0]!.text).toContain(
      'delivery acknowledgement on channel 1 timed out. Timeout value used: 1800000 ms. This timeout value can be ' +
        'configured, see consumers doc guide to learn more',
    );
  });

  it.each([1_000, 45_000, 90_000, 601_000])(
    'closes it after another time within a minute: %d ms',
    (consumerTimeout) => {
      for (const later of [0, 1, 20_000, 59_999]) {
        const { channel, send, wait, ends } = arrange({ consumerTimeout });
        channel.consume('q');
        send();
        wait(later);
        if (ends.length > 0) continue; // the first one was late already
        send();
        channel.ack(1);
        const end = wait(consumerTimeout + minute)!;
        expect(end).toBeGreaterThanOrEqual(later + consumerTimeout);
        expect(end).toBeLessThanOrEqual(later + consumerTimeout + minute);
        expect(ends[0]!.text).toContain(`Timeout value used: ${consumerTimeout} ms`);
      }
    },
  );

  it('counts for basic.get as well', () => {
    const { channel, send, wait } = arrange({ consumerTimeout: minute });
    send();
    channel.get('q');
    expect(wait(minute)).toBe(minute);
  });

  it('looks at the oldest only: settled ones do not count', () => {
    const { channel, send, wait } = arrange({ consumerTimeout: 5 * minute });
    channel.consume('q');
    for (let tag = 1; tag <= 50; tag++) {
      send();
      expect(wait(minute)).toBeUndefined();
      channel.ack(tag);
    }
    expect(wait(60 * minute)).toBeUndefined();
  });

  it('without a limit nothing is closed', () => {
    const { channel, send, wait } = arrange({ consumerTimeout: Infinity });
    channel.consume('q');
    send();
    expect(wait(1_000 * minute)).toBeUndefined();
  });

  it('keeps no timer without a delivery', () => {
    const { channel, send, wait, clock } = arrange({});
    channel.consume('q');
    expect(clock.nextWakeUp()).toBeUndefined();
    send();
    channel.ack(1);
    expect(wait(2 * minute)).toBeUndefined();
    expect(clock.nextWakeUp()).toBeUndefined();
  });

  it('keeps one timer for a channel, and none once the channel is closed', () => {
    const { channel, send, wait, clock } = arrange({});
    const began = clock.now();
    channel.consume('q');
    send();
    channel.ack(1);
    wait(minute / 6);
    send();
    wait((minute * 5) / 6); // now the timer of the first delivery has fired; one of the second would be next
    expect(clock.nextWakeUp()).toBe(began + 2 * minute);
    channel.close();
    expect(clock.nextWakeUp()).toBeUndefined();
  });
});

describe('rule W19: RabbitMQ 4.3 knows a time limit for each delivery of a quorum queue', () => {
  it.each([
    ['shorter by argument', minute, undefined, minute],
    ['longer by argument', 60 * minute, undefined, 60 * minute],
    ['by policy', undefined, 2 * minute, 2 * minute],
    ['the smaller of both', 40 * minute, 50 * minute, 40 * minute],
  ])('%s', (_, argument, policy, expected) => {
    const args: Record<string, number | string> = argument === undefined ? {} : { 'x-consumer-timeout': argument };
    const { broker, channel, send, wait } = arrange({ rabbitmq: '4' }, { ...quorum, ...args });
    if (policy !== undefined) {
      broker.virtualHost('/').setPolicy('limit', { pattern: 'q', definition: { 'consumer-timeout': policy } });
    }
    channel.consume('q');
    send();
    expect(wait(expected - 1)).toBeUndefined();
    expect(wait(minute)).toBe(expected);
  });

  it('also in a broker without a limit', () => {
    const args = { ...quorum, 'x-consumer-timeout': minute };
    const { channel, send, wait } = arrange({ rabbitmq: '4', consumerTimeout: Infinity }, args);
    channel.consume('q');
    send();
    expect(wait(minute)).toBe(minute);
  });

  it('watches each delivery by itself, to the millisecond', () => {
    const { channel, send, wait, ends } = arrange({ rabbitmq: '4', consumerTimeout: minute }, quorum);
    for (const tag of ['one', 'two']) {
      channel.qos(1);
      channel.consume('q', { consumerTag: tag });
      send();
      wait(700);
    }
    channel.ack(1);
    send();
    wait(2 * minute);
    expect(ends.slice(0, 2)).toEqual([
      { at: minute + 700, text: 'two' },
      { at: minute + 1_400, text: 'one' },
    ]);
  });

  it('closes the channel of a client that does not know basic.cancel, as rabbit_channel does', () => {
    const { channel, send, wait, ends, ready } = arrange({ rabbitmq: '4', consumerTimeout: minute }, quorum, false);
    channel.consume('q');
    send();
    expect(wait(minute)).toBe(minute);
    expect(ends[0]!.text).toContain('delivery acknowledgement on channel 1 timed out. Timeout value used: -1 ms.');
    expect([channel.isClosed, ready()]).toEqual([true, 1]);
  });

  it.each(['a consumer', 'a get'])('knows no time for what %s has of a deleted queue', (what) => {
    const { channel, send, wait, ends } = arrange({ rabbitmq: '4', consumerTimeout: minute }, quorum);
    send();
    if (what === 'a get') channel.get('q');
    else channel.consume('q', { consumerTag: 'c' });
    channel.deleteQueue('q');
    wait(10 * minute);
    expect(ends).toEqual(what === 'a get' ? [] : [{ at: 0, text: 'c' }]);
    channel.ack(1);
  });

  it.each(['replace', 'commit'] as const)('a %s of a delivery that has returned publishes nothing', (how) => {
    const { broker, channel, send, wait, ready } = arrange({ rabbitmq: '4', consumerTimeout: minute }, quorum);
    const { queues } = broker.virtualHost('/');
    channel.declareQueue('next', { durable: true });
    channel.confirmSelect();
    channel.consume('q');
    send();
    wait(minute);
    const body = Buffer.from('successor');
    if (how === 'replace') channel.replace(1, '', 'next', {}, body);
    else
      channel.commitNow({ deliveryTag: 1, publications: [{ exchange: '', routingKey: 'next', properties: {}, body }] });
    expect([ready(), queues.get('next')?.length, channel.isClosed]).toEqual([1, 0, false]);
  });

  it('keeps no timer once the channel is closed', () => {
    const { channel, send, clock } = arrange({ rabbitmq: '4' }, quorum);
    channel.consume('q');
    send();
    channel.close();
    expect(clock.nextWakeUp()).toBeUndefined();
  });

  it('does not watch classic queues', () => {
    const { channel, send, wait } = arrange({ rabbitmq: '4', consumerTimeout: minute });
    channel.consume('q');
    send();
    expect(wait(100 * minute)).toBeUndefined();
  });

  it('checks and compares it as other arguments of quorum queues; a classic queue refuses it (rules F9, F10)', () => {
    const { declare } = arrange({ rabbitmq: '4' }, { ...quorum, 'x-consumer-timeout': minute });
    expect(() => declare([['x-consumer-timeout', int32(5)]])).toThrow("inequivalent arg 'x-consumer-timeout'");
    expect(() => arrange({ rabbitmq: '4' }, { ...quorum, 'x-consumer-timeout': 'never' })).toThrow('expected integer');
    expect(() => arrange({ rabbitmq: '4' }, { 'x-consumer-timeout': 5 })).toThrow('of queue type rabbit_classic_queue');
  });

  it('RabbitMQ 3.10 does not know it', () => {
    const { broker, channel, send, wait } = arrange({ rabbitmq: '3.10' }, { 'x-consumer-timeout': minute });
    const definition = { 'consumer-timeout': minute };
    expect(() => broker.virtualHost('/').setPolicy('limit', { pattern: 'q', definition })).toThrow(/consumer-timeout/);
    channel.consume('q');
    send();
    expect(wait(29 * minute)).toBeUndefined();
  });

  it('a policy is refused in the words of the server', () => {
    const { broker } = arrange({ rabbitmq: '4' });
    const definition = { 'consumer-timeout': 'soon' };
    expect(() => broker.virtualHost('/').setPolicy('limit', { pattern: 'q', definition })).toThrow(
      /is not a valid consumer timeout/,
    );
  });
});
