import { describe, expect, it } from 'vitest';
import { int32, longstr } from '../../message/index.js';
import { harness } from '../../../nest/testing/harness.js';
import type { QueueView } from '../../../nest/testing/queue-view.js';
import { listen, publishText } from '../../../../../../test/harnesses/listener.js';

const bodies = (queue: QueueView): string[] => queue.messages().map(({ body }) => Buffer.from(body).toString());

describe('whatever comes to the head of a queue expires in its time (rule B8)', () => {
  it('also when a full queue dropped what stood before it', () => {
    const { broker, clock, queue } = harness();
    const { channel } = listen(broker);
    channel.declareQueue('q', { arguments: new Map([['x-max-length', int32(2)]]) });
    publishText(channel, '', 'q', 'lives');
    publishText(channel, '', 'q', 'dies', { expiration: '10' });
    publishText(channel, '', 'q', 'lives too');
    clock.advance(10);
    expect(bodies(queue('q'))).toEqual(['lives too']);
  });

  it('at once, when what stood before it is fetched (rule B5)', () => {
    const { broker, clock, queue } = harness();
    const { channel } = listen(broker);
    channel.declareQueue('dead');
    const toDead = new Map([
      ['x-dead-letter-exchange', longstr('')],
      ['x-dead-letter-routing-key', longstr('dead')],
    ]);
    channel.declareQueue('q', { arguments: toDead });
    publishText(channel, '', 'q', 'lives');
    publishText(channel, '', 'q', 'dies', { expiration: '10' });
    clock.advance(10);
    expect(queue('q').ready).toBe(2);
    channel.get('q');
    expect(bodies(queue('dead'))).toEqual(['dies']);
  });
});
