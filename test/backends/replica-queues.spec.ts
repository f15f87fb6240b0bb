import 'reflect-metadata';
import { Test } from '@nestjs/testing';
import { DeadLetter, DlxBroker, DlxBrokerModule, Expires, Queue, rabbitmq } from 'dlx-broker';
import { describe, expect, it } from 'vitest';
import { handlerOf } from '../e2e/apps.js';
import { endsAfterEach } from '../harnesses/ends.js';
import { Proxy } from './proxy.js';
import { serverKinds } from './worlds.js';

/* docs/guide/configuration.md: what the queue of one replica has missed when the replica is connected again. */

const forms: readonly (readonly [name: string, above: readonly MethodDecorator[], got: readonly string[]])[] = [
  ['expires', [Queue('mine'), Expires('10m')], ['away', 'back']],
  ['is auto-delete', [Queue({ name: 'mine', autoDelete: true })], ['back']],
  ['is exclusive', [Queue({ name: 'mine', exclusive: true, durable: false })], ['back']],
];

for (const kind of serverKinds) {
  const unavailable = await kind.unavailable();

  describe.skipIf(unavailable !== undefined)(`the queue of a replica on ${kind.name}`, () => {
    const ends = endsAfterEach();

    it.each(forms)('that %s, after a reconnect', async (_, above, expected) => {
      const world = await kind.open();
      ends.push(() => world.close());
      await world.backend.connect();
      const proxy = await Proxy.open(world.url!);
      ends.push(() => proxy.close());
      const got: unknown[] = [];
      const Prices = handlerOf('Consume', (price) => got.push(price), [...above, DeadLetter(false)]);
      const broker = rabbitmq({ urls: proxy.url, longestPause: 100, closeTimeout: '1s' });
      const module = await Test.createTestingModule({
        imports: [DlxBrokerModule.forRoot({ broker, logHandlers: false })],
        providers: [Prices],
      })
        .setLogger({ log() {}, warn() {}, error() {} })
        .compile();
      ends.push(() => module.close());
      await module.init();
      const { backend } = module.get(DlxBroker);
      const publish = (text: string): Promise<Error | undefined> =>
        new Promise((resolve) => {
          const body = Buffer.from(JSON.stringify(text));
          const properties = { contentType: 'application/json', deliveryMode: 2 } as const;
          world.backend.publish(
            { exchange: 'dlx.events', routingKey: 'work', mandatory: false, properties, body },
            resolve,
          );
        });

      proxy.shut();
      await expect.poll(() => backend.state.kind, { interval: 1 }).toBe('reconnecting');
      const isKept = expected.length === 2;
      await expect.poll(() => world.backend.status('mine')).toEqual(isKept ? expect.anything() : undefined);
      await publish('away');
      proxy.reopen();
      await expect
        .poll(async () => {
          if (!got.includes('back')) await publish('back');
          return got.filter((price, at) => got.indexOf(price) === at);
        })
        .toEqual(expected);
    });
  });
}
