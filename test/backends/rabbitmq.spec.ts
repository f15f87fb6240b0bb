import { describe, expect, it } from 'vitest';
import {
  type Backend,
  type BackendDelivery,
  need,
  type Publication,
  type TopologyDifference,
} from '../../libs/dlx-broker/src/backends/index.js';
import {
  int32,
  longstr,
  toFieldTable,
  type Field,
  type FieldTable,
  type Message,
} from '../../libs/dlx-broker/src/engine/message/index.js';
import { connectedTo, serverKinds } from './worlds.js';
import { endsAfterEach } from '../harnesses/ends.js';
import { queueNamed, topologyOf } from '../harnesses/declared.js';

const exchangeNamed = (name: string, type = 'topic') => ({
  name,
  type,
  durable: true,
  autoDelete: false,
  internal: false,
  arguments: new Map(),
});

const to = (routingKey: string, text: string, more: Partial<Publication> = {}): Publication => ({
  exchange: '',
  routingKey,
  properties: { deliveryMode: 2 },
  body: Buffer.from(text),
  mandatory: true,
  ...more,
});

const published = (backend: Backend, publication: Publication): Promise<Error | undefined> =>
  new Promise((resolve) => backend.publish(publication, resolve));

const textOf = ({ body }: Message): string => Buffer.from(body).toString();

for (const kind of serverKinds) {
  const unavailable = await kind.unavailable();
  if (unavailable !== undefined) console.warn(`SKIPPED: the backend on ${kind.name}: ${unavailable}`);

  describe.skipIf(unavailable !== undefined)(`the backend on ${kind.name}`, () => {
    const ends = endsAfterEach();

    const open = (): Promise<Backend> => connectedTo(kind, ends);

    it('publishes, delivers, and settles', async () => {
      const backend = await open();
      expect(backend.state.kind).toBe('ready');
      await backend.declare(topologyOf(queueNamed('q'), queueNamed('next')));
      for (const text of ['one', 'two', 'three']) expect(await published(backend, to('q', text))).toBeUndefined();
      expect(await backend.status('q')).toEqual({ messages: 3, unacknowledged: undefined, consumers: 0 });
      const taken: BackendDelivery[] = [];
      const consumption = backend.consume('q', { prefetch: 10 }, (delivery) => taken.push(delivery));
      await consumption.started;
      await expect.poll(() => taken.map(({ message }) => textOf(message))).toEqual(['one', 'two', 'three']);
      taken[0]!.ack();
      taken[1]!.requeue();
      await expect.poll(() => taken.length).toBe(4);
      expect(taken[3]).toMatchObject({ redelivered: true, queue: 'q', settled: false });
      const replaced = new Promise((resolve) => taken[2]!.replaceBy(to('next', 'successor'), resolve));
      expect(await replaced).toBeUndefined();
      expect(taken[2]!.settled).toBe(true);
      consumption.cancel();
      taken[3]!.reject();
      await expect.poll(() => backend.status('q')).toMatchObject({ messages: 0, consumers: 0 });
      expect(await backend.status('next')).toMatchObject({ messages: 1 });
      expect(await backend.status('nowhere')).toBeUndefined();
    });

    it('a return by a handler counts for the delivery limit (rules D1, W6)', async () => {
      const backend = await open();
      const limited = { 'x-queue-type': longstr('quorum'), 'x-delivery-limit': int32(2) };
      await backend.declare(topologyOf(queueNamed('q', new Map<string, Field>(Object.entries(limited)))));
      await published(backend, to('q', 'again'));
      let deliveries = 0;
      const returned = (delivery: BackendDelivery): void => {
        deliveries++;
        delivery.requeue();
      };
      await backend.consume('q', { prefetch: 1 }, returned).started;
      await expect.poll(() => deliveries).toBe(3);
      await published(backend, to('q', 'another'));
      await expect.poll(() => deliveries).toBe(6); // and not a further one of the first message
    });

    it('publishes to a missing exchange double no others: its name is looked up first', async () => {
      const backend = await open();
      await backend.declare(topologyOf(queueNamed('q')));
      const texts = Array.from({ length: 1_000 }, (_, n) => `${n}`);
      const isLost = (n: number): boolean => n % 200 === 100;
      const results = await Promise.all(
        texts.map((text, n) => published(backend, to('q', text, isLost(n) ? { exchange: 'missing' } : {}))),
      );
      const failures = results.filter((failure) => failure !== undefined);
      expect(failures).toHaveLength(5);
      expect(failures[0]).toMatchObject({ name: 'ServerError', code: 404 });
      expect(await backend.status('q')).toMatchObject({ messages: 995 });
      await backend.declare({ ...topologyOf(), exchanges: [exchangeNamed('missing')] });
      expect(await published(backend, to('q', 'late', { exchange: 'missing', mandatory: false }))).toBeUndefined();
      expect(
        await published(backend, to('q', 'standard', { exchange: 'amq.direct', mandatory: false })),
      ).toBeUndefined();
    });

    it('a successor that is refused leaves its delivery as it was', async () => {
      const backend = await open();
      await backend.declare(topologyOf(queueNamed('q'), queueNamed('next')));
      await published(backend, to('q', 'one'));
      const taken: BackendDelivery[] = [];
      backend.consume('q', { prefetch: 10 }, (delivery) => taken.push(delivery));
      await expect.poll(() => taken.length).toBe(1);
      const [delivery] = taken;
      const replaced = (publication: Publication): Promise<Error | undefined> =>
        new Promise((resolve) => delivery!.replaceBy(publication, resolve));
      expect(await replaced(to('nowhere', 'one'))).toMatchObject({ name: 'UnroutableError' });
      const missing = await replaced(to('q', 'one', { exchange: 'missing' }));
      expect(missing).toMatchObject({ name: 'ServerError', code: 404, retry: 'never' });
      expect(missing!.message).toContain("no exchange 'missing'");
      expect(delivery!.settled).toBe(false);
      expect(await replaced(to('next', 'one'))).toBeUndefined();
      expect(delivery!.settled).toBe(true);
      expect(await replaced(to('next', 'one'))).toMatchObject({ message: 'this delivery is settled already' });
      expect(await backend.status('next')).toMatchObject({ messages: 1 });
      expect(taken).toHaveLength(1);
    });

    it('tells what was not taken, and only that', async () => {
      const backend = await open();
      await backend.declare(topologyOf(queueNamed('q')));
      const dropped: string[] = [];
      const note = ({ routingKey }: Publication): void => void dropped.push(routingKey);
      const results = await Promise.all([
        published(backend, to('q', 'a')),
        published(backend, to('nowhere', 'b')),
        published(backend, to('nowhere', 'b', { mandatory: false, dropped: note })),
        published(backend, to('q', 'c', { exchange: 'missing' })),
        published(backend, to('q', 'd')),
        published(backend, to('q', 'e', { properties: { expiration: 'soon' } })),
        published(backend, to('q', 'f')),
        published(backend, to('q', 'g')),
      ]);
      expect(results.map((failure) => failure?.name)).toEqual([
        undefined,
        'UnroutableError',
        undefined,
        'ServerError',
        undefined,
        'ServerError',
        undefined,
        undefined,
      ]);
      expect(results[3]).toMatchObject({ code: 404, retry: 'never', mayBeTaken: false });
      expect(results[3]!.message).toContain("no exchange 'missing'");
      expect(results[5]).toMatchObject({ code: 406 });
      expect(dropped).toEqual(['nowhere']);
      expect((await backend.status('q'))?.messages).toBeGreaterThanOrEqual(4); // what was in doubt may be there twice
    });

    it('compares what exists argument by argument, and changes nothing', async () => {
      const backend = await open();
      const args = new Map([
        ['x-message-ttl', int32(5)],
        ['x-dead-letter-exchange', longstr("it's")],
      ]);
      await backend.declare({ ...topologyOf(queueNamed('q', args)), exchanges: [exchangeNamed('e')] });
      expect([...(await backend.declare(topologyOf(queueNamed('q', args))))]).toEqual([]);
      const other = new Map([
        ['x-message-ttl', int32(6)],
        ['x-max-length', int32(7)],
      ]);
      const asked = { ...queueNamed('q', other), origin: 'Orders.created' };
      const failure = await backend
        .declare({ ...topologyOf(asked, queueNamed('fresh')), exchanges: [exchangeNamed('e', 'direct')] })
        .catch((error: Error) => error);
      expect(failure).toMatchObject({ name: 'TopologyError' });
      const { differences } = failure as unknown as { differences: readonly TopologyDifference[] };
      const shown = ({ name, property, existing, asked: wanted, origin = '' }: TopologyDifference): string =>
        `${name} ${property}: ${existing}, not ${wanted} ${origin}`;
      expect(differences.map(shown).sort()).toEqual([
        'e type: topic, not direct ',
        "q x-dead-letter-exchange: 'it's', not none Orders.created",
        'q x-max-length: none, not 7 Orders.created',
        'q x-message-ttl: 5, not 6 Orders.created',
      ]);
      expect(await backend.status('fresh')).toBeUndefined(); // nothing is declared where something differs
      const tolerant = { ...asked, mayDiffer: ['x-message-ttl', 'x-max-length', 'x-dead-letter-exchange'] };
      expect([...(await backend.declare(topologyOf(tolerant)))]).toEqual(['q']);
    });

    it('a queue that is deleted ends its consumer; one that is missing cannot be consumed', async () => {
      const backend = await open();
      await expect(backend.consume('missing', { prefetch: 1 }, () => undefined).started).rejects.toThrow(
        "no queue 'missing'",
      );
    });

    it('answers come to the request that asks', async () => {
      const backend = await open();
      await backend.declare(topologyOf(queueNamed('rpc')));
      const asked = backend.consume('rpc', { prefetch: 1 }, (delivery) => {
        const { replyTo = '', correlationId } = delivery.message.properties;
        const properties = { correlationId };
        backend.publish({ exchange: '', routingKey: replyTo, properties, body: delivery.message.body });
        delivery.ack();
      });
      await asked.started;
      const answers: string[] = [];
      const replies = backend.openReplies((message) =>
        answers.push(`${message.properties.correlationId}: ${textOf(message)}`),
      );
      replies.request(to('rpc', 'a', { properties: { correlationId: '1' } }));
      replies.request(to('rpc', 'b', { properties: { correlationId: '2' } }));
      await expect.poll(() => answers).toEqual(['1: a', '2: b']);
      const failed = await new Promise<Error | undefined>((resolve) => replies.request(to('nowhere', 'c'), resolve));
      expect(failed?.name).toBe('UnroutableError');
      replies.close();
    });

    it('offers what its server can do, and says what it cannot', async () => {
      const backend = await open();
      await backend.declare(topologyOf(queueNamed('q'), queueNamed('other')));
      const isOurs = kind.name.includes('serve');
      if (!isOurs) {
        expect(() => need(backend, 'browsing')).toThrow(/^RabbitMQ \d+\.\d+\.\d+ cannot show the messages/);
        expect(() => need(backend, 'listing')).toThrow("option 'management' of rabbitmq()");
        return;
      }
      expect((await need(backend, 'listing').queueNames()).toSorted()).toEqual(['other', 'q']);
      const headers: FieldTable = new Map<string, Field>([
        ['__proto__', longstr('x'.repeat(5_000))], // longer than a page shows
        ['small', { type: 's', value: -5 }],
        [
          'list',
          { type: 'A', value: [int32(1), { type: 'F', value: new Map([['big', { type: 'l', value: 2n ** 60n }]]) }] },
        ],
        ['bytes', { type: 'x', value: Buffer.of(0, 255) }],
        ['void', { type: 'V', value: undefined }],
      ]);
      const properties = { headers, messageId: 'm', timestamp: 7, deliveryMode: 2 };
      const body = Buffer.alloc(1_100_000, 0xfe);
      await published(backend, to('q', '', { properties, body }));
      for (let count = 0; count < 20; count++) await published(backend, to('q', `${count}`));
      const browsing = need(backend, 'browsing');
      const first = await browsing.browse('q', 100);
      expect(first.messages).toHaveLength(16);
      expect(first.messages[0]!.properties).toMatchObject({ messageId: 'm', timestamp: 7, deliveryMode: 2 });
      expect([...first.messages[0]!.properties.headers!].toSorted()).toEqual([...headers].toSorted()); // rule H12
      expect(body.equals(first.messages[0]!.body)).toBe(true);
      const second = await browsing.browse('q', 100, first.next);
      expect([...first.messages.slice(1), ...second.messages].map(textOf)).toEqual(
        Array.from({ length: 20 }, (_, index) => `${index}`),
      );
      expect(second.next).toBeUndefined();
      expect(await backend.status('q')).toMatchObject({ messages: 21 });
      const noTime = (): undefined => undefined; // a server has a rule of its own
      expect(await browsing.oldest('q', noTime)).toBeUndefined();
      const since = Date.now() - 60_000;
      const parked = toFieldTable({ 'dlx-failing-since': since, 'dlx-parked': true });
      for (const of of ['a', 'b']) await published(backend, to('other', of, { properties: { headers: parked } }));
      expect(await browsing.oldest('other', noTime)).toBe(since);
      await expect(browsing.oldest('missing', noTime)).rejects.toThrow("no queue 'missing'");
      await expect(browsing.browse('missing', 1)).rejects.toThrow("no queue 'missing'");
    });

    it.runIf(kind.name.includes('serve'))('looks into a queue whose name a URL would resolve', async () => {
      const backend = await open();
      await backend.declare(topologyOf(queueNamed('..')));
      await published(backend, to('..', 'up'));
      expect((await need(backend, 'browsing').browse('..', 1)).messages.map(textOf)).toEqual(['up']);
    });

    it('waits for confirms when it is closed', async () => {
      const backend = await open();
      await backend.declare(topologyOf(queueNamed('q')));
      const results: unknown[] = [];
      for (let count = 0; count < 500; count++)
        backend.publish(to('q', `${count}`), (failure) => results.push(failure));
      await backend.close();
      expect(results.filter((failure) => failure === undefined)).toHaveLength(500);
      expect(await published(backend, to('q', 'late'))).toMatchObject({
        name: 'ConnectionLostError',
        mayBeTaken: false,
      });
      expect(backend.state.kind).toBe('closed');
    });
  });
}
