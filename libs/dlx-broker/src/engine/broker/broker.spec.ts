import { describe, expect, it } from 'vitest';
import { listen, publishText } from '../../../../../test/harnesses/listener.js';
import { CountedNames } from '../../nest/testing/counted-names.js';
import { harness } from '../../nest/testing/harness.js';
import { int32, longstr } from '../message/index.js';
import { Broker } from './broker.js';
import type { ClientDetails } from './declarations.js';

const table = (entries: Record<string, string | number>) =>
  new Map(Object.entries(entries).map(([k, v]) => [k, typeof v === 'string' ? longstr(v) : int32(v)]));

const toNext = (next: string) =>
  table({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': next, 'x-max-length': 0 });

describe('a connection', () => {
  it('has a number of its own among all of the broker, and knows its client', () => {
    const { broker } = harness();
    broker.addVirtualHost('v');
    const traffic = { recvOct: 1, recvCnt: 2, sendOct: 3, sendCnt: 4, sendPend: 5 };
    const client: ClientDetails = {
      name: '127.0.0.1:5 -> 127.0.0.1:6',
      host: '127.0.0.1',
      port: 6,
      peerHost: '127.0.0.1',
      peerPort: 5,
      protocol: 'AMQP 0-9-1',
      authMechanism: 'PLAIN',
      isTls: false,
      channelMax: 2047,
      frameMax: 131_072,
      timeout: 60,
      connectedAt: 0,
      properties: table({ product: 'test' }),
      traffic: () => traffic,
      state: () => 'running',
    };
    const first = broker.connect();
    const second = broker.connect({ vhost: 'v', client });
    first.close();
    const third = broker.connect();
    expect([second.number, third.number]).toEqual([first.number + 1, first.number + 2]);
    expect([first.client, second.client?.traffic()]).toEqual([undefined, traffic]);
  });
});

describe('a broker', () => {
  it('publishes a dead letter through 3,000 queues without recursion', () => {
    const { broker, queue } = harness();
    const { channel } = listen(broker);
    for (let index = 0; index < 3_000; index++)
      channel.declareQueue(`q${index}`, { arguments: toNext(`q${index + 1}`) });
    channel.declareQueue('q3000');
    publishText(channel, '', 'q0', 'one');
    expect(queue('q3000').ready).toBe(1);
  }, 60_000);

  it('drains 50,000 messages to a consumer that acks inside its delivery: a new command each, not a deeper stack', () => {
    const { broker } = harness();
    let count = 0;
    const channel = broker.connect().openChannel({
      deliver: ({ deliveryTag }) => {
        count++;
        channel.ack(deliveryTag);
      },
      returned() {},
      confirmed() {},
      cancelled() {},
      closed() {},
    });
    channel.declareQueue('q');
    for (let index = 0; index < 50_000; index++) publishText(channel, '', 'q', 'x');
    channel.qos(1);
    channel.consume('q');
    expect(count).toBe(50_000);
  });
});

it('all commands of a batch have one time', () => {
  let asked = 0;
  const clock = { now: () => ++asked, wakeAt: () => undefined };
  const broker = new Broker({
    clock,
    names: new CountedNames(),
    patterns: { compile: () => ({ matches: () => true }) },
  });
  const { channel } = listen(broker);
  channel.declareQueue('q');
  const before = asked;
  broker.batch(() => {
    for (let index = 0; index < 10; index++) publishText(channel, '', 'q', 'x');
  });
  expect(asked - before).toBe(1);
  publishText(channel, '', 'q', 'x');
  expect(asked - before).toBe(2);
});
