import { describe, expect, it } from 'vitest';
import { emptyTable, type FieldTable, int32, longstr } from '../../message/index.js';
import { harness } from '../../../nest/testing/harness.js';
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

describe('rule K14: a message that replaces a delivery, of a user without rights', () => {
  function restricted() {
    const { broker, queue } = harness();
    const all = { configure: '.*', write: '.*', read: '.*' };
    broker.access.setUser('eve', { passwordHash: '', tags: [] });
    broker.access.setPermissions('eve', '/', { ...all, write: '^open' });
    broker.access.topics.set('eve', '/', { exchange: 'open.topic', write: '^mine', read: '.*' });
    const owner = broker.connect().openChannel(silentOutbox);
    owner.declareQueue('work', {});
    owner.declareQueue('theirs', {});
    owner.declareExchange('open.topic', { type: 'topic' });
    owner.bindQueue('theirs', 'open.topic', '#');
    owner.publish('', 'work', text, Buffer.from('old'));
    const events: string[] = [];
    const outbox: ChannelOutbox = {
      ...silentOutbox,
      confirmed: (tag, _multiple, ok) => void events.push(`${ok ? 'ack' : 'nack'} ${tag}`),
      returned: ({ replyCode }: Returned) => void events.push(`return ${replyCode}`),
    };
    const channel = broker.connect({ user: 'eve' }).openChannel(outbox);
    channel.confirmSelect();
    const { deliveryTag } = channel.get('work')!;
    return { channel, deliveryTag, events, queue };
  }

  it.each([
    ['to the default exchange', '', 'theirs'],
    ['to a topic of others', 'open.topic', 'yours'],
    ['to an exchange that is missing, whose name it may not learn', 'secret', 'k'],
  ])('%s is returned with 403, and the delivery stays outstanding', (_, exchange, key) => {
    const { channel, deliveryTag, events, queue } = restricted();
    channel.replace(deliveryTag, exchange, key, text, Buffer.from('new'));
    expect([events, channel.unackedCount, queue('theirs').payloads()]).toEqual([['return 403', 'ack 1'], 1, []]);
  });

  it('is checked for the right before its properties (rule K7)', () => {
    const { channel, deliveryTag, events } = restricted();
    channel.replace(deliveryTag, '', 'theirs', { expiration: 'soon', userId: 'guest' }, Buffer.from('new'));
    expect([events, channel.unackedCount, channel.isClosed]).toEqual([['return 403', 'ack 1'], 1, false]);
  });

  it('under the name of another user closes the channel, and the delivery returns', () => {
    const { channel, deliveryTag, queue } = restricted();
    const forged = { userId: 'guest' };
    expect(() => channel.replace(deliveryTag, 'open.topic', 'mine', forged, Buffer.of())).toThrow(
      'PRECONDITION_FAILED',
    );
    expect([channel.isClosed, queue('work').payloads(), queue('theirs').payloads()]).toEqual([true, ['old'], []]);
  });
});
