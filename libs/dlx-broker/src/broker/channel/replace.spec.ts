import { describe, expect, it } from 'vitest';
import { emptyTable, type FieldTable, int32, longstr } from '../../message/index.js';
import { harness } from '../../testing/harness.js';
import { type ChannelOutbox, type Returned, silentOutbox } from '../ports.js';

const text = { contentType: 'text/plain' };

/** A channel that has taken one message from `work`, and publishes others in its place. */
function arrange(args: FieldTable = emptyTable) {
  const { broker, queue } = harness();
  const events: string[] = [];
  const outbox: ChannelOutbox = {
    ...silentOutbox,
    confirmed: (tag, _multiple, ok) => void events.push(`${ok ? 'ack' : 'nack'} ${tag}`),
    returned: ({ replyCode, replyText }: Returned) => void events.push(`return ${replyCode} ${replyText}`),
  };
  const channel = broker.connect().openChannel(outbox);
  channel.confirmSelect();
  channel.declareQueue('work', {});
  channel.declareQueue('next', { arguments: args });
  channel.publish('', 'work', text, Buffer.from('old'));
  const { deliveryTag } = channel.get('work')!;
  events.length = 0;
  const replace = (exchange: string, key: string): unknown =>
    channel.replace(deliveryTag, exchange, key, text, Buffer.from('new'));
  return { broker, channel, queue, events, replace };
}

describe('rule K14: a message that replaces a delivery', () => {
  it('is published and confirmed, and the delivery is acked', () => {
    const { channel, queue, events, replace } = arrange();
    replace('', 'next');
    expect([queue('next').payloads(), channel.unackedCount, events]).toEqual([['new'], 0, ['ack 2']]);
    channel.close();
    expect(queue('work').payloads()).toEqual([]);
  });

  it.each([
    ['that no queue gets is returned', '', 'nowhere', 'return 312 NO_ROUTE'],
    ['to a missing exchange is returned', 'gone', 'k', "return 404 NOT_FOUND - no exchange 'gone' in vhost '/'"],
  ])('%s, and the delivery stays outstanding', (_, exchange, key, text) => {
    const { channel, queue, events, replace } = arrange();
    replace(exchange, key);
    expect([channel.isClosed, channel.unackedCount, events]).toEqual([false, 1, [text, 'ack 2']]);
    channel.close();
    expect(queue('work').payloads()).toEqual(['old']);
  });

  it('that a full queue refuses is nacked, and the delivery stays outstanding', () => {
    const { channel, queue, events, replace } = arrange(
      new Map([
        ['x-overflow', longstr('reject-publish')],
        ['x-max-length', int32(0)],
      ]),
    );
    replace('', 'next');
    expect([channel.unackedCount, events]).toEqual([1, ['nack 2']]);
    expect(queue('next').payloads()).toEqual([]);
  });

  it('needs a delivery of its own channel that is outstanding, and confirms', () => {
    const { broker, channel, replace } = arrange();
    replace('', 'next');
    expect(() => replace('', 'next')).toThrow('PRECONDITION_FAILED - unknown delivery tag 1');
    expect(channel.isClosed).toBe(true);
    const plain = broker.connect().openChannel(silentOutbox);
    expect(() => plain.replace(1, '', 'next', {}, Buffer.of())).toThrow('channel is not in confirm mode');
  });
});
