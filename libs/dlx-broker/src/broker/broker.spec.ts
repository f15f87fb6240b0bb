import { describe, expect, it } from 'vitest';
import { int32, longstr } from '../message/index.js';
import { house } from '../testing/house.js';
import { listen, publishText } from '../testing/listener.js';

const table = (entries: Record<string, string | number>) =>
  new Map(Object.entries(entries).map(([k, v]) => [k, typeof v === 'string' ? longstr(v) : int32(v)]));

const toNext = (next: string) =>
  table({ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': next, 'x-max-length': 0 });

describe('a broker', () => {
  it('carries a dead letter through 10,000 queues, which needs no stack', () => {
    const { broker, queue } = house();
    const { channel } = listen(broker);
    for (let index = 0; index < 10_000; index++)
      channel.declareQueue(`q${index}`, { arguments: toNext(`q${index + 1}`) });
    channel.declareQueue('q10000');
    publishText(channel, '', 'q0', 'one');
    expect(queue('q10000').ready).toBe(1);
  }, 60_000);

  it('drains 200,000 messages to a consumer that acks inside its delivery: a new command each, not a deeper stack', () => {
    const { broker } = house();
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
    for (let index = 0; index < 200_000; index++) publishText(channel, '', 'q', 'x');
    channel.qos(1);
    channel.consume('q');
    expect(count).toBe(200_000);
  });
});
