import { describe, expect, it } from 'vitest';
import type { Publication } from '../../libs/dlx-broker/src/backends/index.js';
import { openRabbitMq } from '../../libs/dlx-broker/src/backends/rabbitmq/open.js';
import { Proxy } from './proxy.js';
import { serverKinds } from './worlds.js';
import { endsAfterEach } from '../harnesses/ends.js';
import { queueNamed, topologyOf } from '../harnesses/declared.js';

/** How long replicas come and go under load, in milliseconds. */
const duration = 4_000;

for (const kind of serverKinds) {
  const unavailable = await kind.unavailable();
  if (unavailable !== undefined) console.warn(`SKIPPED: replicas on ${kind.name}: ${unavailable}`);

  describe.skipIf(unavailable !== undefined)(`replicas on ${kind.name}`, () => {
    const ends = endsAfterEach();

    it('come, go and lose their connections under load: nothing confirmed is lost', { timeout: 40_000 }, async () => {
      const world = await kind.open();
      ends.push(() => world.close());
      const proxy = await Proxy.open(world.url!);
      ends.push(() => proxy.close());
      const faults: unknown[] = [];
      const log = { warn: () => undefined, fault: (error: unknown) => void faults.push(error) };
      const options = { urls: proxy.url, longestPause: 100, closeTimeout: 500 };
      const topology = topologyOf(queueNamed('work'), queueNamed('done'));
      const to = (queue: string, id: string): Publication => ({
        exchange: '',
        routingKey: queue,
        properties: { deliveryMode: 2, messageId: id },
        body: Buffer.from(id),
        mandatory: true,
      });

      /** A replica: each message of `work` takes a moment, and then its successor in `done` takes its place. */
      async function replica() {
        const backend = openRabbitMq(options, log);
        await backend.connect();
        await backend.declare(topology);
        const consumption = backend.consume('work', { prefetch: 20 }, (delivery) => {
          setTimeout(() => delivery.replaceBy(to('done', delivery.message.properties.messageId!)), Math.random() * 20);
        });
        await consumption.started;
        return { backend, consumption };
      }
      const replicas = [await replica(), await replica()];
      ends.push(async () => Promise.all(replicas.map(({ backend }) => backend.close())));

      const publisher = openRabbitMq(options, log);
      ends.push(() => publisher.close());
      await publisher.connect();
      const confirmed = new Set<string>();
      const failures: unknown[] = [];
      let sent = 0;
      const begun = performance.now();
      const load = setInterval(() => {
        for (let count = 0; count < 10; count++) {
          const id = `${sent++}`;
          publisher.publish(to('work', id), (failure) =>
            failure === undefined ? confirmed.add(id) : failures.push(failure),
          );
        }
      }, 10);
      for (let round = 0; performance.now() - begun < duration; round++) {
        await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 200));
        if (round % 3 === 2) proxy.cut();
        else {
          const [leaving] = replicas.splice(0, 1);
          if (round % 3 === 0) leaving!.consumption.cancel(); // a graceful end, and one that drops what is in hand
          await leaving!.backend.close();
          replicas.push(await replica());
        }
      }
      clearInterval(load);
      await expect.poll(() => confirmed.size + failures.length, { timeout: 15_000 }).toBe(sent);
      expect(failures).toEqual([]);

      const done = new Map<string, number>();
      await world.backend.connect();
      world.backend.consume('done', { prefetch: 100 }, (delivery) => {
        const id = delivery.message.properties.messageId!;
        done.set(id, (done.get(id) ?? 0) + 1);
        delivery.ack();
      });
      await expect.poll(() => done.size, { timeout: 15_000 }).toBe(sent);
      const duplicates = [...done.values()].reduce((sum, times) => sum + times - 1, 0);
      console.info(`${kind.name}: ${sent} messages, 0 lost, ${duplicates} twice, ${proxy.connections} connections`);
      expect(faults).toEqual([]);
    });
  });
}
