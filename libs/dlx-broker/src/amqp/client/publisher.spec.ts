import { describe, expect, it } from 'vitest';
import { LinkedServer, settled } from '../../../../../test/harnesses/amqp-link.js';
import { noting, recorded } from '../../../../../test/harnesses/linked-client.js';
import { array, type Field, int32, longstr, type Properties } from '../../engine/message/index.js';
import type { Delivery, Sendable } from './api.js';
import { ReturnedError } from './errors.js';
import { openPublisher } from './publisher.js';

async function publishing() {
  const server = new LinkedServer();
  const link = server.link();
  const client = recorded(link, server.runtime);
  await settled(link);
  const seen: string[] = [];
  const channel = client.connection.openChannel({ closed: () => undefined });
  channel.declareQueue('q', {}, () => undefined);
  const publisher = openPublisher(client.connection, { closed: noting(seen, 'closed') });
  await settled(link);
  return { server, link, ...client, channel, publisher, seen, settle: () => settled(link) };
}

const body = Buffer.from('body');

describe('a publisher with confirms', () => {
  it.each([1, 100, 1_000])('confirms each of %i outstanding messages, in one write a turn', async (count) => {
    const { publisher, settle, link, seen } = await publishing();
    link.writes.length = 0;
    for (let index = 0; index < count; index++) publisher.publish('', 'q', {}, body, true, noting(seen, `${index}`));
    expect(publisher.outstanding).toBe(count);
    expect(seen).toEqual([]);
    await settle();
    expect(publisher.outstanding).toBe(0);
    expect(seen).toEqual(Array.from({ length: count }, (_, index) => `${index}: done`));
    expect(link.writes.length).toBeLessThanOrEqual(1 + Math.ceil((count * 80) / 65_536));
  });

  it('takes a message for returned that the server returned while the channel was being closed', async () => {
    const { publisher, settle, seen } = await publishing();
    publisher.publish('', 'none', {}, body, true, noting(seen, 'bad'));
    publisher.publish('', 'q', {}, body, true, noting(seen, 'good'));
    publisher.close();
    await settle();
    const returned = "ReturnedError: NO_ROUTE: a message to exchange '' with routing key 'none' was returned";
    expect(seen).toEqual([`bad: ${returned}`, 'good: done', 'closed: done']);
  });

  it('sends a message that keeps its own outcome, again after it was returned', async () => {
    const { publisher, settle, seen } = await publishing();
    const message = (routingKey: string, mandatory: boolean): Sendable => {
      const settled = noting(seen, `${routingKey} ${mandatory}`);
      return { exchange: '', routingKey, properties: {}, body, mandatory, returned: undefined, settled };
    };
    const again = message('q', true);
    again.returned = new ReturnedError('', 'q', 312, 'NO_ROUTE'); // by a channel that ended before the confirm
    for (const each of [message('none', true), message('none', false), again]) publisher.send(each);
    publisher.send({ ...message('q', true), properties: { messageId: 'x'.repeat(256) } });
    await settle();
    expect(seen).toEqual([
      'q true: UnsendableError: property messageId is longer than 255 bytes',
      "none true: ReturnedError: NO_ROUTE: a message to exchange '' with routing key 'none' was returned",
      'none false: done',
      'q true: done',
    ]);
    expect(publisher.outstanding).toBe(0);
  });

  it('publishes before the channel is open, and from within a confirm', async () => {
    const { connection, settle, seen } = await publishing();
    const publisher = openPublisher(connection, { closed: noting(seen, 'closed') }, noting(seen, 'ready'));
    publisher.publish('', 'q', {}, body, true, () => {
      seen.push('one');
      publisher.publish('', 'q', {}, body, true, noting(seen, 'two'));
    });
    await settle();
    expect(seen).toEqual(['ready: done', 'one', 'two: done']);
  });

  it('joins each return to its publish, before its confirm', async () => {
    const { publisher, settle, seen } = await publishing();
    const one = (key: string, messageId: string, content = 'x'): void =>
      publisher.publish('', key, { messageId }, Buffer.from(content), true, noting(seen, messageId));
    for (const index of [1, 2, 3]) {
      one('q', `good ${index}`);
      one('none', `bad ${index}`);
      one('none', `same`, 'a');
      one('none', `same`, 'b');
    }
    publisher.publish('', 'none', { messageId: 'quiet' }, body, false, noting(seen, 'not mandatory'));
    await settle();
    const returned = "ReturnedError: NO_ROUTE: a message to exchange '' with routing key 'none' was returned";
    const rest = seen.splice(-1);
    expect(rest).toEqual(['not mandatory: done']);
    expect(seen).toEqual(
      [1, 2, 3].flatMap((index) => [
        `good ${index}: done`,
        `bad ${index}: ${returned}`,
        `same: ${returned}`,
        `same: ${returned}`,
      ]),
    );
  });

  it('hears of a refusal (reject-publish)', async () => {
    const { publisher, channel, settle, seen } = await publishing();
    const args = new Map([
      ['x-max-length', int32(1)],
      ['x-overflow', longstr('reject-publish')],
    ]);
    channel.declareQueue('small', { arguments: args }, () => undefined);
    await settle();
    for (const name of ['first', 'second']) publisher.publish('', 'small', {}, body, true, noting(seen, name));
    await settle();
    expect(seen).toEqual([
      'first: done',
      "second: NackedError: the server refused a message to exchange '' with routing key 'small' (nack)",
    ]);
  });

  it('fails everything outstanding when its channel is closed by one of its messages (404)', async () => {
    const { publisher, settle, seen } = await publishing();
    publisher.publish('', 'q', {}, body, true, noting(seen, 'before'));
    publisher.publish('none', 'q', {}, body, true, noting(seen, 'guilty'));
    publisher.publish('', 'q', {}, body, true, noting(seen, 'behind'));
    await settle();
    const failure = "ChannelClosedError: channel closed: NOT_FOUND - no exchange 'none' in vhost '/' (basic.publish)";
    expect(seen).toEqual(['before: done', `guilty: ${failure}`, `behind: ${failure}`, `closed: ${failure}`]);
    publisher.publish('', 'q', {}, body, true, noting(seen, 'late'));
    expect(seen.at(-1)).toBe(`late: ${failure}`);
    expect([publisher.isOpen, publisher.outstanding]).toEqual([false, 0]);
  });

  it('fails everything outstanding, once, when the connection is cut', async () => {
    const { publisher, settle, seen, link } = await publishing();
    for (const name of ['1', '2']) publisher.publish('', 'q', {}, body, true, noting(seen, name));
    link.cut();
    await settle();
    const failure = 'ConnectionClosedError (socket): connection to server:5672 lost: the server closed the socket';
    expect(seen).toEqual([`1: ${failure}`, `2: ${failure}`, `closed: ${failure}`]);
  });

  it('keeps all others when a callback throws', async () => {
    const { publisher, settle, seen, faults } = await publishing();
    const fault = new Error('mine');
    publisher.publish('', 'q', {}, body, true, () => {
      throw fault;
    });
    publisher.publish('', 'q', {}, body, true, noting(seen, 'next'));
    await settle();
    expect([seen, faults]).toEqual([['next: done'], [fault]]);
  });

  it.each<[string, Properties, string]>([
    ['a long message id', { messageId: 'm'.repeat(256) }, 'property messageId is longer than 255 bytes'],
    ['a priority of 256', { priority: 256 }, 'property priority cannot be 256: it is an integer from 0 to 255'],
    [
      'a long header name',
      { headers: new Map([['n'.repeat(256), int32(1)]]) },
      `header name '${'n'.repeat(40)}...' is longer than 255 bytes`,
    ],
    ['deep headers', { headers: deep(65) }, 'headers are nested more than 64 levels deep'],
    [
      'headers above frame-max',
      { headers: new Map([['x', longstr('y'.repeat(140_000))]]) },
      'properties of 140013 bytes do not fit into a frame of the server, which takes 131052: a content header cannot be split',
    ],
  ])('refuses %s before anything is sent, and goes on', async (_, properties, expected) => {
    const { publisher, settle, seen } = await publishing();
    publisher.publish('', 'q', properties, body, true, noting(seen, 'bad'));
    expect(seen).toEqual([`bad: UnsendableError: ${expected}`]);
    publisher.publish('', 'q', { headers: deep(64) }, body, true, noting(seen, 'good'));
    await settle();
    expect(seen.at(-1)).toBe('good: done');
  });

  it('tells when too much waits, and when no more', async () => {
    const { publisher, settle, connection, link, seen } = await publishing();
    expect(connection.isCongested).toBe(false);
    let waiting = 0;
    Object.defineProperty(link, 'waiting', { get: () => waiting });
    waiting = 2_000_000;
    expect(connection.isCongested).toBe(true);
    waiting = 1_000_000;
    publisher.publish('', 'q', {}, body, true, noting(seen, 'one'));
    await settle();
    expect(connection.isCongested).toBe(true);
    waiting = 0;
    publisher.publish('', 'q', {}, body, true, noting(seen, 'two'));
    await settle();
    expect(connection.isCongested).toBe(false);
  });
});

describe('a message that is published as it was received', () => {
  const headers = new Map<string, Field>([
    ['b', { type: 'b', value: 5 }],
    ['l', { type: 'l', value: 2n ** 62n }],
    ['d', { type: 'd', value: 3 }],
    ['D', { type: 'D', value: { scale: 2, value: 314 } }],
    ['x', { type: 'x', value: Buffer.from([0, 255]) }],
    ['__proto__', array([int32(1)])],
  ]);

  it('has the same bytes, and with one header more all others are the same', async () => {
    const { publisher, channel, settle } = await publishing();
    const deliveries: Delivery[] = [];
    const events = { delivered: (delivery: Delivery) => void deliveries.push(delivery), cancelled: () => undefined };
    channel.consume('q', { noAck: true }, events, () => undefined);
    publisher.publish('', 'q', { headers, priority: 3, expiration: '60000' }, body, true, () => undefined);
    await settle();
    const first = deliveries[0]?.properties ?? {};
    publisher.publish('', 'q', first, body, true, () => undefined);
    const more = new Map([...(first.headers ?? []), ['more', int32(1)] as const]);
    publisher.publish('', 'q', { ...first, headers: more }, body, true, () => undefined);
    await settle();
    expect(deliveries.map(({ properties }) => new Map(properties.headers))).toEqual([
      headers,
      headers,
      new Map([...headers, ['more', int32(1)]]),
    ]);
    expect(deliveries.map(({ properties: { priority, expiration } }) => [priority, expiration])).toEqual(
      Array.from({ length: 3 }, () => [3, '60000']),
    );
  });
});

function deep(levels: number): Map<string, Field> {
  let table = new Map<string, Field>();
  for (let level = 1; level < levels; level++) table = new Map<string, Field>([['a', { type: 'F', value: table }]]);
  return table;
}
