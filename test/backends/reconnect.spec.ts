import 'reflect-metadata';
import { firstValueFrom, retry, timeout } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type {
  Backend,
  BackendDelivery,
  Publication,
  RabbitMqOptions,
} from '../../libs/dlx-broker/src/backends/index.js';
import { openRabbitMq } from '../../libs/dlx-broker/src/backends/rabbitmq/open.js';
import { DlxClient } from '../../libs/dlx-broker/src/nest/client/client.js';
import { Proxy } from './proxy.js';
import { serverKinds } from './worlds.js';
import { endsAfterEach } from '../harnesses/ends.js';
import { queueNamed, topologyOf } from '../harnesses/declared.js';

const to = (routingKey: string, text: string, more: Partial<Publication> = {}): Publication => ({
  exchange: '',
  routingKey,
  properties: { deliveryMode: 2, messageId: text },
  body: Buffer.from(text),
  mandatory: true,
  ...more,
});
const published = (backend: Backend, publication: Publication): Promise<Error | undefined> =>
  new Promise((resolve) => backend.publish(publication, resolve));

for (const kind of serverKinds) {
  const unavailable = await kind.unavailable();
  if (unavailable !== undefined) console.warn(`SKIPPED: reconnects on ${kind.name}: ${unavailable}`);

  describe.skipIf(unavailable !== undefined)(`a lost connection to ${kind.name}`, () => {
    const ends = endsAfterEach();

    async function arrange(more: Partial<RabbitMqOptions> = {}) {
      const world = await kind.open();
      ends.push(() => world.close());
      const proxy = await Proxy.open(world.url!);
      ends.push(() => proxy.close());
      const faults: unknown[] = [];
      const log = { warn: () => undefined, fault: (error: unknown) => void faults.push(error) };
      const backend = openRabbitMq(
        { urls: proxy.url, publishTimeout: '5s', closeTimeout: '1s', longestPause: 200, ...more },
        log,
      );
      ends.push(() => backend.close());
      const states: string[] = [];
      backend.onState(({ kind: state }) => states.at(-1) !== state && states.push(state));
      await backend.connect();
      return { backend, proxy, states, faults, world, direct: world.backend };
    }

    it('comes back: topology, consumers and publishes; nothing confirmed is lost', async () => {
      const { backend, proxy, states, faults } = await arrange();
      await backend.declare(
        topologyOf(queueNamed('q'), queueNamed('own', new Map(), { durable: false, exclusive: true })),
      );
      const seen = new Map<string, number>();
      let inHand: BackendDelivery | undefined;
      const options = { prefetch: 50, onCancel: () => faults.push('cancelled') };
      const consumption = backend.consume('q', options, (delivery) => {
        const id = delivery.message.properties.messageId!;
        seen.set(id, (seen.get(id) ?? 0) + 1);
        if (id === 'kept' && inHand === undefined) inHand = delivery;
        else delivery.ack();
      });
      await consumption.started;
      await published(backend, to('q', 'kept'));
      await expect.poll(() => inHand).toBeDefined();
      const failures: (Error | undefined)[] = [];
      let sent = 0;
      for (let cut = 0; cut < 5; cut++) {
        for (let count = 0; count < 200; count++) {
          backend.publish(to('q', `${sent++}`), (failure) => failures.push(failure));
        }
        await new Promise((resolve) => setTimeout(resolve, 5 * cut)); // at another moment of the same traffic each time
        proxy.cut();
        await expect.poll(() => backend.state.kind, { interval: 1 }).toBe('reconnecting');
        await expect.poll(() => backend.state.kind, { interval: 1, timeout: 8_000 }).toBe('ready');
      }
      await expect.poll(() => failures.length, { timeout: 8_000 }).toBe(sent);
      expect(failures.filter((failure) => failure !== undefined)).toEqual([]);
      await expect.poll(() => seen.size, { timeout: 8_000 }).toBe(sent + 1);
      expect(inHand!.settled).toBe(true); // its channel is gone, and so it was delivered once more
      expect(seen.get('kept')).toBeGreaterThanOrEqual(2);
      expect(await backend.status('own')).toBeDefined(); // an exclusive queue dies with its connection
      expect(states.slice(0, 5)).toEqual(['connecting', 'ready', 'reconnecting', 'ready', 'reconnecting']);
      expect(faults).toEqual([]);
    });

    it('a consumer that was cancelled is not revived', async () => {
      const { backend, proxy } = await arrange();
      await backend.declare(topologyOf(queueNamed('q')));
      let count = 0;
      const consumption = backend.consume('q', { prefetch: 1 }, () => void count++);
      await consumption.started;
      consumption.close();
      proxy.cut();
      await expect.poll(() => backend.state.kind, { interval: 1 }).toBe('reconnecting');
      await expect.poll(() => backend.state.kind, { timeout: 8_000 }).toBe('ready');
      await published(backend, to('q', 'one'));
      expect(await backend.status('q')).toMatchObject({ messages: 1, consumers: 0 });
      expect(count).toBe(0);
    });

    it('while it is down publishes wait, up to their time and up to the buffer, and then fail with a clear error', async () => {
      const { backend, proxy } = await arrange({ publishTimeout: 400, publishBuffer: { messages: 3 } });
      await backend.declare(topologyOf(queueNamed('q')));
      proxy.shut();
      await expect.poll(() => backend.state.kind, { interval: 1 }).toBe('reconnecting');
      const waiting = [1, 2, 3].map((number) => published(backend, to('q', `${number}`)));
      const surplus = await published(backend, to('q', '4'));
      expect(surplus).toMatchObject({ name: 'OverloadedError', retry: 'later', mayBeTaken: false });
      expect(surplus!.message).toContain('at most 3 messages');
      for (const failure of await Promise.all(waiting)) {
        expect(failure).toMatchObject({ name: 'ConnectionLostError', mayBeTaken: false });
        expect(failure!.message).toMatch(/^not connected: .*not sent within 400 ms: .*connection/);
      }
      proxy.reopen();
      await expect.poll(() => backend.state.kind, { timeout: 8_000 }).toBe('ready');
      expect(await published(backend, to('q', '5'))).toBeUndefined();
      expect(await backend.status('q')).toMatchObject({ messages: 1 }); // what failed did not come after all
    });

    it('a server that hears nothing any more confirms nothing: the message is unconfirmed, or sent on a new connection', async () => {
      const { backend, proxy } = await arrange({ publishTimeout: 1_000, heartbeat: 1 });
      await backend.declare(topologyOf(queueNamed('q')));
      const states: string[] = [];
      backend.onState(({ kind }) => void states.push(kind));
      proxy.deafen();
      const failure = await published(backend, to('q', 'one'));
      if (failure !== undefined) expect(failure).toMatchObject({ name: 'UnconfirmedError', mayBeTaken: true });
      await expect.poll(() => states, { timeout: 8_000 }).toContain('reconnecting');
      await expect.poll(() => backend.state.kind, { timeout: 8_000 }).toBe('ready');
      expect(await published(backend, to('q', 'two'))).toBeUndefined();
    });

    it('requests that wait for an answer fail; the next one goes to a new address', async () => {
      const { backend, proxy } = await arrange();
      await backend.declare(topologyOf(queueNamed('rpc')));
      let lost: Error | undefined;
      const replies = backend.openReplies(
        () => undefined,
        undefined,
        (reason) => (lost = reason),
      );
      const sent = new Promise<Error | undefined>((resolve) => replies.request(to('rpc', 'a'), resolve));
      expect(await sent).toBeUndefined();
      proxy.cut();
      await expect.poll(() => lost).toMatchObject({ name: 'ConnectionLostError', retry: 'later' });
      const next = backend.openReplies(() => undefined);
      const again = new Promise<Error | undefined>((resolve) => next.request(to('rpc', 'b'), resolve));
      expect(await again).toBeUndefined();
    });

    it('a request that is repeated as soon as it fails waits for the next connection, and later ones are answered', async () => {
      const { backend, proxy, faults } = await arrange();
      await backend.declare(topologyOf(queueNamed('rpc')));
      const client = new DlxClient({ backend, envelope: 'nest', queue: 'rpc', requests: '', events: '' });
      const answer = firstValueFrom(client.send('sum', [1]).pipe(retry(1), timeout(8_000)));
      await expect.poll(async () => (await backend.status('rpc'))?.messages, { timeout: 8_000 }).toBe(1);
      proxy.cut();
      await expect.poll(() => backend.state.kind, { interval: 1 }).toBe('reconnecting');
      await backend.consume('rpc', { prefetch: 10 }, (delivery) => {
        const { replyTo, correlationId } = delivery.message.properties;
        backend.publish({
          exchange: '',
          routingKey: replyTo!,
          properties: { correlationId },
          body: Buffer.from('{"response":1,"isDisposed":true}'),
        });
        delivery.ack();
      }).started;
      expect(await answer).toBe(1);
      expect(await firstValueFrom(client.send('sum', [2]).pipe(timeout(8_000)))).toBe(1);
      expect(faults).toEqual([]);
    });

    it('a queue that is deleted ends its consumer, with the reason; what is in hand can still be settled', async () => {
      const { backend, world, direct } = await arrange();
      await direct.connect();
      await backend.declare(topologyOf(queueNamed('q'), queueNamed('next')));
      const reasons: string[] = [];
      const taken: BackendDelivery[] = [];
      const options = { prefetch: 1, onCancel: (reason: string) => reasons.push(reason) };
      await backend.consume('q', options, (delivery) => taken.push(delivery)).started;
      await published(backend, to('q', 'one'));
      await expect.poll(() => taken.length).toBe(1);
      await world.deleteQueue('q');
      await expect.poll(() => reasons).toEqual(['deleted']);
      expect(taken[0]!.settled).toBe(false);
      expect(await new Promise((resolve) => taken[0]!.replaceBy(to('next', 'one'), resolve))).toBeUndefined();
      expect(await direct.status('next')).toMatchObject({ messages: 1 });
    });

    it('closing does not wait for ever for a server that hears nothing', async () => {
      const { backend, proxy } = await arrange();
      proxy.deafen();
      await backend.close();
      expect(backend.state).toEqual({ kind: 'closed' });
    });

    it('closing does not wait for a server that is gone', async () => {
      const { backend, proxy } = await arrange();
      proxy.shut();
      await expect.poll(() => backend.state.kind, { interval: 1 }).toBe('reconnecting');
      const waiting = published(backend, to('q', 'one'));
      const consumption = backend.consume('q', { prefetch: 1 }, () => undefined);
      const begun = performance.now();
      consumption.cancel();
      await backend.close();
      await consumption.started;
      // A server that hears nothing is waited for two seconds.
      expect(performance.now() - begun).toBeLessThan(1_900);
      expect(await waiting).toMatchObject({ name: 'ConnectionLostError', mayBeTaken: false });
      expect(backend.state).toEqual({ kind: 'closed' });
    });
  });
}
