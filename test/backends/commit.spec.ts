import { describe, expect, it } from 'vitest';
import type { Backend, BackendDelivery, Publication } from '../../libs/dlx-broker/src/backends/index.js';
import { openRabbitMq } from '../../libs/dlx-broker/src/backends/rabbitmq/open.js';
import { array, type FieldTable, int32, longstr } from '../../libs/dlx-broker/src/engine/message/index.js';
import { endsAfterEach } from '../harnesses/ends.js';
import { queueNamed, topologyOf } from '../harnesses/declared.js';
import { serverKinds, worldKinds } from './worlds.js';

/** The backends of the library; the plain client of the tests has no part in it. */
const kinds = [worldKinds[0]!, ...serverKinds];

const table = (entries: Readonly<Record<string, string | number>>): FieldTable =>
  new Map(
    Object.entries(entries).map(([name, value]) => [name, typeof value === 'string' ? longstr(value) : int32(value)]),
  );

const to = (routingKey: string, text: string, more: Partial<Publication> = {}): Publication => ({
  exchange: '',
  routingKey,
  properties: { deliveryMode: 2, messageId: text },
  body: Buffer.from(text),
  mandatory: true,
  ...more,
});

const exchangeNamed = (name: string, type: string, args: Readonly<Record<string, string>> = {}) => ({
  name,
  type,
  durable: true,
  autoDelete: false,
  internal: false,
  arguments: table(args),
});

const dying = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'dead' };
const strict = { 'x-queue-type': 'quorum', 'x-dead-letter-strategy': 'at-least-once', 'x-overflow': 'reject-publish' };
const topology = {
  ...topologyOf(
    ...['work', 'a', 'b', 'cc', 'bcc', 'dead'].map((name) => queueNamed(name)),
    queueNamed('narrow', table({ 'x-queue-type': 'classic', 'x-max-length': 1, 'x-overflow': 'reject-publish' })),
    queueNamed('ranked', table({ 'x-queue-type': 'classic', 'x-max-priority': 5 })),
    queueNamed('quorum', table({ 'x-queue-type': 'quorum' })),
    queueNamed('brief', table({ 'x-message-ttl': 0, ...dying })),
    queueNamed('strict', table({ ...strict, ...dying })),
  ),
  exchanges: [
    exchangeNamed('first', 'topic', { 'alternate-exchange': 'rest' }),
    exchangeNamed('second', 'fanout'),
    exchangeNamed('rest', 'fanout'),
  ],
  bindings: [
    ['first', 'second', 'exchange', 'order.#'] as const,
    ['second', 'a', 'queue', ''] as const,
    ['first', 'a', 'queue', 'order.new'] as const,
    ['rest', 'b', 'queue', ''] as const,
  ].map(([source, destination, destinationType, routingKey]) => ({
    source,
    destination,
    destinationType,
    routingKey,
    arguments: new Map(),
  })),
};

const committed = (delivery: BackendDelivery, ...list: Publication[]): Promise<Error | undefined> =>
  new Promise((resolve) => delivery.commit(list, resolve));

for (const kind of kinds) {
  const unavailable = await kind.unavailable();
  if (unavailable !== undefined) console.warn(`SKIPPED: commits on ${kind.name}: ${unavailable}`);
  const isEmbedded = kind.name === 'embedded';

  describe.skipIf(unavailable !== undefined)(`rule K15: a commit on ${kind.name}`, () => {
    const ends = endsAfterEach();

    /** A backend with a delivery in hand, whose queue holds one message more. */
    async function arrange() {
      const world = await kind.open();
      ends.push(() => world.close());
      let { backend } = world;
      if (world.url !== undefined) {
        const log = { warn: () => undefined, fault: () => undefined };
        const times = { publishTimeout: '5s', declareTimeout: '5s', refusedFor: 50 } as const;
        backend = openRabbitMq({ urls: world.url, ...times }, log);
        ends.push(() => backend.close());
      }
      await backend.connect();
      await backend.declare(topology);
      for (const text of ['cause', 'other']) await new Promise((resolve) => backend.publish(to('work', text), resolve));
      const taken: BackendDelivery[] = [];
      const consumption = backend.consume('work', { prefetch: 1 }, (delivery) => void taken.push(delivery));
      await expect.poll(() => taken.length).toBe(1);
      const lengths = async (...queues: string[]): Promise<unknown> =>
        Object.fromEntries(
          await Promise.all(queues.map(async (queue) => [queue, (await backend.status(queue))?.messages])),
        );
      return { world, backend, taken, consumption, delivery: taken[0]!, lengths };
    }

    it('publishes everything, then acks, and the next message is delivered', async () => {
      const { delivery, taken, lengths } = await arrange();
      expect(await committed(delivery, to('a', '1'), to('b', '2'), to('a', '3'))).toBeUndefined();
      expect(delivery.settled).toBe(true);
      expect(await lengths('a', 'b')).toEqual({ a: 2, b: 1 });
      await expect.poll(() => taken.length).toBe(2);
      expect(await committed(delivery, to('a', '4'))).toMatchObject({ message: 'this delivery is settled already' });
      expect(await committed(taken[1]!)).toBeUndefined();
      expect(await lengths('work', 'a')).toEqual({ work: 0, a: 2 });
    });

    it('goes to everything a publish goes to', async () => {
      const { delivery, lengths } = await arrange();
      const copies = new Map([
        ['CC', array([longstr('cc')])],
        ['BCC', array([longstr('bcc')])],
      ]);
      const failure = await committed(
        delivery,
        to('order.new', 'bound twice', { exchange: 'first' }),
        to('other', 'alternate', { exchange: 'first' }),
        to('a', 'copied', { properties: { headers: copies } }),
        to('ranked', 'high', { properties: { priority: 4 } }),
        to('quorum', 'q'),
        to('brief', 'expires'),
        to('strict', 'expires too', { properties: { expiration: '0' } }),
      );
      expect(failure).toBeUndefined();
      expect(delivery.settled).toBe(true);
      const arrived = { a: 2, b: 1, cc: 1, bcc: 1, ranked: 1, quorum: 1 };
      expect(await lengths(...Object.keys(arrived))).toEqual(arrived);
      // The second expires by a strategy that RabbitMQ 3.10 has behind a feature flag: it may stay at-most-once there, and arrives too.
      await expect.poll(() => lengths('dead')).toEqual({ dead: 2 });
    });

    const wrong: [string, Publication[], object][] = [
      ['that no queue gets', [to('nowhere', '2')], { name: 'UnroutableError' }],
      [
        'for a queue that another one of the list fills',
        [to('narrow', '2'), to('narrow', '3')],
        { name: 'RefusedError' },
      ],
      ['to a missing exchange', [to('k', '2', { exchange: 'gone' })], { code: 404 }],
    ];
    it.each(wrong)('with a message %s fails, and leaves the delivery', async (_, list, expected) => {
      const { delivery, taken, lengths } = await arrange();
      expect(await committed(delivery, to('a', '1'), ...list, to('b', 'last'))).toMatchObject(expected);
      expect(delivery.settled).toBe(false);
      const after = (await lengths('a', 'b', 'narrow')) as Record<string, number>;
      if (isEmbedded) expect(after).toEqual({ a: 0, b: 0, narrow: 0 });
      else {
        // What the server took is out, and comes again. RabbitMQ closes the channel for a missing exchange: a message before it that
        // was not confirmed by then is published again.
        expect(after).toMatchObject({ b: 1, narrow: list.length - 1 });
        expect(after['a']).toBeGreaterThanOrEqual(1);
      }
      expect(await committed(delivery, to('cc', 'instead'))).toBeUndefined();
      expect([delivery.settled, await lengths('cc')]).toEqual([true, { cc: 1 }]);
      await expect.poll(() => taken.length).toBe(2);
    });

    it('of one message that no queue gets, and that is not mandatory, acks and says so', async () => {
      const { delivery, backend } = await arrange();
      const dropped: string[] = [];
      const note = ({ routingKey }: Publication): void => void dropped.push(routingKey);
      expect(await committed(delivery, to('nowhere', '1', { mandatory: false, dropped: note }))).toBeUndefined();
      expect(delivery.settled).toBe(true);
      expect(dropped).toEqual(['nowhere']);
      await expect.poll(() => backend.status('work')).toMatchObject({ messages: 0 });
    });

    it('of several does the same', async () => {
      const { delivery, lengths } = await arrange();
      const dropped: string[] = [];
      const note = ({ routingKey }: Publication): void => void dropped.push(routingKey);
      const unroutable = to('nowhere', '1', { mandatory: false, dropped: note });
      expect(await committed(delivery, unroutable, to('a', '2'))).toBeUndefined();
      expect([delivery.settled, await lengths('a')]).toEqual([true, { a: 1 }]);
      expect(dropped).toEqual(['nowhere']);
    });

    it('excludes every other settlement while it waits for the server', async () => {
      const { delivery, lengths, taken } = await arrange();
      const first = committed(delivery, to('a', '1'), to('a', '2'));
      const second = committed(delivery, to('a', '3'));
      delivery.requeue();
      expect(await second).toMatchObject({ message: 'this delivery is settled already' });
      expect([await first, await lengths('a')]).toEqual([undefined, { a: 2 }]);
      await expect.poll(() => taken.map(({ message }) => message.properties.messageId)).toEqual(['cause', 'other']);
    });

    it('after its consumer was closed does nothing', async () => {
      const { delivery, consumption, lengths } = await arrange();
      consumption.close();
      await expect.poll(() => delivery.settled).toBe(true);
      expect(await committed(delivery, to('a', '1'))).toMatchObject({ message: 'this delivery is settled already' });
      expect(await lengths('a')).toEqual({ a: 0 });
      await expect.poll(() => lengths('work')).toEqual({ work: 2 });
    });

    it('after its consumer was cancelled, or its queue deleted, is one all the same', async () => {
      const { delivery, consumption, lengths, world } = await arrange();
      if (world.deleteQueue === undefined) consumption.cancel();
      else await world.deleteQueue('work');
      expect(await committed(delivery, to('a', '1'), to('b', '2'))).toBeUndefined();
      expect([delivery.settled, await lengths('a', 'b')]).toEqual([true, { a: 1, b: 1 }]);
    });
  });
}

describe('rule K15: a commit on a user’s connection', () => {
  const ends = endsAfterEach();

  for (const kind of serverKinds) {
    const unavailable = kind.unavailable();
    it(`that may not write to an exchange of the list fails on ${kind.name}`, async ({ skip }) => {
      if ((await unavailable) !== undefined) skip();
      const world = await kind.open();
      ends.push(() => world.close());
      if (world.permit === undefined) skip();
      const owner = world.backend;
      await owner.connect();
      await owner.declare(topology);
      const user = `eve-${process.pid}`;
      await world.permit!(user, 'p', { configure: '', write: '^amq.default$|^second$', read: '.*' });
      const url = new URL(world.url!);
      url.username = user;
      url.password = 'p';
      const log = { warn: () => undefined, fault: () => undefined };
      const backend: Backend = openRabbitMq({ urls: url.href, publishTimeout: '5s' }, log);
      ends.push(() => backend.close());
      await backend.connect();
      await new Promise((resolve) => owner.publish(to('work', 'cause'), resolve));
      const delivery = await new Promise<BackendDelivery>((resolve) =>
        backend.consume('work', { prefetch: 1 }, resolve),
      );
      const refused = to('order.new', '2', { exchange: 'first' });
      expect(await committed(delivery, to('', '1', { exchange: 'second' }), refused)).toMatchObject({ code: 403 });
      expect(delivery.settled).toBe(false);
      delivery.ack();
    });
  }
});
