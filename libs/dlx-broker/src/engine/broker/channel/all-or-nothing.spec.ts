import { describe, expect, it } from 'vitest';
import { array, type FieldTable, int32, int64, longstr } from '../../message/index.js';
import { harness } from '../../../nest/testing/harness.js';
import { silentOutbox } from '../ports.js';
import type { CommitPublication } from './all-or-nothing.js';

const table = (entries: Record<string, string | number>): FieldTable =>
  new Map(
    Object.entries(entries).map(([name, value]) => [name, typeof value === 'string' ? longstr(value) : int32(value)]),
  );

const to = (
  routingKey: string,
  body: string,
  more: Partial<CommitPublication> = {},
): CommitPublication & { readonly mandatory: boolean } => ({
  exchange: '',
  routingKey,
  properties: { deliveryMode: 2 },
  body: Buffer.from(body),
  mandatory: true,
  ...more,
});

/** A channel with one delivery in hand, and an owner who declares queues on a channel of its own. */
function arrange() {
  const { broker, clock, queue: view } = harness();
  const owner = broker.connect().openChannel(silentOutbox);
  const declare = (name: string, args: Record<string, string | number> = {}): unknown =>
    owner.declareQueue(name, { durable: true, arguments: table(args) });
  for (const name of ['work', 'a', 'b']) declare(name);
  owner.publish('', 'work', { deliveryMode: 2 }, Buffer.from('cause'));
  const consume = (user?: string) => {
    const channel = broker.connect(user === undefined ? {} : { user }).openChannel(silentOutbox);
    const tag = channel.get('work')!.deliveryTag;
    return {
      channel,
      tag,
      commit: (...list: CommitPublication[]) => channel.commitNow({ deliveryTag: tag, publications: list }),
    };
  };
  const texts = (name: string): unknown[] =>
    view(name)
      .messages()
      .map(({ body }) => Buffer.from(body).toString());
  return { broker, clock, owner, declare, consume, texts };
}

describe('rule K15: a commit', () => {
  it('publishes all messages in order and acks, and says which of them no queue got', () => {
    const { consume, texts } = arrange();
    const { channel, commit } = consume();
    const result = commit(to('a', '1'), to('nowhere', '2', { mandatory: false }), to('b', '3'), to('a', '4'));
    expect(result).toEqual({ outcome: 'done', unroutable: [1] });
    expect([texts('a'), texts('b'), channel.unackedCount]).toEqual([['1', '4'], ['3'], 0]);
  });

  it('of no message is an ack', () => {
    const { consume } = arrange();
    const { channel, commit } = consume();
    expect(commit()).toEqual({ outcome: 'done', unroutable: [] });
    expect(channel.unackedCount).toBe(0);
  });

  it('goes where a publish goes: copies, bound exchanges, alternate exchanges, and each queue once', () => {
    const { owner, consume, texts, declare, clock } = arrange();
    owner.declareExchange('first', { type: 'topic', arguments: table({ 'alternate-exchange': 'rest' }) });
    owner.declareExchange('second', { type: 'fanout' });
    owner.declareExchange('rest', { type: 'fanout' });
    owner.bindExchange('second', 'first', 'order.#');
    owner.bindQueue('a', 'second', '');
    owner.bindQueue('a', 'first', 'order.new');
    owner.bindQueue('b', 'rest', '');
    declare('cc');
    declare('bcc');
    declare('ranked', { 'x-max-priority': 5 });
    declare('quorum', { 'x-queue-type': 'quorum' });
    declare('dead');
    declare('brief', { 'x-message-ttl': 0, 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' });
    const strict = {
      'x-queue-type': 'quorum',
      'x-dead-letter-strategy': 'at-least-once',
      'x-overflow': 'reject-publish',
    };
    declare('strict', { ...strict, 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' });
    owner.declareExchange('later', { type: 'x-delayed-message', arguments: table({ 'x-delayed-type': 'fanout' }) });
    owner.bindQueue('b', 'later', '');
    const copies = new Map([
      ['CC', array([longstr('cc')])],
      ['BCC', array([longstr('bcc')])],
    ]);
    const { commit } = consume();
    const result = commit(
      to('order.new', 'bound twice', { exchange: 'first' }),
      to('other', 'alternate', { exchange: 'first' }),
      to('a', 'copied', { properties: { headers: copies } }),
      to('ranked', 'low', { properties: { priority: 1 } }),
      to('ranked', 'high', { properties: { priority: 4 } }),
      to('quorum', 'q'),
      to('brief', 'expires'),
      to('strict', 'expires too', { properties: { expiration: '0' } }),
      to('any', 'delayed', { exchange: 'later', properties: { headers: new Map([['x-delay', int64(1_000)]]) } }),
    );
    expect(result).toEqual({ outcome: 'done', unroutable: [] });
    expect([texts('a'), texts('cc'), texts('bcc')]).toEqual([['bound twice', 'copied'], ['copied'], ['copied']]);
    expect([texts('ranked'), texts('quorum'), texts('b')]).toEqual([['high', 'low'], ['q'], ['alternate']]);
    expect(texts('dead').toSorted()).toEqual(['expires', 'expires too']);
    clock.advance(1_000);
    expect(texts('b')).toEqual(['alternate', 'delayed']);
  });

  const full = { 'x-max-length': 2, 'x-overflow': 'reject-publish' };
  const wrong: [string, CommitPublication[], object][] = [
    ['to a missing exchange', [to('k', '2', { exchange: 'gone' })], { outcome: 'failed', error: { code: 404 } }],
    ['to an internal exchange', [to('k', '2', { exchange: 'inner' })], { outcome: 'failed', error: { code: 403 } }],
    ['with a bad expiration', [to('a', '2', { properties: { expiration: 'x' } })], { outcome: 'failed' }],
    ['for a reply address without a client', [to('amq.rabbitmq.reply-to.x', '2')], { outcome: 'unroutable' }],
    ['that no queue gets', [to('nowhere', '2')], { outcome: 'unroutable' }],
    ['for a full queue', [to('full', '2')], { outcome: 'refused' }],
    ['for a queue that an earlier one fills', [to('nearly', '2'), to('nearly', '3')], { outcome: 'refused' }],
    ['for a queue that bytes of an earlier one fill', [to('small', '12'), to('small', '3')], { outcome: 'refused' }],
    ['for a full quorum queue', ['2', '3', '4', '5'].map((body) => to('quorum', body)), { outcome: 'refused' }],
    [
      'for a full queue that dead-letters what it refuses',
      [to('dying', '2'), to('dying', '3'), to('dying', '4')],
      { outcome: 'refused' },
    ],
  ];
  it.each(wrong)('with a message %s does nothing, and leaves the delivery and the channel', (_, list, expected) => {
    const { owner, consume, texts, declare } = arrange();
    owner.declareExchange('inner', { type: 'fanout', internal: true });
    declare('full', full);
    declare('nearly', full);
    declare('small', { 'x-max-length-bytes': 2, 'x-overflow': 'reject-publish' });
    declare('quorum', { ...full, 'x-queue-type': 'quorum' });
    const dying = {
      'x-overflow': 'reject-publish-dlx',
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': 'b',
    };
    declare('dying', { ...full, ...dying });
    for (const queue of ['full', 'full', 'nearly']) owner.publish('', queue, {}, Buffer.from('old'));
    const { channel, commit } = consume();
    expect(commit(to('a', '1'), ...list, to('b', 'last'))).toMatchObject({ index: list.length, ...expected });
    expect([texts('a'), texts('b'), texts('small'), texts('quorum'), texts('dying')]).toEqual([[], [], [], [], []]);
    expect([texts('full'), texts('nearly')]).toEqual([['old', 'old'], ['old']]);
    expect([channel.isClosed, channel.unackedCount]).toEqual([false, 1]);
    expect(commit(to('a', 'again'))).toMatchObject({ outcome: 'done' });
    expect([texts('a'), channel.unackedCount]).toEqual([['again'], 0]);
  });

  it('counts a message as ready even if a consumer would get it at once', () => {
    const { broker, consume, texts, declare } = arrange();
    declare('one', { 'x-max-length': 1, 'x-overflow': 'reject-publish' });
    broker.connect().openChannel(silentOutbox).consume('one', { noAck: true });
    const { commit } = consume();
    expect(commit(to('one', '1'), to('one', '2'))).toEqual({ outcome: 'refused', index: 1 });
    expect(commit(to('one', '1'))).toMatchObject({ outcome: 'done' });
    expect(texts('one')).toEqual([]);
  });

  it('of a user needs the right to write for each exchange and topic, and closes nothing', () => {
    const { broker, owner, consume, texts } = arrange();
    owner.declareExchange('open', { type: 'topic' });
    owner.declareExchange('shut', { type: 'topic' });
    owner.bindQueue('a', 'open', '#');
    broker.access.setUser('ada', { passwordHash: '', tags: [] });
    broker.access.setPermissions('ada', '/', { configure: '', write: '^open', read: '.*' });
    broker.access.topics.set('ada', '/', { exchange: 'open', write: '^mine', read: '.*' });
    const { channel, commit } = consume('ada');
    const mine = to('mine.x', '1', { exchange: 'open' });
    for (const refused of [to('mine', '2', { exchange: 'shut' }), to('theirs', '2', { exchange: 'open' })]) {
      expect(commit(mine, refused)).toMatchObject({ outcome: 'failed', index: 1, error: { code: 403 } });
    }
    const ofEve = { ...mine, properties: { userId: 'eve' } };
    expect(commit(mine, ofEve)).toMatchObject({ outcome: 'failed', index: 1, error: { code: 406 } });
    expect([texts('a'), channel.isClosed, channel.unackedCount]).toEqual([[], false, 1]);
    expect(commit(mine)).toMatchObject({ outcome: 'done' });
    expect(texts('a')).toEqual(['1']);
  });

  it('needs an unacknowledged delivery, and an open channel', () => {
    const { consume } = arrange();
    const { channel, tag, commit } = consume();
    expect(commit()).toMatchObject({ outcome: 'done' });
    expect(() => channel.commitNow({ deliveryTag: tag, publications: [to('a', '1')] })).toThrow(
      `unknown delivery tag ${tag}`,
    );
    expect(() => commit()).toThrow("expected 'channel.open'");
  });
});
