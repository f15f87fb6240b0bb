import { describe, expect, it } from 'vitest';
import {
  type BackendDelivery,
  type RabbitMqOptions,
  type TopologyDifference,
} from '../../libs/dlx-broker/src/backends/index.js';
import { openRabbitMq } from '../../libs/dlx-broker/src/backends/rabbitmq/open.js';
import { int32, longstr, type FieldTable } from '../../libs/dlx-broker/src/engine/message/index.js';
import { serverKinds } from './worlds.js';
import { endsAfterEach } from '../harnesses/ends.js';
import { queueNamed, topologyOf } from '../harnesses/declared.js';

const dying = (more: FieldTable = new Map()): FieldTable =>
  new Map([['x-dead-letter-exchange', longstr('d')], ...more]);

for (const kind of serverKinds) {
  const unavailable = await kind.unavailable();
  if (unavailable !== undefined) console.warn(`SKIPPED: policies on ${kind.name}: ${unavailable}`);

  describe.skipIf(unavailable !== undefined)(`with the management API of ${kind.name}`, () => {
    const ends = endsAfterEach();

    async function arrange(more: Partial<RabbitMqOptions> = {}) {
      const world = await kind.open();
      ends.push(() => world.close());
      const { url: management, client, vhost } = world.management!;
      const warnings: string[] = [];
      const log = { warn: (text: string) => void warnings.push(text), fault: () => undefined };
      const backend = openRabbitMq({ urls: world.url!, management, declareTimeout: '3s', ...more }, log);
      ends.push(() => backend.close());
      await backend.connect();
      const path = encodeURIComponent(vhost);
      /** As an operator puts it. */
      const put = (name: string, pattern: string, definition: object, which = 'policies'): Promise<unknown> =>
        client.call('PUT', `/${which}/${path}/${name}`, { pattern, definition, priority: 1, 'apply-to': 'queues' });
      return { backend, warnings, put, client, path };
    }

    const failureOf = (work: Promise<unknown>): Promise<Error & { differences?: readonly TopologyDifference[] }> =>
      work.then(
        () => new Error('it succeeded'),
        (error: Error) => error,
      );

    it('an existing queue is compared at once, with arguments that a server does not compare', async () => {
      const { backend, warnings } = await arrange();
      const other = new Map([
        ['x-message-ttl', int32(5)],
        ['x-own', longstr('kept')],
        ['x-dead-letter-exchange', longstr("it's")],
      ]);
      await backend.declare(topologyOf(queueNamed('q', other)));
      const asked = new Map([
        ['x-message-ttl', int32(6)],
        ['x-max-length', int32(7)],
        ['x-dead-letter-exchange', longstr("it's")],
      ]);
      const failure = await failureOf(
        backend.declare(topologyOf(queueNamed('q', asked, { origin: 'Orders.created' }))),
      );
      expect(failure.name).toBe('TopologyError');
      expect(failure.differences?.map(({ property, existing, asked: wanted }) => [property, existing, wanted])).toEqual(
        [
          ['x-message-ttl', '5', '6'],
          ['x-max-length', 'none', '7'],
          ['x-own', "'kept'", 'none'],
        ],
      );
      expect(failure.message).toContain(
        "queue 'q' x-message-ttl: the existing one has 5, the declaration has 6 (Orders.created)",
      );
      expect(failure.message).toContain('Nothing was changed or deleted');
      expect(failure.message).toContain("or delete the old one when it is empty: by 'rabbitmqctl");
      const mayDiffer = { ...queueNamed('q', asked), mayDiffer: ['x-message-ttl', 'x-max-length', 'x-own'] };
      expect([...(await backend.declare(topologyOf(mayDiffer)))]).toEqual(['q']);
      expect(warnings).toEqual([]);
    });

    it('an API that refuses the user is a warning, and the comparison goes on by declaring', async () => {
      const { backend: first, client } = await arrange();
      void client;
      await first.declare(topologyOf(queueNamed('q')));
      const { warnings, backend } = await arrange({ management: 'http://127.0.0.1:1' });
      await backend.declare(topologyOf(queueNamed('q', new Map([['x-max-length', int32(1)]]))));
      const failure = await failureOf(backend.declare(topologyOf(queueNamed('q'))));
      expect(failure.differences).toMatchObject([{ property: 'x-max-length', existing: '1', asked: 'none' }]);
      expect(warnings.join('\n')).toContain('the management API at http://127.0.0.1:1 does not answer');
    });

    it('policies are put before the topology is declared; one that is refused fails the start, by name', async () => {
      const definition = { 'max-length': 3, overflow: 'reject-publish' };
      const own = [{ name: 'short', pattern: '^orders$', definition, priority: 7 }];
      const { backend, client, path, warnings } = await arrange({ policies: own });
      await backend.declare(topologyOf(queueNamed('orders')));
      expect(await client.call('GET', `/policies/${path}`)).toEqual([
        expect.objectContaining({ name: 'short', pattern: '^orders$', 'apply-to': 'queues', definition, priority: 7 }),
      ]);
      expect(warnings).toEqual([]);
      const wrong = await arrange({ policies: [{ name: 'wrong', pattern: 'q', definition: { 'max-lengths': 3 } }] });
      const failure = await failureOf(wrong.backend.declare(topologyOf(queueNamed('q'))));
      expect(failure.message).toContain("policy 'wrong' of option 'policies' of rabbitmq() was not put");
      expect(failure.message).toContain('answers 400');
      expect(await wrong.backend.status('q')).toBeUndefined();
    });

    it('a policy that changes what a queue needs is a warning that names policy, queue and key', async () => {
      const { backend, warnings, put } = await arrange();
      await put('cut', '^(wait|parked)', { 'max-length': 10, 'message-ttl': 50 });
      await put('lower', '^quorum', { 'delivery-limit': 2 }, 'operator-policies');
      await put('fine', '^work', { 'max-length': 10 });
      const wait = new Map([
        ['x-message-ttl', int32(100)],
        ['x-queue-type', longstr('classic')],
      ]);
      const limited = new Map([
        ['x-queue-type', longstr('quorum')],
        ['x-delivery-limit', int32(20)],
      ]);
      const queues = [
        queueNamed('work', dying()),
        queueNamed('wait.1', dying(wait)),
        queueNamed('parked', new Map(), { origin: 'Orders.created' }),
        queueNamed('quorum', dying(limited)),
      ];
      await backend.declare(topologyOf(...queues));
      await expect.poll(() => warnings.length).toBe(5);
      expect(warnings.map((text) => text.slice(0, text.indexOf(';'))).toSorted()).toEqual([
        "operator policy 'lower' sets delivery-limit 2 on queue 'quorum', which was declared with 20: messages leave the queue after fewer deliveries",
        "policy 'cut' sets max-length 10 on queue 'parked' (Orders.created), which was declared with none: messages vanish when the queue is full, because it has no dead-letter exchange",
        "policy 'cut' sets max-length 10 on queue 'wait.1', which was declared with none: messages that wait are dead-lettered before their time",
        "policy 'cut' sets message-ttl 50 on queue 'parked' (Orders.created), which was declared with none: messages vanish when they expire, because the queue has no dead-letter exchange",
        "policy 'cut' sets message-ttl 50 on queue 'wait.1', which was declared with 100: messages expire earlier",
      ]);
      await backend.declare(topologyOf(...queues));
      expect(warnings).toHaveLength(5);
    });

    it('an exchange that is deleted while it is in use is declared again by the publish that misses it', async () => {
      const { backend, client, path, warnings } = await arrange();
      const flags = { durable: true, autoDelete: false, internal: false, arguments: new Map() };
      const bound = {
        source: 'e',
        destination: 'q',
        destinationType: 'queue',
        routingKey: 'k',
        arguments: new Map(),
      } as const;
      const exchanges = [{ ...flags, name: 'e', type: 'topic' }];
      await backend.declare({ exchanges, queues: [queueNamed('q'), queueNamed('work')], bindings: [bound] });
      const to = (exchange: string, routingKey: string) => {
        return { exchange, routingKey, properties: { deliveryMode: 2 }, body: Buffer.from('x'), mandatory: true };
      };
      const published = (exchange: string, key: string): Promise<Error | undefined> =>
        new Promise((resolve) => backend.publish(to(exchange, key), resolve));
      await client.call('DELETE', `/exchanges/${path}/e`);
      expect(await Promise.all([published('e', 'k'), published('', 'q'), published('e', 'k')])).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
      expect((await backend.status('q'))!.messages).toBeGreaterThanOrEqual(3); // what was in doubt may be there twice
      expect(await published('never', 'k')).toMatchObject({ name: 'ServerError', code: 404 });
      const taken: BackendDelivery[] = [];
      await published('', 'work');
      backend.consume('work', { prefetch: 1 }, (delivery) => taken.push(delivery));
      await expect.poll(() => taken.length).toBe(1);
      await client.call('DELETE', `/exchanges/${path}/e`);
      expect(await new Promise((resolve) => taken[0]!.replaceBy(to('e', 'k'), resolve))).toBeUndefined();
      expect(warnings).toEqual([]);
    });

    it('with strictPolicies such a policy fails the start', async () => {
      const { backend, put } = await arrange({ strictPolicies: true });
      await put('gone', '^parked', { expires: 60_000 });
      const failure = await failureOf(
        backend.declare(topologyOf(queueNamed('parked', new Map(), { origin: 'Orders.created' }))),
      );
      expect(failure).toMatchObject({ name: 'TopologyError', retry: 'never' });
      expect(failure.message).toContain(
        "queue 'parked' expires (policy 'gone'): the existing one has 60000, the declaration has none (Orders.created)",
      );
      expect(failure.message).toContain('Exclude the queue from the pattern of the policy');
      expect((await failureOf(backend.declare(topologyOf(queueNamed('parked'))))).name).toBe('TopologyError');
    });
  });
}
